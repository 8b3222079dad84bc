// Tree: a registry compiled into blocks of at most 16 cells that are folded bottom-up.
//
// A group whose members have no sensor in common folds its members, one cell each in the order of
// their identifiers. A group whose members do (a diamond) folds its distinct sensors, in the order
// of their identifiers. More than 16 cells are folded in blocks, and these again (cell.h).
//
// Invariants
//  1. Groups have the numbers of Registry::groups(), leaves those of Registry::sensors().
//  2. Every cell of a block has one source: a leaf or a block. A leaf or a block may be the source
//     of several cells; a leaf is of at least one. Blocks stand after those that they take cells
//     of.
//  3. Blocks stand in the order of their groups; the last block of a group completes it, so the
//     tree's last block is the root's.
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hierarchy/cell.h"
#include "hierarchy/registry.h"

namespace weir::hierarchy {

class Tree {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // What lists of groups above, and walks below groups that are above something with several
  // parents, may come to. A plain tree stays below it up to 10^7 groups at the usual depths.
  static constexpr std::uint64_t kMaxReach = std::uint64_t{1} << 26;

  // Whether the registry's Tree may come to more than kMaxReach, which few lines of a hostile
  // registry can: kConfig. Linear in the registry.
  static Status check(const Registry& registry);
  // REQUIRES: check().
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
    const List list = lists_[leaf_list_[leaf]];
    return {ancestors_.data() + list.begin, list.size};
  }

  // How many cells of a block have a value.
  enum class Counts : std::uint8_t {
    kPresent,  // as many as the fold says: the cells are of leaves, or of blocks of leaves
    kCells,    // to be seen one by one: groups are among the members
    kBlocks,   // as many as its blocks have together: they are of the same group
  };
  // A cell that takes a value, and the block that folds it.
  struct Place {
    std::uint32_t cell = 0, block = 0;
  };
  // Four to a cache line.
  struct Block {
    std::uint32_t first = 0;  // cell; the block's cells lie side by side
    // Where its fold goes: the first of its places, or, of those whose fold goes nowhere, a cell
    // that is no block's and kNone. With `several` the block is the number of a list.
    Place out;
    std::uint8_t size = 0;  // cells, at most kFanOut
    Counts counts = Counts::kPresent;
    bool several = false;
  };
  // Every leaf and every block is the source of one cell at most. Costs a look at each.
  bool plain() const;
  // Those of the blocks, and then those that are no block's.
  std::uint32_t cells() const { return cells_; }
  std::span<const Block> blocks() const { return blocks_; }
  // Where the fold of a block goes.
  std::span<const Place> outs(std::uint32_t block) const {
    const Block& from = blocks_[block];
    if (from.several) [[unlikely]]
      return more_outs_.of(from.out.block);
    return {&from.out, from.out.block != kNone};
  }
  // The block that is a cell's source, or kNone: a leaf is. REQUIRES: a block's cell.
  std::span<const std::uint32_t> sources() const { return sources_; }
  // The group that a block completes, or kNone.
  std::uint32_t group_of_block(std::uint32_t block) const { return block_group_[block]; }
  std::uint32_t block_of_group(std::uint32_t g) const { return group_block_[g]; }
  // The group folds its distinct sensors: what it counts are not its block's cells.
  bool overlaps(std::uint32_t g) const { return overlaps_[g]; }
  // The cells of a leaf.
  std::span<const Place> places(std::uint32_t leaf) const {
    const Place& only = leaf_place_[leaf];
    if (only.cell == kNone) [[unlikely]]
      return more_places_.of(only.block);
    return {&only, 1};
  }

 private:
  struct Builder;
  struct List {
    std::uint32_t begin = 0, size = 0;  // in ancestors_
  };
  // Lists of places, by number.
  struct Places {
    std::vector<Place> all;
    std::vector<std::uint32_t> begin{0};
    std::span<const Place> of(std::uint32_t list) const {
      return {all.data() + begin[list], begin[list + 1] - begin[list]};
    }
    std::uint32_t close() {  // what has been added is the next list
      begin.push_back(static_cast<std::uint32_t>(all.size()));
      return static_cast<std::uint32_t>(begin.size() - 2);
    }
  };

  std::shared_ptr<const Registry> registry_;
  std::vector<std::uint32_t> sensors_below_;
  std::vector<bool> overlaps_;
  // One list for each group: itself and those above. Leaves with one parent share its list; the
  // others have their own.
  std::vector<std::uint32_t> ancestors_, leaf_list_;
  std::vector<List> lists_;
  std::uint32_t cells_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> sources_, block_group_, group_block_;
  std::vector<Place> leaf_place_;  // a leaf of several has kNone and the number of a list
  Places more_places_, more_outs_;
};

}  // namespace weir::hierarchy
