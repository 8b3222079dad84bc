// The bits of a Bloom filter: which block an item falls in, and which bits of it the item sets.
//
// Thread safety: immutable (pure functions).
//
// A block is `words` words of 64 bits (1, 2, 4 or 8: never more than a cache line, and aligned to
// its size); each word is cut into `sectors` equal sectors (1, 2 or 4). An item sets one bit in
// every sector of one block. With x the seeded hash of the item and y_s one more hash of x for each
// sector of a word, the block is ⌊x·blocks/2^64⌋, and word w has in sector s the bit
//   s·(64/sectors) + ((y_s >> 6w) mod (64/sectors)).
// One bit a sector, rather than any bits of the block, makes the sectors of a block independent, so
// that the rate of false positives has an exact formula (bloom_filter.h), and makes the bits of all
// words one vector shift.
#pragma once

#include <cstddef>
#include <cstdint>

#include "synopses/hash.h"

namespace weir::synopses {

struct BloomShape {
  std::uint32_t words;    // of a block
  std::uint32_t sectors;  // of a word
  std::uint64_t blocks;

  constexpr std::uint32_t hashes() const { return words * sectors; }
  constexpr std::uint64_t all_words() const { return blocks * words; }
  constexpr std::uint64_t bytes() const { return all_words() * sizeof(std::uint64_t); }
  friend bool operator==(const BloomShape&, const BloomShape&) = default;
};

inline constexpr std::uint32_t kMaxBloomWords = 8;
inline constexpr std::uint32_t kMaxBloomSectors = 4;

// The hash that chooses the bits of one sector of every word. REQUIRES: sector < kMaxBloomSectors.
constexpr std::uint64_t sector_key(std::uint32_t sector) { return (sector + 1) * kGolden; }

constexpr std::uint64_t bloom_block(std::uint64_t x, std::uint64_t blocks) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(x) * blocks >> 64);
}

// The bits that the item with seeded hash x sets in word w of its block.
constexpr std::uint64_t bloom_bits(std::uint64_t x, const BloomShape& shape, std::uint32_t w) {
  const std::uint32_t width = 64 / shape.sectors;
  std::uint64_t bits = 0;
  for (std::uint32_t s = 0; s < shape.sectors; ++s) {
    const std::uint64_t y = keyed(x, sector_key(s));
    bits |= std::uint64_t{1} << (s * width + ((y >> (6 * w)) & (width - 1)));
  }
  return bits;
}

// Sets the bits of items by their base hashes. `words` holds shape.all_words(), 64-byte aligned.
void set_bloom_bits(const std::uint64_t* hashes, std::size_t n, std::uint64_t key,
                    const BloomShape& shape, std::uint64_t* words);
// Its scalar twin.
void set_bloom_bits_scalar(const std::uint64_t* hashes, std::size_t n, std::uint64_t key,
                           const BloomShape& shape, std::uint64_t* words);

}  // namespace weir::synopses
