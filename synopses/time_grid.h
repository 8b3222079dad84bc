// TimeGrid: one stream's values brought onto a grid of event time, so that windows of different
// streams cover the same time.
//
// A value at time t belongs to interval ⌊t / interval⌋, counted from 1970. An interval's value is
// the last one that arrived in it; an empty interval carries the value before it on. The newest
// interval that has a value is open; those before it are closed and never change.
//
// Invariants
//  1. State is a function of the values and times in order. Stream time of the input is no part of
//     it: only a query closes what the stream itself has not.
//  2. Closed intervals are handed over in order, as runs of one value, so that a jump over many
//     intervals costs one call.
//  3. A value without a time, or for an interval that is closed, is not taken and is counted.
//     So taken + refused = values offered.
//  4. No time overflows: interval numbers fit std::int64_t whatever the times, and the distance of
//     two fits std::uint64_t.
// Thread safety: shard-local.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bytes.h"
#include "weir/types.h"

namespace weir::synopses {

class TimeGrid {
 public:
  // REQUIRES: interval (ns) >= 1.
  explicit TimeGrid(std::int64_t interval) : interval_(interval) {}

  // Whole nanoseconds of an interval in seconds; 0 if it is none. Decimal fractions such as 0.1 s
  // are not exact as doubles, so what is that near to a whole number is meant to be one.
  static std::int64_t nanoseconds(double seconds) {
    const double exact = seconds * 1e9;
    const double whole = std::nearbyint(exact);
    if (!(whole >= 1.0 && whole < 0x1p62)) return 0;
    if (std::fabs(exact - whole) > 1e-6 + 1e-12 * whole) return 0;
    return static_cast<std::int64_t>(whole);
  }

  // Takes a value. Returns how many intervals it closed; all of them hold `carried`.
  std::uint64_t take(std::int64_t time, double value, double& carried) {
    if (time >= open_begin_ && time < open_end_) {
      value_ = value;
      ++taken_;
      return 0;
    }
    return take_elsewhere(time, value, carried);
  }

  bool started() const { return started_; }
  std::int64_t open() const { return open_; }  // REQUIRES: started()
  double value() const { return value_; }      // the open interval's so far
  std::uint64_t taken() const { return taken_; }
  // Values that came too late, and that had no time.
  std::uint64_t late() const { return late_; }
  std::uint64_t timeless() const { return timeless_; }
  std::uint64_t refused() const { return late_ + timeless_; }
  std::int64_t interval() const { return interval_; }

  std::int64_t interval_of(std::int64_t time) const { return floor_divide(time, interval_); }
  // The first interval that a query at `now` sees as open: all that ended at or before `now` are
  // closed; at the end of the input, so is the one that holds `now`. Without a time, `now` is the
  // stream's newest. Never before open(). REQUIRES: started().
  std::int64_t closed_before(std::int64_t now, bool ended) const {
    std::int64_t first_open = now == kNoTime.ns ? open_ : interval_of(now);
    if (first_open < open_) first_open = open_;
    return ended && first_open != kMost ? first_open + 1 : first_open;
  }
  // Intervals in [open(), first_open): what a query closes. All of them hold value().
  std::uint64_t closes(std::int64_t first_open) const {
    return first_open <= open_
               ? 0
               : static_cast<std::uint64_t>(first_open) - static_cast<std::uint64_t>(open_);
  }
  // Intervals from the smallest there can be up to open(): no state has closed more.
  std::uint64_t most_closed() const {
    return static_cast<std::uint64_t>(open_) -
           static_cast<std::uint64_t>(interval_of(kNoTime.ns + 1));
  }

  // u64 taken, u64 late, u64 without a time, u8 started; if so i64 open, f64 value.
  void serialize(core::Writer& out) const {
    out.put(taken_);
    out.put(late_);
    out.put(timeless_);
    out.put(static_cast<std::uint8_t>(started_));
    if (!started_) return;
    out.put(open_);
    out.put(value_);
  }
  // Why the bytes are no grid; null if they are.
  const char* deserialize(core::Reader& in) {
    taken_ = in.get<std::uint64_t>();
    late_ = in.get<std::uint64_t>();
    timeless_ = in.get<std::uint64_t>();
    const auto started = in.get<std::uint8_t>();
    if (!in.ok()) return "it is too short";
    if (started > 1 || (started == 1) != (taken_ != 0)) return "a grid that is half begun";
    if (started == 0) return nullptr;
    const auto open = in.get<std::int64_t>();
    value_ = in.get<double>();
    if (!in.ok()) return "it is too short";
    if (!std::isfinite(value_)) return "a value that is not finite";
    if (open < interval_of(kNoTime.ns + 1) || open > interval_of(kMost)) {
      return "an interval beyond all times";
    }
    open_at(open);
    return nullptr;
  }

  // ⌊a / b⌋ and its rest. REQUIRES: b >= 1.
  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
  }
  static std::int64_t floor_rest(std::int64_t a, std::int64_t b) {
    const std::int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
  }

 private:
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

  std::uint64_t take_elsewhere(std::int64_t time, double value, double& carried) {
    // Most often it is the next one, which needs no division. (kMost may lie in the open one.)
    const bool next = open_begin_ < open_end_ && time >= open_end_ && time < kMost &&
                      static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(open_end_) <
                          static_cast<std::uint64_t>(interval_);
    const std::int64_t interval = next ? open_ + 1 : interval_of(time);
    if (time == kNoTime.ns || (started_ && interval < open_)) {
      ++(time == kNoTime.ns ? timeless_ : late_);
      return 0;
    }
    const std::uint64_t closed = started_ ? closes(interval) : 0;
    carried = value_;
    value_ = value;
    ++taken_;
    open_at(interval);
    return closed;
  }
  void open_at(std::int64_t interval) {
    started_ = true;
    open_ = interval;
    // A division a value is saved by the interval's bounds, cut to what a time can be.
    if (__builtin_mul_overflow(interval, interval_, &open_begin_)) open_begin_ = kNoTime.ns + 1;
    if (__builtin_add_overflow(open_begin_, interval_, &open_end_)) open_end_ = kMost;
    if (open_begin_ == kNoTime.ns + 1) open_end_ = open_begin_;  // rare: always the long way
  }

  std::int64_t interval_;
  bool started_ = false;
  std::int64_t open_ = 0;
  std::int64_t open_begin_ = kMost;  // nothing is in [kMost, kMost)
  std::int64_t open_end_ = kMost;
  double value_ = 0.0;
  std::uint64_t taken_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t timeless_ = 0;
};

}  // namespace weir::synopses
