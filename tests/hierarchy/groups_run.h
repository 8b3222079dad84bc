// GroupsRun: gives Groups tuples, changes and ends, and keeps what they publish as lines.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/value.h"
#include "hierarchy/groups.h"
#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {

inline constexpr std::int64_t kS = kNanosPerSecond;
inline constexpr std::int64_t kLastTime = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kFirstTime = -kLastTime;

// One tuple; fields that are absent are missing, `kinds` other than numbers are given by `text`.
struct Given {
  std::string stream;
  std::int64_t time = 0;  // ns
  std::vector<std::optional<double>> values;
  std::string dataset = "D";
  std::uint32_t rejects = 0;  // rejected records just before it
};

// "x@3=7": stream, seconds and value; "x@-=7" has no time.
inline Given given(std::string_view text) {
  const std::size_t at = text.find('@'), equals = text.find('=');
  const std::string time(text.substr(at + 1, equals - at - 1));
  return {std::string(text.substr(0, at)),
          time == "-" ? kNoTime.ns : std::stoll(time) * kS,
          {std::stod(std::string(text.substr(equals + 1)))},
          "D",
          0};
}
inline std::vector<Given> all_given(std::initializer_list<const char*> texts) {
  std::vector<Given> all;
  for (const char* text : texts) all.push_back(given(text));
  return all;
}

// "R{G{a,b},c}"; "R{}" is a group without members.
inline Outline outline(std::string_view text) {
  Outline root;
  std::vector<Outline*> path{&root};
  std::string name;
  const auto end_name = [&] {
    if (name.empty()) return;
    path.back()->children.push_back(sensor(name));
    name.clear();
  };
  bool first = true;
  for (const char c : text) {
    if (c == '{') {
      if (first) {
        root = group_of(name, {});
        first = false;
      } else {
        path.back()->children.push_back(group_of(name, {}));
        path.push_back(&path.back()->children.back());
      }
      name.clear();
    } else if (c == ',' || c == '}') {
      end_name();
      if (c == '}') path.pop_back();
    } else {
      name += c;
    }
  }
  return root;
}

inline Spec spec_of(GroupOptions options, std::vector<std::string> fields = {"v"}) {
  options.fields = std::move(fields);
  Spec spec{std::move(options), {}};
  for (std::uint32_t i = 0; i < spec.options.fields.size(); ++i) spec.columns.push_back(i);
  return spec;
}
inline Spec tumbling(std::int64_t grace = 10, std::int64_t emit = 10) {
  GroupOptions options;
  options.mode = GroupOptions::Mode::kTumbling;
  options.emit.ns = emit * kS;
  options.grace = grace * kS;
  return spec_of(options);
}
inline Spec sliding(std::int64_t window, std::int64_t advance, std::int64_t emit,
                    std::int64_t grace) {
  GroupOptions options;
  options.mode = GroupOptions::Mode::kSliding;
  options.window = window * kS;
  options.advance = advance * kS;
  options.emit.ns = emit * kS;
  options.grace = grace * kS;
  return spec_of(options);
}
inline Spec changelog() {
  GroupOptions options;
  options.mode = GroupOptions::Mode::kChangelog;
  options.emit.ns = kS;
  return spec_of(options);
}
inline Spec latest(std::int64_t emit, std::int64_t max_age = 0) {
  GroupOptions options;
  options.mode = GroupOptions::Mode::kLatest;
  options.emit.ns = emit * kS;
  options.max_age = max_age * kS;
  return spec_of(options);
}

class GroupsRun {
 public:
  explicit GroupsRun(const Spec& spec)
      : spec_(spec),
        fields_(spec.options.fields.size()),
        keys_(std::make_unique<core::KeyTable>()),
        groups_(groups_with(*keys_)) {}

  Groups& groups() { return *groups_; }
  std::string saved() const {
    core::Writer writer;
    groups_->save(writer);
    return writer.take();
  }
  // Goes on with groups restored from bytes, with keys that have met only some streams, in another
  // order.
  Status resume(std::string_view bytes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto keys = std::make_unique<core::KeyTable>();
    for (std::uint32_t id = keys_->size(); id-- > 0;) {
      const core::Key& key = keys_->key(StreamId{id});
      if (random() % 2 == 0) keys->find_or_add(keys->dataset(key.dataset), key.stream);
    }
    auto groups = groups_with(*keys);
    core::Reader in(bytes);
    const Status status = groups->restore(in);
    groups_ = std::move(groups);
    keys_ = std::move(keys);
    return status;
  }
  // Fields that tuples have.
  void fields(std::size_t n) { fields_ = n; }
  void put(std::string_view registry, const Spec* spec = nullptr) {
    put(registry_of(outline(registry)), spec);
  }
  void put(std::shared_ptr<const Registry> registry, const Spec* spec = nullptr) {
    groups_->change(std::move(registry), spec == nullptr ? spec_ : *spec,
                    {RecordPosition{seq_}, Time{stream_time_}, false});
  }
  // In blocks of random lengths and calls of random lengths; 0 = one block, one call.
  void feed(const std::vector<Given>& tuples, std::uint64_t seed = 0) {
    std::mt19937_64 random(seed);
    for (std::size_t at = 0; at < tuples.size();) {
      std::size_t n = tuples.size() - at;
      if (seed != 0) n = std::min<std::size_t>(n, 1 + random() % (random() % 4 == 0 ? 700 : 9));
      feed_block({tuples.data() + at, n}, seed == 0 ? nullptr : &random);
      at += n;
    }
  }
  void feed(std::initializer_list<const char*> texts) { feed(all_given(texts)); }
  void finish() { groups_->finish(RecordPosition{seq_}); }

