#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/bloom_filter_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernel below once for each target
#include <hwy/highway.h>

#include <algorithm>

#include "synopses/bloom_filter_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V KeyedMix(D d, V x, V key) {
  x = hn::Xor(x, key);
  x = hn::Xor(x, hn::ShiftRight<27>(x)) * hn::Set(d, kMixA);
  x = hn::Xor(x, hn::ShiftRight<33>(x)) * hn::Set(d, kMixB);
  return hn::Xor(x, hn::ShiftRight<27>(x));
}

// mixed[i] = keyed(from[i], key). `mixed` may be `from`.
HWY_INLINE void MixAll(const std::uint64_t* from, std::size_t n, std::uint64_t key,
                       std::uint64_t* mixed) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto v_key = hn::Set(d, key);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(KeyedMix(d, hn::LoadU(d, from + i), v_key), d, mixed + i);
  }
  for (; i < n; ++i) mixed[i] = keyed(from[i], key);
}

// Items between the first and the last use of a block's address. Enough for the fetches of their
// lines to overlap, few enough for the lines to be in L1 when the bits are set.
constexpr std::size_t kChunk = 128;

template <std::uint32_t kWords, std::uint32_t kSectors>
HWY_INLINE void SetBits(const std::uint64_t* HWY_RESTRICT hashes, std::size_t n, std::uint64_t key,
                        std::uint64_t blocks, std::uint64_t* HWY_RESTRICT words) {
  // A capped vector has no more lanes than a block has words.
  const hn::CappedTag<std::uint64_t, kWords> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::uint32_t kWidth = 64 / kSectors;
  const auto one = hn::Set(d, 1);
  const auto in_sector = hn::Set(d, kWidth - 1);
  const auto six = hn::Set(d, 6);
  HWY_ALIGN std::uint64_t x[kChunk];
  HWY_ALIGN std::uint64_t y[kSectors][kChunk];
  std::uint64_t* at[kChunk];
  for (std::size_t done = 0; done < n; done += kChunk) {
    const std::size_t take = std::min(kChunk, n - done);
    MixAll(hashes + done, take, key, x);
    for (std::size_t i = 0; i < take; ++i) {
      at[i] = words + bloom_block(x[i], blocks) * kWords;
      __builtin_prefetch(at[i], 1);
    }
    for (std::uint32_t s = 0; s < kSectors; ++s) MixAll(x, take, sector_key(s), y[s]);
    for (std::size_t i = 0; i < take; ++i) {
      for (std::size_t w = 0; w < kWords; w += lanes) {
        const auto down = hn::Iota(d, w) * six;
        auto bits = hn::Load(d, at[i] + w);
        for (std::uint32_t s = 0; s < kSectors; ++s) {
          auto position = hn::And(hn::Shr(hn::Set(d, y[s][i]), down), in_sector);
          if (s != 0) position = hn::Add(position, hn::Set(d, s * kWidth));
          bits = hn::Or(bits, hn::Shl(one, position));
        }
        hn::Store(bits, d, at[i] + w);
      }
    }
  }
}

void SetBloomBits(const std::uint64_t* hashes, std::size_t n, std::uint64_t key,
                  const BloomShape& shape, std::uint64_t* words) {
  if (shape.words == 1) return SetBits<1, 1>(hashes, n, key, shape.blocks, words);
  if (shape.words == 2) return SetBits<2, 1>(hashes, n, key, shape.blocks, words);
  if (shape.words == 4) return SetBits<4, 1>(hashes, n, key, shape.blocks, words);
  if (shape.sectors == 1) return SetBits<8, 1>(hashes, n, key, shape.blocks, words);
  if (shape.sectors == 2) return SetBits<8, 2>(hashes, n, key, shape.blocks, words);
  return SetBits<8, 4>(hashes, n, key, shape.blocks, words);
}

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(SetBloomBits);

void set_bloom_bits(const std::uint64_t* hashes, std::size_t n, std::uint64_t key,
                    const BloomShape& shape, std::uint64_t* words) {
  HWY_DYNAMIC_DISPATCH(SetBloomBits)(hashes, n, key, shape, words);
}

void set_bloom_bits_scalar(const std::uint64_t* hashes, std::size_t n, std::uint64_t key,
                           const BloomShape& shape, std::uint64_t* words) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t x = keyed(hashes[i], key);
    std::uint64_t* block = words + bloom_block(x, shape.blocks) * shape.words;
    for (std::uint32_t w = 0; w < shape.words; ++w) block[w] |= bloom_bits(x, shape, w);
  }
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
