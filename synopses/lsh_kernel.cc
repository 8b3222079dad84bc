#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/lsh_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include "synopses/lsh_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// The widest vectors of which four make a block.
using Tag = hn::CappedTag<double, kLshBlock / 4>;

// A sum is bound by the latency of its addition, so four or eight vectors of sums run side by side.
template <bool kEight>
HWY_INLINE void ProjectColumns(const double* HWY_RESTRICT values, std::size_t window,
                               const float* HWY_RESTRICT planes, double* HWY_RESTRICT sums) {
  const Tag d;
  const hn::Rebind<float, Tag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto term = [&](auto x, std::size_t vector) HWY_ATTR {
    return hn::Mul(x, hn::PromoteTo(d, hn::LoadU(narrow, planes + vector * lanes)));
  };
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i < window; ++i, planes += kLshBlock) {
    const auto x = hn::Set(d, values[i]);
    s0 = hn::Add(s0, term(x, 0));
    s1 = hn::Add(s1, term(x, 1));
    s2 = hn::Add(s2, term(x, 2));
    s3 = hn::Add(s3, term(x, 3));
    if constexpr (kEight) {
      s4 = hn::Add(s4, term(x, 4));
      s5 = hn::Add(s5, term(x, 5));
      s6 = hn::Add(s6, term(x, 6));
      s7 = hn::Add(s7, term(x, 7));
    }
  }
  hn::StoreU(s0, d, sums);
  hn::StoreU(s1, d, sums + lanes);
  hn::StoreU(s2, d, sums + 2 * lanes);
  hn::StoreU(s3, d, sums + 3 * lanes);
  if constexpr (kEight) {
    hn::StoreU(s4, d, sums + 4 * lanes);
    hn::StoreU(s5, d, sums + 5 * lanes);
    hn::StoreU(s6, d, sums + 6 * lanes);
    hn::StoreU(s7, d, sums + 7 * lanes);
  }
}
#endif

void Project(const double* HWY_RESTRICT values, std::size_t window,
             const float* HWY_RESTRICT planes, std::size_t blocks, double* HWY_RESTRICT sums) {
#if HWY_TARGET == HWY_SCALAR
  project_scalar(values, window, planes, blocks, sums);
#else
  const std::size_t lanes = hn::Lanes(Tag());
  for (; blocks != 0; --blocks, planes += window * kLshBlock, sums += kLshBlock) {
    if (4 * lanes == kLshBlock) {
      ProjectColumns<false>(values, window, planes, sums);
      continue;
    }
    for (std::size_t c = 0; c < kLshBlock; c += 8 * lanes) {
      ProjectColumns<true>(values, window, planes + c, sums + c);
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(Project);

void project(const double* values, std::size_t window, const float* planes, std::size_t blocks,
             double* sums) {
  HWY_DYNAMIC_DISPATCH(Project)(values, window, planes, blocks, sums);
}

void project_scalar(const double* values, std::size_t window, const float* planes,
                    std::size_t blocks, double* sums) {
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t j = 0; j < kLshBlock; ++j) {
      double sum = 0.0;
      for (std::size_t i = 0; i < window; ++i) {
        sum += values[i] * static_cast<double>(planes[(block * window + i) * kLshBlock + j]);
      }
      sums[block * kLshBlock + j] = sum;
    }
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
