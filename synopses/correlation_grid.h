// The grid of StatStream: windows sorted by the cell of their first coefficients, and the ranges of
// neighbours of each cell.
//
// Thread safety: immutable after construction.
//
// Invariants
//  1. Coefficients of two windows whose correlation reaches the threshold lie in one cell or in
//     neighbours: the side is no smaller than their coordinates can differ.
//  2. The order is a function of the coefficients, and of the input's order only among windows
//  whose
//     rounded coefficients are equal.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synopses/correlation_screen.h"

namespace weir::synopses {

// Coefficients that the first screen uses at most; beyond, comparing rounded windows is cheaper.
inline constexpr std::size_t kScreenCoefficients = 16;

class Grid {
 public:
  Grid(std::span<const SearchWindow> windows, double threshold, double coefficient_error);

  // Index of the window at each position.
  const std::vector<std::uint32_t>& order() const { return order_; }
  const Columns& columns() const { return columns_; }
  // A hash of the rounded coefficients at a position.
  std::uint64_t hash(std::size_t position) const { return hashes_[position]; }

  // The end of the cell that a position is in.
  std::size_t cell_end(std::size_t position) const;
  // The positions of this cell and of its neighbours that lie behind the cell's begin, as ascending
  // ranges. REQUIRES: position is in the cell.
  std::vector<std::pair<std::size_t, std::size_t>> later_neighbours(std::size_t position) const;

 private:
  static constexpr std::size_t kMostDimensions = 4;
  std::size_t first_not_below(std::uint64_t key) const;

  std::size_t dimensions_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> keys_;  // ascending; 16 bits a coordinate
  std::vector<std::uint64_t> hashes_;
  Columns columns_;
};

}  // namespace weir::synopses
