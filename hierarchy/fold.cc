#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hierarchy/fold.cc"
#include <hwy/foreach_target.h>  // compiles the kernels below once for each target
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hierarchy/fold.h"

HWY_BEFORE_NAMESPACE();
namespace weir::hierarchy {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
using Tag = hn::CappedTag<double, 4>;
using Vec = hn::Vec<Tag>;
constexpr std::size_t kWidth = hn::MaxLanes(Tag());
constexpr std::size_t kParts = 4 / kWidth;
static_assert(kWidth == 2 || kWidth == 4);

// Several cells added, in every way: which lane wants which is decided at the end.
struct Added {
  Vec sum[kParts], min[kParts], max[kParts];
};

HWY_INLINE Added Join(const Added& a, const Added& b) {
  Added joined;
  for (std::size_t p = 0; p < kParts; ++p) {
    joined.sum[p] = hn::Add(a.sum[p], b.sum[p]);
    joined.min[p] = hn::Min(a.min[p], b.min[p]);
    joined.max[p] = hn::Max(a.max[p], b.max[p]);
  }
  return joined;
}

HWY_INLINE Added Read(const Cell* HWY_RESTRICT cell) {
  Added read;
  for (std::size_t p = 0; p < kParts; ++p) {
    read.sum[p] = read.min[p] = read.max[p] = hn::Load(Tag(), &cell->sum + p * kWidth);
  }
  return read;
}

// What cell `i` is once cells kStep apart and more have been added, of kSize cells of which those
// from n on are empty. More than half of the cells are there. Depth first: few registers.
template <std::uint32_t kSize, std::uint32_t kStep>
HWY_INLINE Added Halves(const Cell* HWY_RESTRICT cells, const Cell* HWY_RESTRICT empty,
                        std::uint32_t n, std::uint32_t i) {
  if constexpr (kStep == kSize) {
    return Read(i < kSize / 2 + 1 || i < n ? cells + i : empty);
  } else {
    return Join(Halves<kSize, kStep * 2>(cells, empty, n, i),
                Halves<kSize, kStep * 2>(cells, empty, n, i + kStep));
  }
}

// sum, min, max, present; and one NaN for all (∞ − ∞ has another sign on every processor).
HWY_INLINE void Write(const Added& added, Cell* HWY_RESTRICT into) {
  const Tag d;
  Vec lanes[kParts];
  if constexpr (kParts == 1) {
    lanes[0] = hn::ConcatUpperLower(d, hn::OddEven(added.sum[0], added.max[0]),
                                    hn::OddEven(added.min[0], added.sum[0]));
  } else {
    lanes[0] = hn::OddEven(added.min[0], added.sum[0]);
    lanes[1] = hn::OddEven(added.sum[1], added.max[1]);
  }
  const auto nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t p = 0; p < kParts; ++p) {
    const auto canonical = hn::IfThenElse(hn::IsNaN(lanes[p]), nan, lanes[p]);
    hn::Store(canonical, d, &into->sum + p * kWidth);
  }
}

// Steps that add empty cells alone change nothing, since no cell has −0: they are left out.
HWY_INLINE void FoldCells(const Cell* HWY_RESTRICT cells, std::uint32_t n,
                          const Cell* HWY_RESTRICT empty, Cell* HWY_RESTRICT into) {
  if (n > 8) return Write(Halves<16, 1>(cells, empty, n, 0), into);
  if (n > 4) return Write(Halves<8, 1>(cells, empty, n, 0), into);
  if (n > 2) return Write(Halves<4, 1>(cells, empty, n, 0), into);
  if (n == 2) return Write(Halves<2, 1>(cells, empty, n, 0), into);
  Write(Read(n == 1 ? cells : empty), into);
}

// What cell `i` is once those that differ from it in bits from kBit on are added. The same tree as
// that of Halves, seen from any cell: a step adds two cells, in either order.
template <std::uint32_t kSize, std::uint32_t kBit>
HWY_INLINE Added Kin(const Cell* HWY_RESTRICT cells, const Cell* HWY_RESTRICT empty,
                     std::uint32_t n, std::uint32_t i) {
  if constexpr (kBit == kSize) {
    return Read(i < n ? cells + i : empty);
  } else {
    return Join(Kin<kSize, kBit * 2>(cells, empty, n, i),
                Kin<kSize, kBit * 2>(cells, empty, n, i ^ kBit));
  }
}

// The fold of cells of which `i` is another now. All that does not hang on it can be added before
// it is known: it passes through as many additions as there are steps, and not through memory.
template <std::uint32_t kSize, std::uint32_t kBit = kSize / 2>
HWY_INLINE Added Climb(const Added& now, const Cell* HWY_RESTRICT cells,
                       const Cell* HWY_RESTRICT empty, std::uint32_t n, std::uint32_t i) {
  if constexpr (kBit == 0) {
    return now;
  } else {
    const Added joined = Join(now, Kin<kSize, kBit * 2>(cells, empty, n, i ^ kBit));
    return Climb<kSize, kBit / 2>(joined, cells, empty, n, i);
  }
}

