#include "engine/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/check.h"
#include "ingest/record_rejects.h"

namespace weir::engine {
namespace {

// `later` may be three centuries after `earlier`: more than a signed number of ns holds.
std::uint64_t distance(std::int64_t earlier, std::int64_t later) {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

// "3d 2h": the largest unit that it has, and the next one.
std::string span_text(std::uint64_t ns) {
  struct Unit {
    std::uint64_t ns;
    const char* name;
  };
  static constexpr Unit kUnits[] = {{86'400'000'000'000, "d"},
                                    {3'600'000'000'000, "h"},
                                    {60'000'000'000, "m"},
                                    {1'000'000'000, "s"},
                                    {1'000'000, "ms"},
                                    {1'000, "us"},
                                    {1, "ns"}};
  const Unit* unit = kUnits;
  while (unit->ns > 1 && ns < unit->ns) ++unit;
  std::string text = fmt::format("{}{}", ns / unit->ns, unit->name);
  if (unit->ns == 1) return text;
  const std::uint64_t rest = ns % unit->ns / unit[1].ns;
  return rest == 0 ? text : fmt::format("{} {}{}", text, rest, unit[1].name);
}

template <class T>
void keep(core::Array<T>& values, const core::Array<std::uint32_t>& kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
  values.resize(kept.size());
}

}  // namespace

std::uint64_t Gate::too_far(std::int64_t time) const {
  if (stream_time_ == kNoTime.ns || time <= stream_time_) return 0;
  const std::uint64_t ahead = distance(stream_time_, time);
  return ahead > static_cast<std::uint64_t>(max_jump_) ? ahead : 0;
}

void Gate::pass_first(Entry& entry, Seq seq) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t passed = passed_.load(std::memory_order_relaxed);
  if (passed > raw(seq)) return;  // somebody was first after all
  // Whoever comes here has been here with every entry before.
  assert(passed == raw(seq));
  const core::Columns& columns = entry.columns;
  if (columns.max_time != kNoTime.ns) {
    if (stream_time_ != kNoTime.ns && too_far(columns.max_time) == 0) {
      stream_time_ = std::max(stream_time_, columns.max_time);
      row_ = 0;
    } else {
      judge(columns);
      if (!future_.empty()) take_out(entry);
    }
  }
  passed_.store(passed + 1, std::memory_order_release);
}

void Gate::save(core::Writer& out) const {
  const std::scoped_lock lock(mutex_);
  out.put(stream_time_);
  out.put(row_);
}

Status Gate::restore(core::Reader& in) {
  const std::scoped_lock lock(mutex_);
  stream_time_ = in.get<std::int64_t>();
  row_ = in.get<std::uint32_t>();
  if (in.ok() && row_ < kRow) return {};
  return {Code::kInvalid, "what is kept of the limit of leaps is damaged"};
}

void Gate::judge(const core::Columns& columns) {
  future_.clear();
  kept_.clear();
  for (std::uint32_t tuple = 0; tuple < columns.tuples(); ++tuple) {
    const std::int64_t time = columns.time[tuple];
    if (time != kNoTime.ns) {
      if (const std::uint64_t ahead = too_far(time); ahead > 0 && ++row_ < kRow) {
        future_.push_back({columns.record[tuple], ahead});
        continue;
      }
      row_ = 0;
      stream_time_ = std::max(stream_time_, time);
    }
    kept_.push_back(tuple);
  }
}

void Gate::take_out(Entry& entry) {
  core::Columns& columns = entry.columns;
  keep(columns.record, kept_);
  keep(columns.stream, kept_);
  keep(columns.time, kept_);
  columns.max_time = kNoTime.ns;
  for (const std::int64_t time : columns.time) columns.max_time = std::max(columns.max_time, time);
  for (core::Column& column : columns.fields) {
    keep(column.bits, kept_);
    if (!column.kinds.empty()) keep(column.kinds, kept_);
  }
  if (entry.verdicts.shared) {  // they are all alike: nobody has judged yet
    entry.verdicts.by_synopses.resize(kept_.size());
    entry.verdicts.by_groups.resize(kept_.size());
  }

  std::vector<std::uint32_t> records;
  records.reserve(future_.size());
  for (const Future& future : future_) records.push_back(future.record);
  auto rejects = ingest::rejects_of(entry.block, *entry.layout, records, core::Reason::kFuture);
  WEIR_CHECK(rejects.size() == future_.size(), "every future record is found in its block");
  for (std::size_t i = 0; i < rejects.size(); ++i) {
    rejects[i].detail = span_text(future_[i].ahead) + " ahead of stream time";
  }
  const auto decoded = static_cast<std::ptrdiff_t>(columns.rejects.size());
  std::move(rejects.begin(), rejects.end(), std::back_inserter(columns.rejects));
  std::inplace_merge(
      columns.rejects.begin(), columns.rejects.begin() + decoded, columns.rejects.end(),
      [](const core::Reject& a, const core::Reject& b) { return a.record < b.record; });
  scatter_.run(columns, keys_, *entry.routes, entry.batches);
}

void note_leap(const core::Columns& columns, std::int64_t before, std::uint64_t base,
               Summary::Leap& leap) {
  if (columns.max_time == kNoTime.ns) return;
  const auto longer_than = [](std::int64_t from, std::int64_t to, std::int64_t ns) {
    return from != kNoTime.ns && to > from && distance(from, to) > static_cast<std::uint64_t>(ns);
  };
  const std::int64_t least = std::max(leap.ns, kLongLeap);
  if (before != kNoTime.ns && !longer_than(before, columns.max_time, least)) return;
  std::int64_t now = before;
  for (std::uint32_t tuple = 0; tuple < columns.tuples(); ++tuple) {
    const std::int64_t time = columns.time[tuple];
    if (longer_than(now, time, std::max(leap.ns, kLongLeap))) {
      constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
      leap.ns = static_cast<std::int64_t>(std::min(distance(now, time), kMost));
      leap.record = RecordPosition{base + columns.record[tuple]};
    }
    now = std::max(now, time);
  }
}

}  // namespace weir::engine
