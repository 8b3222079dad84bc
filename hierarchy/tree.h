// Tree: a registry compiled into blocks of at most 16 cells that are folded bottom-up.
//
// A group whose members have no sensor in common folds its members, one cell each in the order of
// their identifiers. A group whose members do (a diamond) folds its distinct sensors, in the order
// of their identifiers. More than 16 cells are folded in blocks, and these again (cell.h).
//
// Invariants
//  1. Groups have the numbers of Registry::groups(), leaves those of Registry::sensors().
//  2. Every cell is in one block and has one source: a leaf or a block. A leaf or a block may have
//     several cells. Blocks stand after those that they take cells of.
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hierarchy/cell.h"
#include "hierarchy/registry.h"

namespace weir::hierarchy {

class Tree {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit Tree(std::shared_ptr<const Registry> registry);

  const Registry& registry() const { return *registry_; }
  std::string_view hierarchy() const { return registry_->root().identifier; }
  const Group& group(std::uint32_t g) const { return registry_->groups()[g]; }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(registry_->groups().size()); }
  std::uint32_t leaves() const { return static_cast<std::uint32_t>(registry_->sensors().size()); }
  // Distinct sensors below a group.
  std::uint32_t sensors_below(std::uint32_t g) const { return sensors_below_[g]; }
  // All groups above a leaf, ascending: leaf groups first, the root last.
  std::span<const std::uint32_t> ancestors(std::uint32_t leaf) const {
    return {ancestors_.data() + ancestors_begin_[leaf],
            ancestors_begin_[leaf + 1] - ancestors_begin_[leaf]};
  }
  // The sensors of a group in the order in which it folds them is not promised; their leaves are.
  void for_each_leaf_below(std::uint32_t g, const std::function<void(std::uint32_t)>& visit) const;

  struct Block {
    std::uint32_t first = 0;                   // cell
    std::uint32_t size = 0;                    // cells, at most kFanOut
    std::uint32_t group = kNone;               // that it completes, or kNone
    std::uint32_t out_begin = 0, out_end = 0;  // in outs(): the cells that its fold goes to
  };
  struct Source {
    bool block = false;
    std::uint32_t index = 0;  // a block, or a leaf
  };
  std::uint32_t cells() const { return static_cast<std::uint32_t>(cell_block_.size()); }
  std::span<const Block> blocks() const { return blocks_; }
  std::span<const std::uint32_t> outs() const { return outs_; }
  std::uint32_t block_of_cell(std::uint32_t cell) const { return cell_block_[cell]; }
  Source source_of_cell(std::uint32_t cell) const { return cell_source_[cell]; }
  std::uint32_t block_of_group(std::uint32_t g) const { return group_block_[g]; }
  // The group folds its distinct sensors: what it counts are not its block's cells.
  bool overlaps(std::uint32_t g) const { return overlaps_[g]; }
  std::span<const std::uint32_t> cells_of_leaf(std::uint32_t leaf) const {
    return {leaf_cells_.data() + leaf_cells_begin_[leaf],
            leaf_cells_begin_[leaf + 1] - leaf_cells_begin_[leaf]};
  }

 private:
  std::shared_ptr<const Registry> registry_;
  std::vector<std::uint32_t> sensors_below_;
  std::vector<std::uint32_t> ancestors_, ancestors_begin_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> outs_;
  std::vector<std::uint32_t> cell_block_;
  std::vector<Source> cell_source_;
  std::vector<std::uint32_t> group_block_;
  std::vector<bool> overlaps_;
  std::vector<std::uint32_t> leaf_cells_, leaf_cells_begin_;
};

}  // namespace weir::hierarchy