void FoldThrough(const Folding& in, Tree::Place at, const Cell& value) {
  const Tree::Block* blocks = in.tree.blocks().data();
  const Cell empty;
  in.cells[at.cell] = value;
  Added now = Read(&value);
  while (at.block != Tree::kNone) {
    const Tree::Block& block = blocks[at.block];
    const Cell* cells = in.cells + block.first;
    const std::uint32_t i = at.cell - block.first, n = block.size;
    if (n > 8) {
      now = Climb<16>(now, cells, &empty, n, i);
    } else if (n > 4) {
      now = Climb<8>(now, cells, &empty, n, i);
    } else if (n > 2) {
      now = Climb<4>(now, cells, &empty, n, i);
    } else if (n > 1) {
      now = Climb<2>(now, cells, &empty, n, i);
    }
    at = block.out;
    Write(now, in.cells + at.cell);
  }
}
#else
HWY_INLINE void FoldCells(const Cell* cells, std::uint32_t n, const Cell*, Cell* into) {
  *into = fold_scalar(cells, n).cell;
}

void FoldThrough(const Folding& in, Tree::Place at, const Cell& value) {
  const Tree::Block* blocks = in.tree.blocks().data();
  in.cells[at.cell] = value;
  for (; at.block != Tree::kNone; at = blocks[at.block].out) {
    const Tree::Block& block = blocks[at.block];
    FoldCells(in.cells + block.first, block.size, nullptr, in.cells + block.out.cell);
  }
}
#endif

HWY_INLINE std::uint32_t CountCells(const Cell* cells, std::uint32_t n) {
  std::uint32_t with_value = 0;
  for (std::uint32_t i = 0; i < n; ++i) with_value += cells[i].present > 0;
  return with_value;
}

void FoldOne(const Cell* cells, std::uint32_t n, Folded* into) {
  const Cell empty;
  FoldCells(cells, n, &empty, &into->cell);
  into->with_value = CountCells(cells, n);
}

// Folds between a prefetch and its use: enough to hide memory, few enough to stay in L1.
constexpr std::size_t kAhead = 8;

HWY_INLINE void Prefetch(const Folding& in, const Tree::Block& block) {
  const Cell* cells = in.cells + block.first;
  for (std::uint32_t i = 0; i < block.size; i += 2) __builtin_prefetch(cells + i);
  __builtin_prefetch(in.cells + block.out.cell, 1);
}

HWY_INLINE std::uint32_t WithValue(const Folding& in, const Tree::Block& block) {
  if (block.counts == Tree::Counts::kCells) return CountCells(in.cells + block.first, block.size);
  std::uint32_t with_value = 0;
  const std::uint32_t* sources = in.tree.sources().data() + block.first;
  for (std::uint32_t i = 0; i < block.size; ++i) with_value += cells_with_value(in, sources[i]);
  return with_value;
}

void FoldBlocks(const Folding& in, const std::uint32_t* ids, std::size_t n) {
  const Tree::Block* blocks = in.tree.blocks().data();
  const Cell empty;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) Prefetch(in, blocks[ids[i + kAhead]]);
    const Tree::Block& block = blocks[ids[i]];
    Cell& result = in.cells[block.out.cell];
    FoldCells(in.cells + block.first, block.size, &empty, &result);
    if (block.several) {
      for (const Tree::Place& out : in.tree.outs(ids[i])) in.cells[out.cell] = result;
    }
    if (block.counts != Tree::Counts::kPresent) in.with_value[ids[i]] = WithValue(in, block);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::hierarchy
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::hierarchy {

HWY_EXPORT(FoldOne);
HWY_EXPORT(FoldBlocks);
HWY_EXPORT(FoldThrough);

Folded fold(const Cell* cells, std::uint32_t n) {
  Folded folded;
  HWY_DYNAMIC_DISPATCH(FoldOne)(cells, n, &folded);
  return folded;
}

void fold_blocks(const Folding& in, std::span<const std::uint32_t> blocks) {
  HWY_DYNAMIC_DISPATCH(FoldBlocks)(in, blocks.data(), blocks.size());
}

void fold_through(const Folding& in, Tree::Place at, const Cell& value) {
  HWY_DYNAMIC_DISPATCH(FoldThrough)(in, at, value);
}

Folded fold_scalar(const Cell* cells, std::uint32_t n) {
  Cell padded[kFanOut];
  std::copy_n(cells, n, padded);
  for (std::uint32_t step = kFanOut / 2; step > 0; step /= 2) {
    for (std::uint32_t i = 0; i < step; ++i) {
      const Cell& other = padded[i + step];
      padded[i].sum += other.sum;
      padded[i].min = std::min(padded[i].min, other.min);
      padded[i].max = std::max(padded[i].max, other.max);
      padded[i].present += other.present;
    }
  }
  Folded folded{padded[0]};
  if (std::isnan(folded.cell.sum)) folded.cell.sum = std::numeric_limits<double>::quiet_NaN();
  for (std::uint32_t i = 0; i < n; ++i) folded.with_value += cells[i].present > 0;
  return folded;
}

}  // namespace weir::hierarchy
#endif  // HWY_ONCE
