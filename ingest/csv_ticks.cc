// The `ticks` decoder. A record that is written in the usual way (the date of the record before it,
// a clock without fraction, two short decimals) is taken by a few 64-bit words; every other one is
// split and judged field by field. The first way takes nothing that the second would not take
// alike.
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/csv_decoder.h"
#include "ingest/csv_rejects.h"
#include "ingest/csv_values.h"
#include "ingest/digits.h"
#include "ingest/ticks_record.h"

namespace weir::ingest {
namespace {

// "01/02/2019,00:00:01,1,1" and its newline: no tuple is shorter.
constexpr std::size_t kShortestTuple = 24;
enum : std::size_t { kPrice, kVolume, kFields };
static_assert(kFields == kTicksFields);

class TicksDecoder final : public Decoder {
 public:
  TicksDecoder(core::KeyTable& keys, const std::vector<std::string>& source_names)
      : keys_(keys), source_names_(source_names) {}

  void decode(const core::Block& block, const core::FieldSet& fields, core::Columns& out) override;

 private:
  struct SourceKey {
    bool known = false;
    bool named = false;  // the name follows the rule
    StreamId stream{};
    std::string error;
  };
  // A value that is no plain double; few, so kept apart from the columns.
  struct Odd {
    std::uint32_t tuple;
    core::Kind kind;
  };
  // Where the values go while a block is read.
  struct Sink {
    std::uint32_t* record;
    std::int64_t* time;
    std::uint64_t* values[kFields];
    std::uint32_t tuples = 0;
    std::int64_t max_time = kNoTime.ns;
  };

  const SourceKey& source_key(std::uint32_t source);
  bool take_usual(const char*& at, const char* end, std::uint32_t record, Sink& sink);
  bool take_any(std::string_view line, std::uint32_t record, Sink& sink, TicksFault& fault);
  void finish_columns(const core::FieldSet& fields, core::Columns& out, std::uint32_t tuples);

