// Folds blocks of a tree: one call for many, so that the target is chosen once and a fold stays in
// registers until it is stored.
//
// Thread safety: as the arrays that it writes.
#pragma once

#include <cstdint>
#include <span>

#include "hierarchy/cell.h"
#include "hierarchy/tree.h"

namespace weir::hierarchy {

// What of a panel a fold needs.
struct Folding {
  const Tree& tree;
  Cell* cells;
  // Of each block's cells, but for those of Counts::kPresent.
  std::uint32_t* with_value;
};
// How many cells of a block have a value, once it is folded.
inline std::uint32_t cells_with_value(const Folding& in, std::uint32_t block) {
  const Tree::Block& of = in.tree.blocks()[block];
  return of.counts == Tree::Counts::kPresent
             ? static_cast<std::uint32_t>(in.cells[of.out.cell].present)
             : in.with_value[block];
}

// Folds the blocks in this order, each to its out, or outs.
void fold_blocks(const Folding& in, std::span<const std::uint32_t> blocks);
// Puts a value in the place of another and folds the blocks above, bit for bit as fold_blocks()
// would. REQUIRES: the tree is plain(), the cell has a value, and so has the new one: so nothing
// that is counted changes.
void fold_through(const Folding& in, Tree::Place at, const Cell& value);

}  // namespace weir::hierarchy
