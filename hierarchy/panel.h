// Panel: the values of a tree's leaves and what its groups come to, folded again only where a value
// has changed and only when somebody asks.
//
// set() is three stores without a branch: the value, a mark of its block, and the block's number.
// at() folds the dirty blocks below the group. Marks move up the tree when somebody asks: after a
// few calls of set() each by itself, so that only what is below the group is folded; after many in
// one sweep in the order of memory, which folds all that is dirty.
//
// Invariants
//  1. What at() gives is a function of the leaves' values alone.
//  2. A dirty block that has not been written since the last refresh has its outs stale in their
//  blocks, which are dirty too.
//  3. A block that is neither used nor above one has the cells and the result it was made with.
// Thread safety: single-writer.
// Source: ARCHITECTURE "The hierarchy needs no subtraction".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "hierarchy/tree.h"

namespace weir::hierarchy {

// What a group comes to.
struct Aggregate {
  double sum = 0;
  double min = 0, max = 0;    // 0 where nobody has a value
  std::uint32_t present = 0;  // distinct sensors with a value
  std::uint32_t count = 0;    // direct members with one

  // Equal bits: results are compared by what they print.
  friend bool operator==(const Aggregate& a, const Aggregate& b);
};

struct Folding;

class Panel {
 public:
  explicit Panel(std::shared_ptr<const Tree> tree);

  const Tree& tree() const { return *tree_; }
  // REQUIRES: finite. −0 is taken as 0.
  void set(std::uint32_t leaf, double value) { put(leaf, Cell::of(value + 0.0)); }
  void clear(std::uint32_t leaf) { put(leaf, Cell()); }
  // set(), and what lies above is folded at once, for those who ask for all of it each time.
  // REQUIRES: the tree is plain().
  void set_through(std::uint32_t leaf, double value);
  // What the groups above a leaf come to, in the order of Tree::ancestors(): visit(group,
  // aggregate). REQUIRES: the last call that wrote was set_through().
  template <class Visit>
  void visit_above(std::uint32_t leaf, const Visit& visit) const {
    const Tree::Block* blocks = tree_->blocks().data();
    for (std::uint32_t block = tree_->places(leaf).front().block; block != Tree::kNone;
         block = blocks[block].out.block) {
      const std::uint32_t group = tree_->group_of_block(block);
      if (group != Tree::kNone) visit(group, result_of(block));
    }
  }
  bool has(std::uint32_t leaf) const {
    return cells_[tree_->places(leaf).front().cell].present > 0;
  }
  // REQUIRES: has().
  double value(std::uint32_t leaf) const { return cells_[tree_->places(leaf).front().cell].sum; }
  // Costs the folds of the dirty blocks below.
  Aggregate at(std::uint32_t group);
  // Groups below which set() or clear() has been called since the last time, ascending; their
  // values may be as before. Whether somebody asked for them meanwhile does not matter.
  void take_touched(std::vector<std::uint32_t>& groups);
  // As when it was made. Costs what has been touched since, and a look at a byte of each block.
  void reset();
  // A function of the tree.
  std::uint64_t memory_bytes() const;

 private:
  // Of a block. No integer, since stores of bytes may alias whatever set() would keep in registers.
  enum class Marks : std::uint8_t {
    kNone = 0,
    kDirty = 1,    // a cell is other than when it was folded
    kTouched = 2,  // a leaf's cell has been written since take_touched()
    kUsed = 4,     // the same, since reset()
    kAll = 7,
  };
  friend constexpr Marks operator|(Marks a, Marks b) {
    return static_cast<Marks>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
  }
  static constexpr Marks without(Marks a, Marks b) {
    return static_cast<Marks>(static_cast<std::uint8_t>(a) & ~static_cast<std::uint8_t>(b));
  }
  friend constexpr bool operator&(Marks a, Marks b) {
    return (static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b)) != 0;
  }
  // Written cells whose blocks are raised one by one: about as many as cost what a sweep does.
  static constexpr std::uint32_t kFew = 64;
  static constexpr std::uint32_t kBatch = 128;  // blocks that are folded in one call
  struct Batch;

  void put(std::uint32_t leaf, const Cell& cell) {
    for (const Tree::Place place : tree_->places(leaf)) {
      cells_[place.cell] = cell;
      marks_[place.block] = Marks::kAll;
      written_[written_count_++ % kFew] = place.block;
    }
  }
  static std::uint64_t take_bits(Marks* marks, Marks mark);
  template <class Visit>
  void take_marked(Marks mark, const Visit& visit);
  void raise_above(std::uint32_t block);
  void refresh(std::uint32_t block);
  void collect(std::uint32_t block, Batch& batch);
  void sweep();
  void settle();
  [[gnu::noinline]] void fold_above(std::uint32_t from);  // a block, and those above
  Folding folding();
  // What a clean block's fold says; of a group that overlaps(), but for its count.
  Aggregate result_of(std::uint32_t id) const {
    const Tree::Block& block = tree_->blocks()[id];
    const Cell& cell = cells_[block.out.cell];
    if (cell.present == 0) return {};
    const auto present = static_cast<std::uint32_t>(cell.present);
    return {cell.sum, cell.min, cell.max, present,
            block.counts == Tree::Counts::kPresent ? present : with_value_[id]};
  }
  std::uint32_t count_members(std::uint32_t group);

  std::shared_ptr<const Tree> tree_;
  std::vector<Cell> cells_;
  std::vector<Marks> marks_;          // by block, and zeros up to a multiple of 64
  std::vector<std::uint16_t> stale_;  // bit c: cell c of the block has a source that was dirty
  std::vector<std::uint32_t> with_value_;
  // Since the last refresh. Beyond kFew only the count is of use.
  std::array<std::uint32_t, kFew> written_{};
  std::uint64_t written_count_ = 0;
  bool clean_ = true;  // no block is dirty but those of written_
};

}  // namespace weir::hierarchy