  core::KeyTable& keys_;
  const std::vector<std::string>& source_names_;
  std::vector<SourceKey> sources_;
  core::Array<std::uint64_t> values_[kFields];
  std::vector<Odd> odd_[kFields];
  // The date of the record before, as it is written, and its start; a right pair from the
  // beginning.
  char last_date_[10] = {'0', '1', '/', '0', '1', '/', '1', '9', '7', '0'};
  std::int64_t last_day_ = 0;
};

const TicksDecoder::SourceKey& TicksDecoder::source_key(std::uint32_t source) {
  if (source >= sources_.size()) sources_.resize(source + 1);
  SourceKey& key = sources_[source];
  if (key.known) return key;
  key.known = true;
  const auto name = parse_ticks_name(source < source_names_.size() ? source_names_[source] : "");
  key.named = name.ok();
  if (key.named) {
    key.stream = keys_.find_or_add(keys_.dataset(name->dataset), name->stream);
  } else {
    key.error = name.status().message();
  }
  return key;
}

// REQUIRES: core::kBlockPadding readable bytes behind `end`. True only if the record and its
// newline lie before `end`; `at` is then behind the newline.
inline bool TicksDecoder::take_usual(const char*& at, const char* end, std::uint32_t record,
                                     Sink& sink) {
  const char* p = at;
  std::uint64_t clock = 0;
  if (std::memcmp(p, last_date_, 10) != 0 || p[10] != ',' || p[19] != ',') return false;
  if (!three_pairs(p + 11, ':', clock)) return false;
  const unsigned hour = pair_at(clock, 0), minute = pair_at(clock, 3), second = pair_at(clock, 6);
  if (hour > 23 || minute > 59 || second > 59) return false;
  p += 20;
  double price = 0, volume = 0;
  if (!take_short_decimal(p, price) || *p != ',') return false;
  ++p;
  if (!take_short_decimal(p, volume)) return false;
  p += *p == '\r';
  if (*p != '\n' || p >= end) return false;
  const std::int64_t time = last_day_ + (hour * 3600 + minute * 60 + second) * kNanosPerSecond;
  sink.record[sink.tuples] = record;
  sink.time[sink.tuples] = time;
  sink.values[kPrice][sink.tuples] = core::number(price).bits;
  sink.values[kVolume][sink.tuples] = core::number(volume).bits;
  ++sink.tuples;
  if (time > sink.max_time) sink.max_time = time;
  at = p + 1;
  return true;
}

bool TicksDecoder::take_any(std::string_view line, std::uint32_t record, Sink& sink,
                            TicksFault& fault) {
  TicksRecord read;
  if (!read_ticks_record(line, read, fault)) return false;
  read.date.copy(last_date_, sizeof last_date_);
  last_day_ = read.day;
  for (std::size_t f = 0; f < kFields; ++f) {
    sink.values[f][sink.tuples] = read.values[f].bits;
    if (read.values[f].kind != core::Kind::kNumber) {
      odd_[f].push_back({sink.tuples, read.values[f].kind});
    }
  }
  sink.record[sink.tuples] = record;
  sink.time[sink.tuples] = read.time();
  if (sink.time[sink.tuples] > sink.max_time) sink.max_time = sink.time[sink.tuples];
  ++sink.tuples;
  return true;
}

void TicksDecoder::decode(const core::Block& block, const core::FieldSet& fields,
                          core::Columns& out) {
  out.reset(fields.names.size());
  const SourceKey& key = source_key(block.source);
  const std::size_t most = block.bytes.size() / kShortestTuple + 2;
  out.record.resize(most);
  out.time.resize(most);
  Sink sink{out.record.data(), out.time.data(), {}};
  for (std::size_t f = 0; f < kFields; ++f) {
    values_[f].resize(most);
    odd_[f].clear();
    sink.values[f] = values_[f].data();
  }
  BlockWalk walk(block, out);
  std::uint32_t records = 0, newlines = 0;
  const char* at = block.bytes.data();
  const char* const end = at + block.bytes.size();
  while (at < end) {
    if (walk.next_skip() <= newlines) walk.take_skips(newlines, records);
    if (key.named && take_usual(at, end, records, sink)) {
      ++records;
      ++newlines;
      continue;
    }
    const auto* newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const char* stop = newline != nullptr ? newline : end;
    if (!blank_line(at, stop)) {
      std::string_view line(at, static_cast<std::size_t>(stop - at));
      const std::string_view raw = line;
      if (line.back() == '\r') line.remove_suffix(1);
      TicksFault fault{core::Reason::kMissing, key.error};
      if (!key.named || !take_any(line, records, sink, fault)) {
        walk.reject(records, newlines, raw, fault.reason, std::move(fault.detail));
      }
      ++records;
    }
    newlines += newline != nullptr;
    at = stop + (newline != nullptr);
  }
  walk.take_skips(BlockWalk::kNoSkip - 1, records);
  out.records = records;
  out.lines = walk.line(newlines);
  out.max_time = sink.max_time;
  out.record.resize(sink.tuples);
  out.time.resize(sink.tuples);
  out.stream.resize(sink.tuples);
  for (std::uint32_t i = 0; i < sink.tuples; ++i) out.stream[i] = key.stream;
  finish_columns(fields, out, sink.tuples);
}

void TicksDecoder::finish_columns(const core::FieldSet& fields, core::Columns& out,
                                  std::uint32_t tuples) {
  for (std::size_t i = 0; i < fields.names.size(); ++i) {
    core::Column& column = out.fields[i];
    const std::size_t f = fields.names[i] == kTicksFieldNames[kPrice]    ? kPrice
                          : fields.names[i] == kTicksFieldNames[kVolume] ? kVolume
                                                                         : kFields;
    if (f == kFields) {
      fill_missing(column, tuples);
      continue;
    }
    column.bits.append(values_[f].data(), tuples);
    if (odd_[f].empty()) continue;
    column.kinds.resize(tuples);
    std::memset(column.kinds.data(), static_cast<int>(core::Kind::kNumber), tuples);
    for (const Odd& odd : odd_[f]) column.kinds[odd.tuple] = odd.kind;
  }
}

}  // namespace

std::unique_ptr<Decoder> make_ticks_decoder(core::KeyTable& keys,
                                            const std::vector<std::string>& source_names) {
  return std::make_unique<TicksDecoder>(keys, source_names);
}

}  // namespace weir::ingest
