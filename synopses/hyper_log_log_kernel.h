// The update of HyperLogLog's registers from base hashes.
//
// Thread safety: immutable (pure functions on the caller's registers).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::synopses {

// An item under its key: the first p bits choose the register, the rank is the place of the first 1
// among the 64 - p bits that follow, counted from 1; 65 - p when there is none.
struct RegisterAndRank {
  std::uint32_t index;
  std::uint8_t rank;
};
constexpr RegisterAndRank register_and_rank(std::uint64_t keyed_hash, int p) {
  // The sentinel ends the search where the hash ends.
  const std::uint64_t rest = keyed_hash << p | std::uint64_t{1} << (p - 1);
  return {static_cast<std::uint32_t>(keyed_hash >> (64 - p)),
          static_cast<std::uint8_t>(std::countl_zero(rest) + 1)};
}

// registers[index] = max(registers[index], rank) for every hash under `key`.
// REQUIRES: 4 ≤ p ≤ 18, 2^p registers.
void raise_registers(const std::uint64_t* hashes, std::size_t n, std::uint64_t key, int p,
                     std::uint8_t* registers);
// Its scalar twin.
void raise_registers_scalar(const std::uint64_t* hashes, std::size_t n, std::uint64_t key, int p,
                            std::uint8_t* registers);

}  // namespace weir::synopses
