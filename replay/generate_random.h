// Random numbers that are the same on every machine: xoshiro256++ seeded by splitmix64, and an
// alias table for draws of any distribution in constant time.
//
// Source: Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2021; Steele, Lea,
// Flood, "Fast splittable pseudorandom number generators", 2014 (splitmix64); Vose, "A linear
// algorithm for generating random numbers with a given distribution", 1991.
// Thread safety: thread-compatible.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace weir::replay {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // 0 to n - 1. REQUIRES: 0 < n < 2^32, whose bias is below 2^-32 * n.
  std::uint32_t below(std::uint32_t n) {
    return scale(static_cast<std::uint32_t>(next() >> 32), n);
  }
  static std::uint32_t scale(std::uint32_t random, std::uint32_t n) {
    return static_cast<std::uint32_t>(std::uint64_t{random} * n >> 32);
  }

 private:
  std::uint64_t state_[4];
};

// Draws i with the probability weight[i] / sum, to within 2^-32.
class AliasTable {
 public:
  explicit AliasTable(std::vector<double> weights);
  // `random`: 64 random bits.
  std::uint32_t draw(std::uint64_t random) const {
    const std::uint32_t i =
        Random::scale(static_cast<std::uint32_t>(random >> 32), static_cast<std::uint32_t>(size_));
    const Entry entry = entries_[i];
    // By a mask: a branch would be a coin toss for the processor.
    const std::uint32_t other =
        -static_cast<std::uint32_t>(static_cast<std::uint32_t>(random) >= entry.threshold);
    return i ^ ((i ^ entry.alias) & other);
  }

 private:
  struct Entry {
    std::uint32_t threshold;  // below it the entry itself, else its alias
    std::uint32_t alias;
  };
  std::vector<Entry> entries_;
  std::size_t size_;
};

// 1 / 1^s, 1 / 2^s, …, 1 / n^s, from additions, multiplications and divisions alone, whose rounding
// is the same everywhere; pow() of two libraries may differ in the last bit.
std::vector<double> zipf_weights(std::uint32_t n, double exponent);

// One step of a random walk from four random bits: -2 to 2, binomial.
inline int walk_step(std::uint64_t bits) {
  constexpr std::uint64_t kOnes = 0x4332322132212110;  // number of ones of 0, 1, …, 15 by digit
  return static_cast<int>(kOnes >> (4 * (bits & 0xf)) & 0xf) - 2;
}

// A share (0 to 1) as a threshold for 32 random bits.
std::uint64_t share_threshold(double share);

}  // namespace weir::replay
