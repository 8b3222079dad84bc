#include "engine/cuts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/check.h"
#include "engine/request_image.h"

namespace weir::engine {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kNoRecord = std::numeric_limits<std::uint64_t>::max();

// Largest multiple of `period` up to `time`.
std::int64_t boundary_at(std::int64_t time, std::int64_t period) {
  const std::int64_t floor = time / period * period;
  return floor > time ? floor - period : floor;
}

// Smallest multiple of `period` above `time`; kNever when it would not fit.
std::int64_t boundary_after(std::int64_t time, std::int64_t period) {
  const std::int64_t floor = boundary_at(time, period);
  return floor > kNever - period ? kNever : floor + period;
}

void by_order(std::vector<Scheduled>& requests) {
  std::sort(requests.begin(), requests.end(),
            [](const Scheduled& a, const Scheduled& b) { return a.order < b.order; });
}

}  // namespace

CutCursor::CutCursor(Period emit)
    : emit_(emit), record_boundary_(emit.records > 0 ? emit.records : kNoRecord) {}

Cut CutCursor::cut_at(std::uint32_t index) {
  Cut cut;
  cut.ordinal = ordinal_++;
  cut.index = index;
  cut.seq = RecordPosition{base_ + index};
  cut.as_of = Time{time_};
  return cut;
}

void CutCursor::emit(Cut& cut, std::int64_t time) {
  cut.emission = true;
  cut.emission_time = time;
  cut.emission_before = last_emission_;
  last_emission_ = time;
}

void CutCursor::add(const Scheduled& scheduled, Cut& now) {
  const Position at = scheduled.request->position();
  const std::uint64_t here = base_ + index_;
  switch (at.kind) {
    case Position::Kind::kStart:
      (here > 0 ? now.unreached : now.requests).push_back(scheduled);
      break;
    case Position::Kind::kRecord:
      if (raw(at.record) < here) {
        now.unreached.push_back(scheduled);
      } else {
        at_record_.emplace(raw(at.record), scheduled);
      }
      break;
    case Position::Kind::kTime:
      if (time_ != kNoTime.ns && at.time.ns <= time_) {
        now.unreached.push_back(scheduled);
      } else {
        at_time_.emplace(at.time.ns, scheduled);
      }
      break;
    case Position::Kind::kEnd:
      at_end_.push_back(scheduled);
      break;
  }
}

Cut CutCursor::start(const std::vector<Scheduled>& requests) {
  Cut cut = cut_at(0);
  for (const Scheduled& scheduled : requests) add(scheduled, cut);
  // A query never comes before its build.
  std::stable_sort(cut.requests.begin(), cut.requests.end(),
                   [](const Scheduled& a, const Scheduled& b) {
                     const auto makes = [](const Scheduled& s) {
                       return s.request->op == Op::kBuild || s.request->op == Op::kLoad;
                     };
                     return makes(a) && !makes(b);
                   });
  return cut;
}

Cut CutCursor::live_cut(const std::vector<Scheduled>& requests, std::uint32_t index) {
  Cut cut = cut_at(index);
  cut.live = &requests;
  for (const Scheduled& scheduled : requests) {
    if (scheduled.request->at.has_value()) {
      add(scheduled, cut);
    } else {
      cut.requests.push_back(scheduled);
    }
  }
  return cut;
}

void CutCursor::repeat(std::vector<std::shared_ptr<const LiveUnit>> units) {
  repeats_.assign(units.begin(), units.end());
}

bool CutCursor::repeated(Cut& cut) {
  if (repeats_.empty() || raw(repeats_.front()->position) > base_ + index_) return false;
  // Kept for as long as the cut points to it.
  repeating_ = repeats_.front();
  repeats_.pop_front();
  cut = live_cut(repeating_->requests, index_);
  cut.columns = repeating_->columns;
  cut.repeated = true;
  return true;
}

void CutCursor::add_live(const std::vector<Scheduled>& requests) {
  held_.insert(held_.end(), requests.begin(), requests.end());
}

