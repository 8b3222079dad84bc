#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/dft_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include <bit>

#include "synopses/dft_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The widest vectors that a padded row is a multiple of.
using Tag = hn::CappedTag<double, kDftPad>;

// One vector of sums a loop is bound by the latency of its addition; two or four run side by side.
// The first group also takes the moments, which are chains of their own.
template <std::size_t kVectors, bool kMoments>
HWY_INLINE void AddColumns(const std::uint64_t* HWY_RESTRICT bits, std::size_t n,
                           const double* HWY_RESTRICT twiddles, std::size_t stride,
                           double* HWY_RESTRICT sums, DftMoments& moments) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::LoadU(d, sums);
  auto s1 = kVectors > 1 ? hn::LoadU(d, sums + lanes) : s0;
  auto s2 = kVectors > 2 ? hn::LoadU(d, sums + 2 * lanes) : s0;
  auto s3 = kVectors > 3 ? hn::LoadU(d, sums + 3 * lanes) : s0;
  DftMoments m = moments;
  for (std::size_t i = 0; i < n; ++i, twiddles += stride) {
    const double value = std::bit_cast<double>(bits[i]);
    const double centred = value - m.reference;
    const auto x = hn::Set(d, centred);
    s0 = hn::Add(s0, hn::Mul(x, hn::LoadU(d, twiddles)));
    if constexpr (kVectors > 1) s1 = hn::Add(s1, hn::Mul(x, hn::LoadU(d, twiddles + lanes)));
    if constexpr (kVectors > 2) {
      s2 = hn::Add(s2, hn::Mul(x, hn::LoadU(d, twiddles + 2 * lanes)));
      s3 = hn::Add(s3, hn::Mul(x, hn::LoadU(d, twiddles + 3 * lanes)));
    }
    if constexpr (kMoments) {
      m.sum += centred;
      m.squares += centred * centred;
      m.min = value < m.min ? value : m.min;
      m.max = value > m.max ? value : m.max;
    }
  }
  hn::StoreU(s0, d, sums);
  if constexpr (kVectors > 1) hn::StoreU(s1, d, sums + lanes);
  if constexpr (kVectors > 2) {
    hn::StoreU(s2, d, sums + 2 * lanes);
    hn::StoreU(s3, d, sums + 3 * lanes);
  }
  if constexpr (kMoments) moments = m;
}

template <bool kMoments>
HWY_INLINE std::size_t AddGroup(const std::uint64_t* HWY_RESTRICT bits, std::size_t n,
                                const double* HWY_RESTRICT twiddles, std::size_t stride,
                                std::size_t left, double* HWY_RESTRICT sums, DftMoments& moments) {
  const std::size_t lanes = hn::Lanes(Tag());
  if (left >= 4 * lanes) {
    AddColumns<4, kMoments>(bits, n, twiddles, stride, sums, moments);
    return 4 * lanes;
  }
  if (left >= 2 * lanes) {
    AddColumns<2, kMoments>(bits, n, twiddles, stride, sums, moments);
    return 2 * lanes;
  }
  AddColumns<1, kMoments>(bits, n, twiddles, stride, sums, moments);
  return lanes;
}

void AddToDigest(const std::uint64_t* HWY_RESTRICT bits, std::size_t n,
                 const double* HWY_RESTRICT twiddles, std::size_t stride, double* HWY_RESTRICT sums,
                 DftMoments& moments) {
  std::size_t c = AddGroup<true>(bits, n, twiddles, stride, stride, sums, moments);
  while (c < stride) {
    c += AddGroup<false>(bits, n, twiddles + c, stride, stride - c, sums + c, moments);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(AddToDigest);

void add_to_digest(const std::uint64_t* bits, std::size_t n, const double* twiddles,
                   std::size_t stride, double* sums, DftMoments& moments) {
  HWY_DYNAMIC_DISPATCH(AddToDigest)(bits, n, twiddles, stride, sums, moments);
}

void add_to_digest_scalar(const std::uint64_t* bits, std::size_t n, const double* twiddles,
                          std::size_t stride, double* sums, DftMoments& moments) {
  for (std::size_t i = 0; i < n; ++i) {
    const double value = std::bit_cast<double>(bits[i]);
    const double centred = value - moments.reference;
    for (std::size_t c = 0; c < stride; ++c) sums[c] += centred * twiddles[i * stride + c];
    moments.sum += centred;
    moments.squares += centred * centred;
    moments.min = value < moments.min ? value : moments.min;
    moments.max = value > moments.max ? value : moments.max;
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
