#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/ams_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include "synopses/ams_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void AmsPlaces(std::span<const std::uint64_t> keys, std::uint32_t buckets,
               const std::uint64_t* HWY_RESTRICT hashes, std::size_t n,
               std::uint32_t* HWY_RESTRICT places, std::size_t stride) {
#if HWY_TARGET == HWY_SCALAR
  ams_places_scalar(keys, buckets, hashes, n, places, stride);
#else
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Rebind<std::uint32_t, decltype(d)> d_place;
  const hn::RepartitionToNarrow<decltype(d)> d32;
  const std::size_t lanes = hn::Lanes(d);
  if (n < lanes) return ams_places_scalar(keys, buckets, hashes, n, places, stride);
  const auto low_half = hn::Set(d, 0xffffffffu);
  const auto one = hn::Set(d, 1);
  const auto a = hn::Set(d, kMixA);
  const auto b = hn::Set(d, kMixB);
  const auto v_buckets = hn::BitCast(d32, hn::Set(d, std::uint64_t{buckets}));
  // Only the low 32 bits of each lane of u count.
  const auto place = [&](auto u) HWY_ATTR {
    const auto even = hn::BitCast(d32, hn::AndNot(one, u));
    const auto ranged = hn::ShiftRight<32>(hn::MulEven(even, v_buckets));
    return hn::TruncateTo(d_place, hn::Or(hn::Add(ranged, ranged), hn::And(u, one)));
  };
  for (const std::uint64_t key : keys) {
    const auto v_key = hn::Set(d, key);
    const auto one_vector = [&](std::size_t i) HWY_ATTR {
      auto x = hn::Xor(hn::LoadU(d, hashes + i), v_key);
      x = hn::Xor(x, hn::ShiftRight<27>(x)) * a;
      x = hn::Xor(x, hn::ShiftRight<33>(x)) * b;
      x = hn::Xor(x, hn::ShiftRight<27>(x));
      hn::StoreU(place(hn::And(x, low_half)), d_place, places + i);
      hn::StoreU(place(hn::ShiftRight<32>(x)), d_place, places + stride + i);
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) one_vector(i);
    // The last vector overlaps the one before: it writes the same places once more.
    if (i != n) one_vector(n - lanes);
    places += 2 * stride;
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(AmsPlaces);

void ams_places(std::span<const std::uint64_t> keys, std::uint32_t buckets,
                const std::uint64_t* hashes, std::size_t n, std::uint32_t* places,
                std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(AmsPlaces)(keys, buckets, hashes, n, places, stride);
}

void ams_places_scalar(std::span<const std::uint64_t> keys, std::uint32_t buckets,
                       const std::uint64_t* hashes, std::size_t n, std::uint32_t* places,
                       std::size_t stride) {
  for (const std::uint64_t key : keys) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t x = keyed(hashes[i], key);
      places[i] = ams_place(static_cast<std::uint32_t>(x), buckets);
      places[stride + i] = ams_place(static_cast<std::uint32_t>(x >> 32), buckets);
    }
    places += 2 * stride;
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