bool CutCursor::live(Cut& cut) {
  if (held_.empty() || !repeats_.empty()) return false;
  living_ = std::exchange(held_, {});
  cut = live_cut(living_, index_);
  return true;
}

std::vector<std::shared_ptr<const Request>> CutCursor::waiting() const {
  std::vector<std::shared_ptr<const Request>> waiting;
  for (const auto& [record, scheduled] : at_record_) waiting.push_back(scheduled.request);
  for (const auto& [time, scheduled] : at_time_) waiting.push_back(scheduled.request);
  for (const Scheduled& scheduled : at_end_) waiting.push_back(scheduled.request);
  return waiting;
}

std::uint64_t CutCursor::next_order() const {
  std::uint64_t order = 0;
  const auto behind = [&](const Scheduled& s) { order = std::max(order, s.order + 1); };
  for (const auto& [record, scheduled] : at_record_) behind(scheduled);
  for (const auto& [time, scheduled] : at_time_) behind(scheduled);
  for (const Scheduled& scheduled : at_end_) behind(scheduled);
  return order;
}

std::uint32_t CutCursor::first_reaching(const core::Columns& columns,
                                        std::int64_t threshold) const {
  if (columns.max_time < threshold) return columns.tuples();
  std::uint32_t tuple = tuple_;
  while (tuple < columns.tuples() && columns.time[tuple] < threshold) ++tuple;
  return tuple;
}

void CutCursor::advance_time(const core::Columns& columns, std::uint32_t to_tuple) {
  for (; tuple_ < to_tuple; ++tuple_) time_ = std::max(time_, columns.time[tuple_]);
}

void CutCursor::advance_to(const core::Columns& columns, std::uint32_t index) {
  std::uint32_t before = tuple_;
  while (before < columns.tuples() && columns.record[before] < index) ++before;
  advance_time(columns, before);
  index_ = index;
}

bool CutCursor::next(const core::Columns& columns, Cut& cut) {
  if (live(cut)) return true;
  // The first boundary is set by the first time there is; no stream time has passed before it.
  if (emit_.ns > 0 && boundary_ == kNoTime.ns && columns.max_time != kNoTime.ns) {
    std::uint32_t first = 0;
    while (columns.time[first] == kNoTime.ns) ++first;
    boundary_ = boundary_after(columns.time[first], emit_.ns);
  }
  const std::int64_t boundary = emit_.ns > 0 && boundary_ != kNoTime.ns ? boundary_ : kNever;
  const std::int64_t threshold =
      std::min(boundary, at_time_.empty() ? kNever : at_time_.begin()->first);
  const std::uint32_t tuple = first_reaching(columns, threshold);
  const std::uint64_t time_record =
      tuple < columns.tuples() ? base_ + columns.record[tuple] : kNoRecord;
  const std::uint64_t record = std::min(
      {time_record, record_boundary_, at_record_.empty() ? kNoRecord : at_record_.begin()->first});
  const std::uint64_t repeat = repeats_.empty() ? kNoRecord : raw(repeats_.front()->position);
  // Behind the block's last record, too: nobody knows when there will be another.
  if (repeat <= record && repeat <= base_ + columns.records) {
    advance_to(columns, static_cast<std::uint32_t>(repeat - base_));
    return repeated(cut);
  }
  if (record >= base_ + columns.records) return false;
  const auto index = static_cast<std::uint32_t>(record - base_);
  advance_to(columns, index);
  cut = cut_at(index);
  if (record == record_boundary_) {
    emit(cut, time_);
    record_boundary_ += emit_.records;
  }
  if (record == time_record) {
    const std::int64_t reached = columns.time[tuple];
    if (reached >= boundary) {
      boundary_ = boundary_after(reached, emit_.ns);
      emit(cut, boundary_at(reached, emit_.ns));
    }
    while (!at_time_.empty() && at_time_.begin()->first <= reached) {
      cut.requests.push_back(at_time_.begin()->second);
      at_time_.erase(at_time_.begin());
    }
  }
  while (!at_record_.empty() && at_record_.begin()->first == record) {
    cut.requests.push_back(at_record_.begin()->second);
    at_record_.erase(at_record_.begin());
  }
  by_order(cut.requests);
  return true;
}

