// The parts of a search for correlated pairs: windows prepared for comparison, and columns that one
// window is screened against. Scaled integers stand for unit vectors: 2^14 is 1.
//
// Thread safety: thread-compatible; filling and comparing different windows may run in parallel.
//
// Invariants
//  1. With v = 2^14·x̂ and q its rounding, <v_x, v_y> <= <q_x, q_y> + slack_x + slack_y, where
//     slack >= 2^14·e + e²/2 + 1, e = ‖v - q‖: <v_x, v_y> - <q_x, q_y> = <v_x, e_y> + <e_x, v_y> -
//     <e_x, e_y>. The same holds for any part of the coordinates.
//  2. All sums stay below 2^31: |<q_x, q_y>| <= 1.1·2^28, slack <= kMostSlack, |target|
//  <= 1.1·2^28.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"
#include "synopses/correlation.h"
#include "synopses/correlation_kernel.h"

namespace weir::synopses {

inline constexpr double kUnit = 16384.0;
inline constexpr std::int32_t kMostSlack = (1 << 29) + (1 << 27);  // passes every screen
inline constexpr std::int32_t kUndefinedSlack = -(1 << 29);
inline constexpr std::int32_t kNoQuery = -(1 << 30);
// Windows that a task looks at, and columns that a screen looks at before it goes on.
inline constexpr std::size_t kTaskWindows = 64;
inline constexpr std::size_t kScreenColumns = 512;

// Slack of a vector whose rounding error is `error`, with `more` for what else is not in the sum.
std::int32_t slack_of(double error, double more);
// How far correlation_of() may be from the exact correlation of windows of w values.
double correlation_error(std::size_t w);
// What sum and slacks must reach for a pair whose computed correlation reaches `threshold`.
std::int32_t target_of(double threshold, std::size_t w);

// A window ready for dot_of(). `copy` holds its values if they had to be scaled.
Centred centred_of(std::span<const double> values, std::vector<double>& copy);
// REQUIRES: both of n values.
double correlation_of(const Centred& a, const Centred& b, std::size_t n);

// Windows in the order of the search (`order[position]` = index into the input), each with its row
// of rounded values.
class PreparedWindows {
 public:
  PreparedWindows(std::size_t w, double threshold, std::vector<std::uint32_t> order);

  std::size_t size() const { return order_.size(); }
  std::size_t window() const { return w_; }
  double threshold() const { return threshold_; }
  std::int32_t target() const { return target_; }
  // REQUIRES: position < size(), of the input's window order[position]; once for each.
  void prepare(std::size_t position, std::span<const double> values);
  const std::int16_t* row(std::size_t position) const { return rows_.data() + position * stride_; }
  std::int32_t slack(std::size_t position) const { return slack_[position]; }
  std::uint32_t index(std::size_t position) const { return order_[position]; }

  // Compares the window at `position` with others; may reorder nothing but overwrites `others`.
  void compare(std::size_t position, std::span<std::uint32_t> others,
               std::vector<FoundPair>& found) const;

 private:
  std::size_t w_, stride_;
  double threshold_;
  std::int32_t target_;
  std::vector<std::uint32_t> order_;
  std::vector<Centred> centred_;
  std::vector<std::vector<double>> copies_;
  core::Array<std::int16_t> rows_;
  core::Array<std::int32_t> slack_;
};

// Columns of 16-bit numbers in pairs, one column a window, and the slack of each.
class Columns {
 public:
  Columns(std::size_t windows, std::size_t groups);
  std::size_t groups() const { return groups_; }
  void set(std::size_t position, std::size_t group, std::int16_t first, std::int16_t second);
  std::int32_t& slack(std::size_t position) { return slack_[position]; }
  std::int32_t slack(std::size_t position) const { return slack_[position]; }

  // The groups of each of some windows, one window after the other.
  std::vector<std::int32_t> gather(std::span<const std::uint32_t> positions) const;
  // Calls hit(query's position, other position) for the pairs of `queries` (ascending, at most
  // kScreenQueries, and `gathered`) with the later windows among [begin, end), end - begin <=
  // kScreenColumns, whose bound reaches `target`: query by query, others ascending.
  template <class Hit>
  void screen_later(std::span<const std::uint32_t> queries, const std::int32_t* gathered,
                    std::size_t begin, std::size_t end, std::int32_t target, const Hit& hit) const;

 private:
  std::size_t stride_, groups_;
  core::Array<std::int32_t> columns_;
  core::Array<std::int32_t> slack_;
};

template <class Hit>
void Columns::screen_later(std::span<const std::uint32_t> queries, const std::int32_t* gathered,
                           std::size_t begin, std::size_t end, std::int32_t target,
                           const Hit& hit) const {
  ScreenQueries four;
  for (std::size_t q = 0; q < kScreenQueries; ++q) {
    const bool given = q < queries.size();
    four.groups[q] = gathered + (given ? q * groups_ : 0);
    four.base[q] = given ? slack_[queries[q]] - target : kNoQuery;
  }
  std::uint32_t hits[kScreenQueries * kScreenColumns + 1];
  const std::size_t found =
      screen({columns_.data(), stride_, groups_, slack_.data()}, four, begin, end, hits);
  if (found == 0) return;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t other = begin + (hits[i] & 0xffffff);
      if (hits[i] >> 24 == q && other > queries[q]) hit(queries[q], other);
    }
  }
}

}  // namespace weir::synopses
