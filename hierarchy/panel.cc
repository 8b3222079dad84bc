#include "hierarchy/panel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

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
    fold_blocks(panel.folding(), {blocks.data(), size});
    size = 0;
  }

  Panel& panel;
  std::uint32_t size = 0;
  std::array<std::uint32_t, kBatch> blocks;
};

Panel::Panel(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      cells_(tree_->cells()),
      marks_((tree_->blocks().size() + 63) / 64 * 64),
      stale_(tree_->blocks().size()),
      with_value_(tree_->blocks().size()) {}

// Takes a mark from 64 blocks; which have had it.
std::uint64_t Panel::take_bits(Marks* marks, Marks mark) {
  static_assert(std::endian::native == std::endian::little && sizeof(Marks) == 1);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t mask = kOnes * static_cast<std::uint64_t>(mark);
  std::uint64_t words[8], any = 0;
  std::memcpy(words, marks, sizeof words);
  for (const std::uint64_t word : words) any |= word;
  if ((any & mask) == 0) return 0;
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    // The lowest bits of eight bytes, moved side by side into the highest byte.
    const std::uint64_t lowest = words[i] >> std::countr_zero(static_cast<unsigned>(mark)) & kOnes;
    bits |= (lowest * 0x0102040810204080 >> 56) << 8 * i;
    words[i] &= ~mask;
  }
  std::memcpy(marks, words, sizeof words);
  return bits;
}

// Visits the blocks that have a mark and those above them, ascending, and takes the mark from all.
template <class Visit>
void Panel::take_marked(Marks mark, const Visit& visit) {
  for (std::uint32_t from = 0; from < marks_.size(); from += 64) {
    std::uint64_t bits = take_bits(&marks_[from], mark);
    while (bits != 0) {
      const std::uint32_t block = from + static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
      for (const Tree::Place& out : tree_->outs(block)) {
        // Outs lie behind: among these 64, or where the loop will come to.
        if (out.block - from < 64) {
          bits |= std::uint64_t{1} << (out.block - from);
        } else {
          marks_[out.block] = marks_[out.block] | mark;
        }
      }
      visit(block);
    }
  }
}

// Makes the blocks above a dirty block dirty, up to those that are. As deep as groups lie inside
// groups (kMaxDepth), and blocks inside them.
void Panel::raise_above(std::uint32_t block) {
  for (const Tree::Place& place : tree_->outs(block)) {
    const std::uint32_t lane = place.cell - tree_->blocks()[place.block].first;
    const auto bit = static_cast<std::uint16_t>(1u << lane);
    if ((marks_[place.block] & Marks::kDirty) && (stale_[place.block] & bit) != 0) continue;
    stale_[place.block] |= bit;
    marks_[place.block] = marks_[place.block] | Marks::kDirty;
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
    if (marks_[source] & Marks::kDirty) collect(source, batch);
  }
  marks_[block] = without(marks_[block], Marks::kDirty);
  batch.add(block);
}

void Panel::sweep() {
  Batch batch(*this);
  take_marked(Marks::kDirty, [&](std::uint32_t block) {
    if (stale_[block] != 0) stale_[block] = 0;
    batch.add(block);
  });
  batch.fold();
}

void Panel::settle() {
  sweep();
  written_count_ = 0;
  clean_ = true;
}

void Panel::set_through(std::uint32_t leaf, double value) {
  if (!clean_ || written_count_ != 0) settle();
  const Tree::Place place = tree_->places(leaf).front();
  marks_[place.block] = marks_[place.block] | Marks::kTouched | Marks::kUsed;
  if (cells_[place.cell].present > 0) [[likely]]
    return fold_through(folding(), place, Cell::of(value + 0.0));
  cells_[place.cell] = Cell::of(value + 0.0);
  fold_above(place.block);
}

void Panel::fold_above(std::uint32_t from) {
  Batch batch(*this);
  for (std::uint32_t block = from; block != Tree::kNone; block = tree_->blocks()[block].out.block) {
    batch.add(block);
  }
  batch.fold();
}

void Panel::refresh(std::uint32_t block) {
  if (written_count_ > kFew) {
    settle();
  } else if (written_count_ > 0) {
    for (std::uint32_t i = 0; i < written_count_; ++i) raise_above(written_[i]);
    written_count_ = 0;
    clean_ = false;
  }
  if (!(marks_[block] & Marks::kDirty)) return;
  Batch batch(*this);
  collect(block, batch);
  batch.fold();
}

Folding Panel::folding() { return {*tree_, cells_.data(), with_value_.data()}; }

Aggregate Panel::at(std::uint32_t group) {
  const std::uint32_t block = tree_->block_of_group(group);
  refresh(block);
  Aggregate aggregate = result_of(block);
  if (aggregate.present != 0 && tree_->overlaps(group)) aggregate.count = count_members(group);
  return aggregate;
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
    count += cells_[tree_->blocks()[block].out.cell].present > 0;
  }
  return count;
}

void Panel::take_touched(std::vector<std::uint32_t>& groups) {
  groups.clear();
  take_marked(Marks::kTouched, [&](std::uint32_t block) {
    const std::uint32_t group = tree_->group_of_block(block);
    if (group != Tree::kNone) groups.push_back(group);
  });
}

void Panel::reset() {
  take_marked(Marks::kUsed, [&](std::uint32_t id) {
    const Tree::Block& block = tree_->blocks()[id];
    std::fill_n(cells_.begin() + block.first, block.size, Cell());
    cells_[block.out.cell] = Cell();
    marks_[id] = Marks::kNone;
    stale_[id] = 0;
    with_value_[id] = 0;
  });
  written_count_ = 0;
  clean_ = true;
}

std::uint64_t Panel::memory_bytes() const {
  return sizeof(Panel) + cells_.size() * sizeof(Cell) + marks_.size() +
         stale_.size() * sizeof(std::uint16_t) + with_value_.size() * sizeof(std::uint32_t);
}

}  // namespace weir::hierarchy
