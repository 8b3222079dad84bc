#include "replay/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/json_text.h"
#include "ingest/layout.h"
#include "replay/convert_ticks.h"
#include "replay/write_all.h"

namespace weir::replay {
namespace {

constexpr std::size_t kBlockSize = 256 << 10;
constexpr std::size_t kMergeBlockSize = 64 << 10;  // of every file, all open at once
constexpr std::size_t kWriteSize = 256 << 10;

// One input of the merge: a reader and what every record of its sources begins with.
struct Lane {
  std::unique_ptr<TickReader> reader;
  std::vector<std::string> heads;  // by source of the reader
};

// Everything before the date.
Result<std::string> head_of(const std::string& source_name) {
  const auto keys = ingest::parse_ticks_name(source_name);
  if (!keys.ok()) return keys.status();
  return "{\"streamID\":" + engine::json_text(keys->stream) +
         ",\"objectID\":null,\"dataSetKey\":" + engine::json_text(keys->dataset) + ",\"date\":\"";
}

void append_record(std::string& out, const std::string& head, const Tick& tick) {
  out += head;
  out += tick.record.date;
  out += "\",\"time\":\"";
  out += tick.record.clock;
  out += "\",\"price\":";
  append_json_number(out, tick.record.texts[0]);
  out += ",\"volume\":";
  append_json_number(out, tick.record.texts[1]);
  out += "}\n";
}

// One lane for all sources in the order given, or one for each.
Result<std::vector<Lane>> make_lanes(std::vector<std::unique_ptr<Source>> sources,
                                     const ConvertOptions& options, Converted& converted) {
  std::vector<std::string> heads;
  for (const std::unique_ptr<Source>& source : sources) {
    auto head = head_of(source->name());
    if (!head.ok()) return head.status();
    heads.push_back(std::move(*head));
  }
  std::vector<Lane> lanes;
  if (!options.merge_time) {
    lanes.push_back(
        {std::make_unique<TickReader>(std::move(sources), kBlockSize, options, converted),
         std::move(heads)});
    return lanes;
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::unique_ptr<Source>> one;
    one.push_back(std::move(sources[i]));
    lanes.push_back(
        {std::make_unique<TickReader>(std::move(one), kMergeBlockSize, options, converted),
         {std::move(heads[i])}});
  }
  return lanes;
}

// Runs the lanes dry, smallest time first.
class Merge {
  // Does lane a come after b? std's heaps have the largest in front, this one the smallest.
  struct After {
    const std::vector<Lane>& lanes;
    bool operator()(std::size_t a, std::size_t b) const {
      return std::pair(lanes[a].reader->tick().record.time(), a) >
             std::pair(lanes[b].reader->tick().record.time(), b);
    }
  };

 public:
  Merge(std::vector<Lane> lanes, int descriptor, const std::string& output_name,
        Converted& converted)
      : lanes_(std::move(lanes)),
        descriptor_(descriptor),
        output_name_(output_name),
        converted_(converted) {}

  Status run() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (advance(i)) push(i);
    }
    while (!heap_.empty() && !stopped()) {
      std::pop_heap(heap_.begin(), heap_.end(), After{lanes_});
      const std::size_t lane = heap_.back();
      heap_.pop_back();
      bool more = true;
      // A run of records of one lane needs no heap.
      do {
        const Tick& tick = lanes_[lane].reader->tick();
        append_record(out_, lanes_[lane].heads[tick.source], tick);
        ++converted_.written;
        if (out_.size() >= kWriteSize) flush();
        more = advance(lane);
      } while (more && !stopped() && (heap_.empty() || After{lanes_}(heap_.front(), lane)));
      if (more) push(lane);
    }
    flush();
    // Each lane that is left has read one record ahead, which is not written.
    converted_.records -= heap_.size();
    return status_;
  }

 private:
  void push(std::size_t lane) {
    heap_.push_back(lane);
    std::push_heap(heap_.begin(), heap_.end(), After{lanes_});
  }
  bool advance(std::size_t lane) {
    if (lanes_[lane].reader->advance()) return true;
    if (status_.ok()) status_ = lanes_[lane].reader->status();
    return false;
  }
  bool stopped() const { return reader_gone_ || !status_.ok(); }
  void flush() {
    if (reader_gone_) return;
    if (const Status s = write_all(descriptor_, out_, reader_gone_); !s.ok()) {
      status_ = s.with("cannot write " + output_name_);
    }
    out_.clear();
  }

  std::vector<Lane> lanes_;
  int descriptor_;
  const std::string& output_name_;
  Converted& converted_;
  std::vector<std::size_t> heap_;
  std::string out_;
  bool reader_gone_ = false;
  Status status_;
};

}  // namespace

std::uint64_t Converted::rejected_total() const {
  std::uint64_t total = 0;
  for (const auto& [reason, count] : rejected) total += count;
  return total;
}

Status check_ticks_names(std::span<const std::unique_ptr<Source>> sources) {
  for (const std::unique_ptr<Source>& source : sources) {
    if (const auto keys = ingest::parse_ticks_name(source->name()); !keys.ok()) {
      return keys.status();
    }
  }
  return {};
}

Status convert(std::vector<std::unique_ptr<Source>> sources, const ConvertOptions& options,
               int descriptor, Converted& converted) {
  converted = {};
  auto lanes = make_lanes(std::move(sources), options, converted);
  if (!lanes.ok()) return lanes.status();
  return Merge(std::move(*lanes), descriptor, options.output_name, converted).run();
}

}  // namespace weir::replay
