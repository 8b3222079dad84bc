// The scalar twins of the kernels of correlation_kernel.h.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "synopses/correlation_kernel.h"

namespace weir::synopses {
namespace {

double add_lanes(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}
double centred_at(const Centred& window, std::size_t i) {
  return (window.values[i] - window.reference) - window.mean;
}
// The products of two pairs of 16-bit numbers, added.
std::int32_t products_of(std::int32_t a, std::int32_t b) {
  const auto x = std::bit_cast<std::array<std::int16_t, 2>>(a);
  const auto y = std::bit_cast<std::array<std::int16_t, 2>>(b);
  return x[0] * y[0] + x[1] * y[1];
}

}  // namespace

WindowMoments moments_of_scalar(const double* values, std::size_t n, double reference) {
  double lanes[kDotLanes] = {};
  WindowMoments m{reference, reference, 0.0};
  for (std::size_t i = 0; i < n; ++i) {
    m.min = std::min(m.min, values[i]);
    m.max = std::max(m.max, values[i]);
    lanes[i % kDotLanes] += values[i] - reference;
  }
  m.sum = add_lanes(lanes);
  return m;
}

double squares_of_scalar(const Centred& window, std::size_t n) {
  return dot_of_scalar(window, window, n);
}

double dot_of_scalar(const Centred& a, const Centred& b, std::size_t n) {
  double lanes[kDotLanes] = {};
  for (std::size_t i = 0; i < n; ++i) {
    lanes[i % kDotLanes] += centred_at(a, i) * centred_at(b, i);
  }
  return add_lanes(lanes);
}

void dot_tile_scalar(const double* a, const double* b, std::size_t stride, double* dots) {
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      double lanes[kDotLanes] = {};
      for (std::size_t i = 0; i < stride; ++i) {
        lanes[i % kDotLanes] += a[r * stride + i] * b[c * stride + i];
      }
      dots[4 * r + c] = add_lanes(lanes);
    }
  }
}

double quantise_scalar(const Centred& window, std::size_t n, double factor, std::int16_t* row) {
  double lanes[kDotLanes] = {};
  std::fill(row, row + (n + kRowPad - 1) / kRowPad * kRowPad, std::int16_t{0});
  for (std::size_t i = 0; i < n; ++i) {
    const double value = centred_at(window, i) * factor;
    const double rounded = std::nearbyint(value);
    lanes[i % kDotLanes] += (value - rounded) * (value - rounded);
    row[i] = static_cast<std::int16_t>(rounded);
  }
  return add_lanes(lanes);
}

std::size_t screen_scalar(const Screen& with, const ScreenQueries& queries, std::size_t begin,
                          std::size_t end, std::uint32_t* hits) {
  std::size_t found = 0;
  for (std::size_t c = begin; c < end; ++c) {
    for (std::size_t q = 0; q < kScreenQueries; ++q) {
      std::int32_t sum = queries.base[q] + with.slack[c];
      for (std::size_t g = 0; g < with.groups; ++g) {
        sum += products_of(queries.groups[q][g], with.columns[g * with.stride + c]);
      }
      if (sum >= 0) hits[found++] = static_cast<std::uint32_t>(q << 24 | (c - begin));
    }
  }
  return found;
}

std::size_t screen_rows_scalar(const std::int16_t* row, const std::int16_t* rows,
                               std::size_t stride, std::int32_t base, const std::int32_t* slack,
                               std::span<const std::uint32_t> candidates, std::uint32_t* kept) {
  std::size_t count = 0;
  for (const std::uint32_t c : candidates) {
    std::int32_t sum = base + slack[c];
    for (std::size_t i = 0; i < stride; ++i) sum += row[i] * rows[c * stride + i];
    if (sum >= 0) kept[count++] = c;
  }
  return count;
}

std::size_t screen_signatures_scalar(std::span<const std::uint64_t> words,
                                     const std::uint64_t* columns, std::size_t stride,
                                     std::uint64_t distance, std::size_t begin, std::size_t end,
                                     std::uint32_t* hits) {
  std::size_t found = 0;
  for (std::size_t c = begin; c < end; ++c) {
    std::uint64_t sum = 0;
    for (std::size_t w = 0; w < words.size(); ++w) {
      sum += static_cast<std::uint64_t>(std::popcount(words[w] ^ columns[w * stride + c]));
    }
    if (sum <= distance) hits[found++] = static_cast<std::uint32_t>(c);
  }
  return found;
}

}  // namespace weir::synopses