void CutCursor::finish(const core::Columns& columns) {
  time_ = std::max(time_, columns.max_time);
  base_ += columns.records;
  tuple_ = 0;
  index_ = 0;
}

Cut CutCursor::end() {
  Cut cut = cut_at(0);
  cut.end = true;
  // A position equal to the number of records is the end itself; a record boundary there is one
  // too.
  cut.emission_before = last_emission_;
  if (base_ > 0 && base_ == record_boundary_) emit(cut, time_);
  cut.requests = std::move(at_end_);
  for (auto& [record, scheduled] : at_record_) {
    (record == base_ ? cut.requests : cut.unreached).push_back(std::move(scheduled));
  }
  for (auto& [time, scheduled] : at_time_) cut.unreached.push_back(std::move(scheduled));
  // The input has become shorter since the run that had them.
  for (const auto& unit : repeats_) {
    cut.unreached.insert(cut.unreached.end(), unit->requests.begin(), unit->requests.end());
  }
  repeats_.clear();
  // The input ended before a live cut that they were to come behind.
  std::move(held_.begin(), held_.end(), std::back_inserter(cut.unreached));
  held_.clear();
  at_end_.clear();
  at_record_.clear();
  at_time_.clear();
  by_order(cut.requests);
  by_order(cut.unreached);
  return cut;
}

void CutCursor::save(core::Writer& out) const {
  WEIR_CHECK(tuple_ == 0, "a cursor is saved between blocks");
  out.put(emit_.ns);
  out.put(emit_.records);
  for (const std::uint64_t value : {ordinal_, base_, record_boundary_}) out.put(value);
  for (const std::int64_t time : {time_, boundary_, last_emission_}) out.put(time);
  out.put(static_cast<std::uint64_t>(at_record_.size() + at_time_.size() + at_end_.size()));
  // Those of one position in their order; which list they belong to follows from their position.
  for (const auto& [record, scheduled] : at_record_) engine::save(scheduled, out);
  for (const auto& [time, scheduled] : at_time_) engine::save(scheduled, out);
  for (const Scheduled& scheduled : at_end_) engine::save(scheduled, out);
}

Status CutCursor::restore(core::Reader& in, Kinds& kinds) {
  const auto damaged = [](const char* what) {
    return Status(Code::kInvalid, std::string("the kept positions are damaged: ") + what);
  };
  const Period emit{in.get<std::int64_t>(), in.get<std::uint64_t>()};
  for (std::uint64_t* value : {&ordinal_, &base_, &record_boundary_}) {
    *value = in.get<std::uint64_t>();
  }
  for (std::int64_t* time : {&time_, &boundary_, &last_emission_}) *time = in.get<std::int64_t>();
  const auto waiting = in.get<std::uint64_t>();
  if (!in.ok()) return damaged("they are cut off");
  if (emit != emit_) return damaged("they are of another period");
  // Sums of positions must not go round.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  const bool boundary = emit_.records > 0
                            ? record_boundary_ > 0 && record_boundary_ % emit_.records == 0
                            : record_boundary_ == kNoRecord;
  if (base_ > kMost || record_boundary_ < base_ || !boundary) return damaged("numbers of records");
  for (std::uint64_t i = 0; i < waiting; ++i) {
    Result<Scheduled> scheduled = restore_scheduled(in, kinds);
    if (!scheduled.ok()) return scheduled.status();
    Cut passed;
    const std::uint64_t before = at_record_.size() + at_time_.size() + at_end_.size();
    add(*scheduled, passed);
    if (at_record_.size() + at_time_.size() + at_end_.size() == before) {
      return damaged("a request waits for a position that has passed");
    }
  }
  return {};
}

}  // namespace weir::engine
