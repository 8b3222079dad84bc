// Cell: the values below one member of a group; and fold(), which makes one cell of up to 16.
//
// fold() adds by halves: padded with empty cells to 16, cell i takes cell i + 8 to it for i < 8,
// then i + 4 for i < 4, then i + 2, then i + 1. More cells are folded in blocks of 16, and their
// results again, until one is left: that is the fixed tree, so a sum depends on the values alone.
// Thread safety: immutable values; fold() is pure.
#pragma once

#include <cstdint>
#include <limits>

namespace weir::hierarchy {

inline constexpr std::uint32_t kFanOut = 16;

// One 32-byte load. `present` counts sensors with a value; a double, so that it folds like the
// rest.
struct alignas(32) Cell {
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double present = 0;

  static Cell of(double value) { return {value, value, value, 1}; }
};

struct Folded {
  Cell cell;
  std::uint32_t with_value = 0;  // of the cells
};
// The best target of this machine, and its scalar twin, bit for bit alike. REQUIRES: n <= kFanOut.
Folded fold(const Cell* cells, std::uint32_t n);
Folded fold_scalar(const Cell* cells, std::uint32_t n);

}  // namespace weir::hierarchy
