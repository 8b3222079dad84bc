#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/count_min_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include "synopses/count_min_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void CellsOf(std::span<const HashRow> rows, std::uint32_t width,
             const std::uint64_t* HWY_RESTRICT hashes, std::size_t n,
             std::uint32_t* HWY_RESTRICT cells, std::size_t stride) {
#if HWY_TARGET == HWY_SCALAR
  cells_of_scalar(rows, width, hashes, n, cells, stride);
#else
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Rebind<std::uint32_t, decltype(d)> d_cell;
  const hn::RepartitionToNarrow<decltype(d)> d32;
  const std::size_t lanes = hn::Lanes(d);
  if (n < lanes) return cells_of_scalar(rows, width, hashes, n, cells, stride);
  const auto low_half = hn::Set(d, 0xffffffffu);
  const auto v_width = hn::BitCast(d32, hn::Set(d, std::uint64_t{width}));
  for (const HashRow& row : rows) {
    const auto a = hn::Set(d, row.a);
    const auto b = hn::Set(d, row.b);
    const auto c = hn::Set(d, row.c);
    const auto one_vector = [&](std::size_t i) HWY_ATTR {
      const auto hash = hn::LoadU(d, hashes + i);
      const auto product =
          hn::Add(hn::Add(a, hn::ShiftRight<32>(hash)) * hn::Add(b, hn::And(hash, low_half)), c);
      const auto ranged = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(product)), v_width);
      hn::StoreU(hn::TruncateTo(d_cell, hn::ShiftRight<32>(ranged)), d_cell, cells + i);
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) one_vector(i);
    // The last vector overlaps the one before: it writes the same cells once more.
    if (i != n) one_vector(n - lanes);
    cells += stride;
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(CellsOf);

void cells_of(std::span<const HashRow> rows, std::uint32_t width, const std::uint64_t* hashes,
              std::size_t n, std::uint32_t* cells, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(CellsOf)(rows, width, hashes, n, cells, stride);
}

void cells_of_scalar(std::span<const HashRow> rows, std::uint32_t width,
                     const std::uint64_t* hashes, std::size_t n, std::uint32_t* cells,
                     std::size_t stride) {
  for (const HashRow& row : rows) {
    for (std::size_t i = 0; i < n; ++i) cells[i] = row.cell(hashes[i], width);
    cells += stride;
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