  // Every row: "R[0,10) 2,12 @14 #3"; windows in seconds, count and sum.
  std::vector<std::string> take_lines() { return std::exchange(lines, {}); }
  std::vector<std::string> lines;
  // Every row with all it says, for comparisons; one cut a line.
  std::string all;
  std::vector<std::uint8_t> verdicts;  // of all tuples
  std::vector<std::size_t> cut_rows;   // rows of each cut
  bool details = false;                // lines say more

  std::uint64_t seq() const { return seq_; }
  std::int64_t stream_time() const { return stream_time_; }
  StreamId stream(const std::string& dataset, const std::string& name) {
    return keys_->find_or_add(keys_->dataset(dataset), name);
  }

 private:
  void feed_block(std::span<const Given> tuples, std::mt19937_64* random) {
    core::Columns columns;
    columns.reset(fields_);
    const std::uint64_t base = seq_;
    for (const Given& tuple : tuples) {
      columns.records += tuple.rejects;
      columns.record.push_back(columns.records++);
      columns.stream.push_back(stream(tuple.dataset, tuple.stream));
      columns.time.push_back(tuple.time);
      columns.max_time = std::max(columns.max_time, tuple.time);
      for (std::size_t f = 0; f < fields_; ++f) {
        const bool there = f < tuple.values.size() && tuple.values[f].has_value();
        const core::Value value = there ? core::number(*tuple.values[f]) : core::Value();
        columns.fields[f].bits.push_back(value.bits);
        columns.fields[f].kinds.push_back(value.kind);
      }
    }
    for (core::Column& column : columns.fields) {
      const bool plain = std::all_of(column.kinds.begin(), column.kinds.end(),
                                     [](core::Kind kind) { return kind == core::Kind::kNumber; });
      if (plain) column.kinds.clear();
    }
    std::vector<std::uint8_t> said(tuples.size(), kNobody);
    const auto n = static_cast<std::uint32_t>(tuples.size());
    for (std::uint32_t at = 0; at < n;) {
      std::uint32_t end = n;
      if (random != nullptr)
        end = std::min(n, at + 1 + static_cast<std::uint32_t>((*random)() % n));
      groups_->apply(columns, at, end, base, said.data());
      at = end;
    }
    verdicts.insert(verdicts.end(), said.begin(), said.end());
    seq_ = base + columns.records;
    stream_time_ = std::max(stream_time_, columns.max_time);
  }

  std::unique_ptr<Groups> groups_with(const core::KeyTable& keys) {
    return std::make_unique<Groups>(
        keys, [this](const PublishCut& cut, std::span<const Row> rows) { take(cut, rows); });
  }
  static std::string time_of(Time time) {
    if (!time.known()) return "-";
    return time.ns % kS == 0 ? std::to_string(time.ns / kS) : std::to_string(time.ns) + "ns";
  }
  void take(const PublishCut& cut, std::span<const Row> rows) {
    ASSERT_FALSE(rows.empty());
    cut_rows.push_back(rows.size());
    for (const Row& row : rows) {
      const Group& group = row.tree->group(row.group);
      const std::string window =
          row.window_start.known()
              ? fmt::format("[{},{})", time_of(row.window_start), time_of(row.window_end))
              : "";
      std::string line = fmt::format("{}{} {},{}", group.identifier, window, row.aggregate.count,
                                     row.aggregate.sum);
      const std::string more = fmt::format(" {} {} {}..{} p{} @{} #{}{}{}", row.tree->hierarchy(),
                                           row.field, row.aggregate.min, row.aggregate.max,
                                           row.aggregate.present, time_of(cut.time), raw(cut.seq),
                                           cut.final ? " final" : "", row.gone ? " gone" : "");
      all += line + more + ";";
      if (details) line += fmt::format(" @{} #{}", time_of(cut.time), raw(cut.seq));
      if (cut.final) line += " final";
      if (row.gone) line += " gone";
      lines.push_back(std::move(line));
    }
    all += "\n";
  }

  const Spec spec_;  // of registries that name none
  std::size_t fields_;
  std::unique_ptr<core::KeyTable> keys_;
  std::unique_ptr<Groups> groups_;
  std::uint64_t seq_ = 0;
  std::int64_t stream_time_ = kNoTime.ns;
};

}  // namespace weir::hierarchy
