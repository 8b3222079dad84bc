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

// Marks a block, and those above it until one has the marks already. As deep as groups lie inside
// groups (kMaxDepth), and blocks inside them.
void Panel::raise(std::uint32_t block) {
  for (;;) {
    Marks& marks = marks_[block / 64];
    const std::uint64_t bit = std::uint64_t{1} << block % 64;
    if ((marks.dirty & marks.touched & bit) != 0) return;
    dirty_blocks_ += (marks.dirty & bit) == 0;
    marks.dirty |= bit;
    marks.touched |= bit;
    marks.used |= bit;
    const Tree::Block& from = tree_->blocks()[block];
    if (from.out_begin == from.out_end) return;
    for (std::uint32_t out = from.out_begin; out < from.out_end; ++out) {
      const Tree::Place place = tree_->outs()[out];
      stale_[place.block] |=
          static_cast<std::uint16_t>(1u << (place.cell - tree_->blocks()[place.block].first));
      if (out != from.out_begin) raise(place.block);
    }
    block = tree_->outs()[from.out_begin].block;
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
  --dirty_blocks_;
  batch.add(block);
}

// All dirty blocks, in memory's order.
void Panel::sweep(Batch& batch) {
  for (std::uint32_t word = 0; word < marks_.size(); ++word) {
    std::uint64_t dirty = marks_[word].dirty;
    marks_[word].dirty = 0;
    for (; dirty != 0; dirty &= dirty - 1) {
      const std::uint32_t block = word * 64 + static_cast<std::uint32_t>(std::countr_zero(dirty));
      stale_[block] = 0;
      batch.add(block);
    }
  }
  dirty_blocks_ = 0;
}

void Panel::refresh(std::uint32_t block) {
  if (!dirty(block)) return;
  Batch batch(*this);
  // All are below the root, unless it folds sensors. Many are found faster where they lie.
  const bool root = block + 1 == tree_->blocks().size() && !tree_->overlaps(tree_->groups() - 1);
  if (root && dirty_blocks_ > marks_.size() / 4 + 4) {
    sweep(batch);
  } else {
    collect(block, batch);
  }
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
    std::uint64_t touched = marks_[word].touched;
    if (touched == 0) continue;
    marks_[word].touched = 0;
    for (; touched != 0; touched &= touched - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(touched));
      const std::uint32_t group = tree_->blocks()[word * 64 + bit].group;
      if (group != Tree::kNone) groups.push_back(group);
    }
  }
}

void Panel::reset() {
  for (std::uint32_t word = 0; word < marks_.size(); ++word) {
    std::uint64_t used = marks_[word].used;
    if (used == 0) continue;
    marks_[word] = {};
    for (; used != 0; used &= used - 1) {
      const std::uint32_t id = word * 64 + static_cast<std::uint32_t>(std::countr_zero(used));
      const Tree::Block& block = tree_->blocks()[id];
      std::fill_n(cells_.begin() + block.first, block.size, Cell());
      cells_[block.result] = Cell();
      stale_[id] = 0;
      with_value_[id] = 0;
    }
  }
  dirty_blocks_ = 0;
}

std::uint64_t Panel::memory_bytes() const {
  return cells_.size() * sizeof(Cell) + marks_.size() * sizeof(Marks) +
         stale_.size() * sizeof(std::uint16_t) + with_value_.size() * sizeof(std::uint32_t);
}

}  // namespace weir::hierarchy
