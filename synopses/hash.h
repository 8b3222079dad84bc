// Hash: the mixing steps from which every synopsis derives its cells, signs and ranks.
//
// Thread safety: immutable (pure functions).
//
// Invariants
//  1. mix() is a bijection on 64 bits: two numbers of one kind never share a base hash, nor a
//  seeded
//     one, whatever the seed.
//  2. hash_values() gives the same bits on every SIMD target and in its scalar twin.
// Source: P. Evensen, "moremur", 2019 (constants found by search; passes PractRand on counters).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/value.h"

namespace weir::synopses {

inline constexpr std::uint64_t kMixA = 0x3c79ac492ba7b653u;
inline constexpr std::uint64_t kMixB = 0x1c69b3f74ac4ae35u;
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

// xor-shift, multiply, xor-shift, multiply, xor-shift. The first shift brings a double's exponent
// and leading digits, often the only bits that vary, down to where the multiplication spreads them.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 27;
  x *= kMixA;
  x ^= x >> 33;
  x *= kMixB;
  x ^= x >> 27;
  return x;
}

// Keeps the kinds apart: the bits of 2^63 + 1 as an integer are not those of a double by accident.
constexpr std::uint64_t kind_tweak(core::Kind kind) {
  return mix((static_cast<std::uint64_t>(kind) + 1) * kGolden);
}

// A seed's key: its difference from another seed's key looks random in every bit.
constexpr std::uint64_t seed_key(std::uint64_t seed) { return mix(mix(seed + kGolden) + kGolden); }
// The hash of an item under a key. For one key a bijection of the base hash.
constexpr std::uint64_t keyed(std::uint64_t hash, std::uint64_t key) { return mix(hash ^ key); }
constexpr std::uint64_t seeded(std::uint64_t hash, std::uint64_t seed) {
  return keyed(hash, seed_key(seed));
}

// Coefficients drawn from a seed: splitmix64, each call the next of its sequence.
class SeedSequence {
 public:
  explicit constexpr SeedSequence(std::uint64_t seed) : state_(seed_key(seed)) {}
  constexpr std::uint64_t next() {
    state_ += kGolden;
    return mix(state_);
  }

 private:
  std::uint64_t state_;
};

// The twin of the kernel behind hash_values() for doubles: hashes[i] = hash of bits[i].
void hash_doubles_scalar(const std::uint64_t* bits, std::size_t n, std::uint64_t* hashes);

}  // namespace weir::synopses
