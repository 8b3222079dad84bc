// The hash rows of AMS: in which column of a row an item counts, and with which sign.
//
// Thread safety: immutable (pure functions).
//
// Rows 2j and 2j+1 share one 64-bit hash of the item under a key of their own, drawn from the seed;
// the even row takes its low half, the odd one its high half. Of 32 bits u
//   sign = -1 if the lowest bit of u is set, else +1;   column = ⌊(u >> 1)·buckets / 2^31⌋.
// A place packs both into 32 bits: 2·column + lowest bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "synopses/hash.h"

namespace weir::synopses {

inline constexpr std::uint32_t kMaxAmsBuckets = std::uint32_t{1} << 27;

constexpr std::uint32_t ams_place(std::uint32_t u, std::uint32_t buckets) {
  const std::uint64_t column = (std::uint64_t{u & ~1u} * buckets) >> 32;
  return static_cast<std::uint32_t>(column << 1) | (u & 1u);
}
constexpr std::int64_t ams_signed(std::uint32_t place, std::int64_t weight) {
  // Two's complement without a branch: -w = (w ^ -1) + 1.
  const std::int64_t mask = -static_cast<std::int64_t>(place & 1u);
  return (weight ^ mask) - mask;
}

// places[r * stride + i] = place of the item hashes[i] in row r. `keys` holds one key for two rows.
// REQUIRES: stride >= n, places for an even number of rows, buckets <= kMaxAmsBuckets.
void ams_places(std::span<const std::uint64_t> keys, std::uint32_t buckets,
                const std::uint64_t* hashes, std::size_t n, std::uint32_t* places,
                std::size_t stride);
// Its scalar twin.
void ams_places_scalar(std::span<const std::uint64_t> keys, std::uint32_t buckets,
                       const std::uint64_t* hashes, std::size_t n, std::uint32_t* places,
                       std::size_t stride);

}  // namespace weir::synopses
