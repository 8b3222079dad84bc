// The arithmetic of the search for correlated pairs: sums over windows in eight lanes, and screens
// of one window against many in 16-bit integers.
//
// Thread safety: immutable (pure functions).
//
// Invariants
//  1. A sum over a window is kept in eight lanes, value i in lane i mod 8, product and sum rounded
//     apart (no fma), and the lanes are added as ((0+4)+(2+6)) + ((1+5)+(3+7)). So every target and
//     the scalar twin give the same bits.
//  2. The screens are integer arithmetic, which is exact: every target finds the same hits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::synopses {

inline constexpr std::size_t kDotLanes = 8;
// Rows of integers are padded with zeros to a multiple of this, so that every target uses whole
// vectors.
inline constexpr std::size_t kRowPad = 32;
// Columns may be read this many entries past their last one.
inline constexpr std::size_t kColumnPad = 64;
inline constexpr std::size_t kScreenQueries = 4;

// A window's value i, centred, is (values[i] - reference) - mean.
struct Centred {
  const double* values = nullptr;
  double reference = 0;  // the first value
  double mean = 0;       // of value - reference
  double inverse = 0;    // 1 / norm; NaN where a correlation is undefined
};

struct WindowMoments {
  double min, max, sum;  // sum of value - reference
};
WindowMoments moments_of(const double* values, std::size_t n, double reference);
// Σ ((value - reference) - mean)².
double squares_of(const Centred& window, std::size_t n);
// Σ of the products of two windows' centred values.
double dot_of(const Centred& a, const Centred& b, std::size_t n);
// Centred values, padded with zeros to a multiple of kDotLanes.
void centre(const Centred& window, std::size_t n, double* into);
// dots[4·i + j] = dot_of(row i of a, row j of b), for four rows each of centred values. `stride` is
// a multiple of kDotLanes: the padded length of a row, and the way to the next.
void dot_tile(const double* a, const double* b, std::size_t stride, double* dots);

// row[i] = centred value · factor to the nearest integer, padded to a multiple of kRowPad. Gives
// back the sum of the squared rounding errors. REQUIRES: |centred value · factor| < 32767.
double quantise(const Centred& window, std::size_t n, double factor, std::int16_t* row);

// What a screen compares: up to four queries with the columns [begin, end). Column c's numbers
// stand in pairs, group g at columns[g·stride + c] (two 16-bit numbers, in the order of memory). It
// is a hit of query q if  Σ products + base[q] + slack[c] >= 0,  and the sum is below 2^31.
struct Screen {
  const std::int32_t* columns = nullptr;
  std::size_t stride = 0;
  std::size_t groups = 0;
  const std::int32_t* slack = nullptr;
};
struct ScreenQueries {
  const std::int32_t* groups[kScreenQueries];
  std::int32_t base[kScreenQueries];
};
// Writes hits as q << 24 | (c - begin) and gives back their number; hits of one query ascend.
// REQUIRES: end - begin < 2^24, room for four times that and one more.
std::size_t screen(const Screen& with, const ScreenQueries& queries, std::size_t begin,
                   std::size_t end, std::uint32_t* hits);

// Of `candidates`, rows of length `stride` (a multiple of kRowPad), keeps those with
// Σ products with `row` + base + slack[c] >= 0; gives back how many. `kept` may be `candidates`.
std::size_t screen_rows(const std::int16_t* row, const std::int16_t* rows, std::size_t stride,
                        std::int32_t base, const std::int32_t* slack,
                        std::span<const std::uint32_t> candidates, std::uint32_t* kept);

// Positions c of [begin, end) at which the signatures columns[word·stride + c] differ from `words`
// in at most `distance` bits; gives back how many. REQUIRES: room for end - begin + 1.
std::size_t screen_signatures(std::span<const std::uint64_t> words, const std::uint64_t* columns,
                              std::size_t stride, std::uint64_t distance, std::size_t begin,
                              std::size_t end, std::uint32_t* hits);

// The scalar twins.
WindowMoments moments_of_scalar(const double* values, std::size_t n, double reference);
double squares_of_scalar(const Centred& window, std::size_t n);
double dot_of_scalar(const Centred& a, const Centred& b, std::size_t n);
void dot_tile_scalar(const double* a, const double* b, std::size_t stride, double* dots);
double quantise_scalar(const Centred& window, std::size_t n, double factor, std::int16_t* row);
std::size_t screen_scalar(const Screen& with, const ScreenQueries& queries, std::size_t begin,
                          std::size_t end, std::uint32_t* hits);
std::size_t screen_rows_scalar(const std::int16_t* row, const std::int16_t* rows,
                               std::size_t stride, std::int32_t base, const std::int32_t* slack,
                               std::span<const std::uint32_t> candidates, std::uint32_t* kept);
std::size_t screen_signatures_scalar(std::span<const std::uint64_t> words,
                                     const std::uint64_t* columns, std::size_t stride,
                                     std::uint64_t distance, std::size_t begin, std::size_t end,
                                     std::uint32_t* hits);

}  // namespace weir::synopses
