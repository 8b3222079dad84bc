#include "hierarchy/panel.h"

#include <algorithm>
#include <array>
#include <bit>

#include "hierarchy/fold.h"

namespace weir::hierarchy {

bool operator==(const Aggregate& a, const Aggregate& b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return bits(a.sum) == bits(b.sum) && bits(a.min) == bits(b.min) && bits(a.max) == bits(b.max) &&
         a.present == b.present && a.count == b.count;
}

// Blocks that are to be folded, in an order in which each stands after those that it takes cells
// of: so they may be folded as soon as the batch is full.
struct Panel::Batch {
  explicit Batch(Panel& of) : panel(of) {}
  void add(std::uint32_t block) {
    if (size == kBatch) fold();
    blocks[size++] = block;
  }
  void fold() {
    const Tree& tree = *panel.tree_;
    fold_blocks({tree.blocks().data(), tree.outs().data(), tree.sources().data(),
                 panel.cells_.data(), panel.with_value_.data()},
                {blocks.data(), size});
    size = 0;
  }

  Panel& panel;
  std::uint32_t size = 0;
  std::array<std::uint32_t, kBatch> blocks;
};

Panel::Panel(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      cells_(tree_->cells()),
      marks_(tree_->blocks().size() / 64 + 1),
      stale_(tree_->blocks().size()),
      with_value_(tree_->blocks().size()) {}

// A block whose leaves have changed.
void Panel::mark(std::uint32_t block) {
  Marks& marks = marks_[block / 64];
  const std::uint64_t bit = std::uint64_t{1} << block % 64;
  marks.touched |= bit;
  marks.used |= bit;
  if ((marks.dirty & bit) != 0) return;
  marks.dirty |= bit;
  if (new_blocks_ < kFew) new_block_[new_blocks_] = block;
  ++new_blocks_;
}

// Makes the blocks above a dirty block dirty, up to those that are. As deep as groups lie inside
// groups (kMaxDepth), and blocks inside them.
void Panel::raise_above(std::uint32_t block) {
  const auto outs = tree_->outs_of(block);
  for (const Tree::Place& place : outs) {
    const std::uint32_t lane = place.cell - tree_->blocks()[place.block].first;
    stale_[place.block] |= static_cast<std::uint16_t>(1u << lane);
    Marks& marks = marks_[place.block / 64];
    const std::uint64_t bit = std::uint64_t{1} << place.block % 64;
    if ((marks.dirty & bit) != 0) continue;
    marks.dirty |= bit;
    raise_above(place.block);
  }
}

// The dirty blocks below a dirty block, and then itself, all clean from now on.
void Panel::collect(std::uint32_t block, Batch& batch) {
  std::uint32_t stale = stale_[block];
  stale_[block] = 0;
  const std::uint32_t* sources = tree_->sources().data() + tree_->blocks()[block].first;
  for (; stale != 0; stale &= stale - 1) {
    const std::uint32_t source = sources[std::countr_zero(stale)];
    if (dirty(source)) collect(source, batch);
  }
  marks_[block / 64].dirty &= ~(std::uint64_t{1} << block % 64);
  batch.add(block);
}

// All dirty blocks, in the order of memory. Outs lie behind: the sweep comes to them.
void Panel::sweep() {
  Batch batch(*this);
  for (std::uint32_t word = 0; word < marks_.size(); ++word) {
    std::uint64_t& dirty = marks_[word].dirty;
    while (dirty != 0) {
      const std::uint32_t block = word * 64 + static_cast<std::uint32_t>(std::countr_zero(dirty));
      dirty &= dirty - 1;
      stale_[block] = 0;
      for (const Tree::Place& out : tree_->outs_of(block)) {
        marks_[out.block / 64].dirty |= std::uint64_t{1} << out.block % 64;
      }
      batch.add(block);
    }
  }
  batch.fold();
}

void Panel::refresh(std::uint32_t block) {
  if (new_blocks_ > kFew) {
    sweep();
  } else {
    for (std::uint32_t i = 0; i < new_blocks_; ++i) raise_above(new_block_[i]);
  }
  new_blocks_ = 0;
  if (!dirty(block)) return;
  Batch batch(*this);
  collect(block, batch);
  batch.fold();
}

Aggregate Panel::at(std::uint32_t group) {
  const std::uint32_t block = tree_->block_of_group(group);
  refresh(block);
  const Cell& cell = cells_[tree_->blocks()[block].result];
  if (cell.present == 0) return {};
  const std::uint32_t count = tree_->overlaps(group) ? count_members(group) : with_value_[block];
  return {cell.sum, cell.min, cell.max, static_cast<std::uint32_t>(cell.present), count};
}

std::uint32_t Panel::count_members(std::uint32_t group) {
  std::uint32_t count = 0;
  for (const Member member : tree_->group(group).members) {
    if (!member.group) {
      count += has(member.index);
      continue;
    }
    const std::uint32_t block = tree_->block_of_group(member.index);
    refresh(block);
    count += cells_[tree_->blocks()[block].result].present > 0;
  }
  return count;
}

void Panel::take_touched(std::vector<std::uint32_t>& groups) {
  groups.clear();
  for (std::uint32_t word = 0; word < marks_.size(); ++word) {
    std::uint64_t& touched = marks_[word].touched;
    while (touched != 0) {
      const std::uint32_t id = word * 64 + static_cast<std::uint32_t>(std::countr_zero(touched));
      touched &= touched - 1;
      for (const Tree::Place& out : tree_->outs_of(id)) {
        marks_[out.block / 64].touched |= std::uint64_t{1} << out.block % 64;
      }
      const std::uint32_t group = tree_->blocks()[id].group;
      if (group != Tree::kNone) groups.push_back(group);
    }
  }
}

void Panel::reset() {
  for (std::uint32_t word = 0; word < marks_.size(); ++word) {
    std::uint64_t& used = marks_[word].used;
    while (used != 0) {
      const std::uint32_t id = word * 64 + static_cast<std::uint32_t>(std::countr_zero(used));
      used &= used - 1;
      for (const Tree::Place& out : tree_->outs_of(id)) {
        marks_[out.block / 64].used |= std::uint64_t{1} << out.block % 64;
      }
      const Tree::Block& block = tree_->blocks()[id];
      std::fill_n(cells_.begin() + block.first, block.size, Cell());
      cells_[block.result] = Cell();
      stale_[id] = 0;
      with_value_[id] = 0;
    }
    marks_[word].dirty = marks_[word].touched = 0;
  }
  new_blocks_ = 0;
}

std::uint64_t Panel::memory_bytes() const {
  return cells_.size() * sizeof(Cell) + marks_.size() * sizeof(Marks) +
         stale_.size() * sizeof(std::uint16_t) + with_value_.size() * sizeof(std::uint32_t);
}

}  // namespace weir::hierarchy
