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

// What of a tree and of a panel a fold needs.
struct Folding {
  const Tree::Block* blocks = nullptr;
  const Tree::Place* outs = nullptr;
  const std::uint32_t* sources = nullptr;
  Cell* cells = nullptr;
  std::uint32_t* with_value = nullptr;  // of each block's cells
};

// Folds the blocks in this order, each to its result and to its outs.
void fold_blocks(const Folding& in, std::span<const std::uint32_t> blocks);

}  // namespace weir::hierarchy
