#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/hash.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include "synopses/hash.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V vector_mix(V x) {
  const hn::DFromV<V> d;
  x = hn::Xor(x, hn::ShiftRight<27>(x));
  x = x * hn::Set(d, kMixA);
  x = hn::Xor(x, hn::ShiftRight<33>(x));
  x = x * hn::Set(d, kMixB);
  return hn::Xor(x, hn::ShiftRight<27>(x));
}

void HashDoubles(const std::uint64_t* HWY_RESTRICT bits, std::size_t n,
                 std::uint64_t* HWY_RESTRICT hashes) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  if (n < lanes) return hash_doubles_scalar(bits, n, hashes);
  const auto tweak = hn::Set(d, kind_tweak(core::Kind::kNumber));
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(vector_mix(hn::Xor(hn::LoadU(d, bits + i), tweak)), d, hashes + i);
  }
  if (i == n) return;
  // The last vector overlaps the one before: it writes the same hashes once more.
  i = n - lanes;
  hn::StoreU(vector_mix(hn::Xor(hn::LoadU(d, bits + i), tweak)), d, hashes + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "synopses/items.h"

namespace weir::synopses {

HWY_EXPORT(HashDoubles);

std::uint64_t hash_number(std::uint64_t bits, core::Kind kind) {
  return mix(bits ^ kind_tweak(kind));
}

std::uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

void hash_doubles_scalar(const std::uint64_t* bits, std::size_t n, std::uint64_t* hashes) {
  for (std::size_t i = 0; i < n; ++i) hashes[i] = hash_number(bits[i], core::Kind::kNumber);
}

void hash_values(const std::uint64_t* bits, const core::Kind* kinds, const char* text,
                 std::size_t n, std::uint64_t* hashes) {
  if (kinds == nullptr) return HWY_DYNAMIC_DISPATCH(HashDoubles)(bits, n, hashes);
  for (std::size_t i = 0; i < n; ++i) {
    hashes[i] = kinds[i] == core::Kind::kText
                    ? hash_text(core::text_of({bits[i], core::Kind::kText}, text))
                    : hash_number(bits[i], kinds[i]);
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
