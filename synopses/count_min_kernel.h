// The hash rows of CountMin: which cell of a row an item counts in.
//
// Thread safety: immutable (pure functions).
//
// A row is Thorup's pair-multiply-shift over the two halves x1:x0 of the 64-bit base hash,
//   r(x) = ((a + x1)·(b + x0) + c mod 2^64) >> 32,      cell = (r · width) >> 32,
// with a, b, c drawn at random. r is strongly universal: for x ≠ y the pair (r(x), r(y)) is uniform
// over all pairs of 32-bit values. One 64-bit multiplication a row, and a 32-bit one for the range.
// Source: M. Thorup, "String hashing for linear probing", SODA 2009, section 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::synopses {

struct HashRow {
  std::uint64_t a, b, c;

  constexpr std::uint32_t cell(std::uint64_t hash, std::uint32_t width) const {
    const std::uint64_t product = (a + (hash >> 32)) * (b + (hash & 0xffffffffu)) + c;
    return static_cast<std::uint32_t>(((product >> 32) * width) >> 32);
  }
};

// cells[r * stride + i] = rows[r].cell(hashes[i], width). REQUIRES: stride >= n.
void cells_of(std::span<const HashRow> rows, std::uint32_t width, const std::uint64_t* hashes,
              std::size_t n, std::uint32_t* cells, std::size_t stride);
// Its scalar twin.
void cells_of_scalar(std::span<const HashRow> rows, std::uint32_t width,
                     const std::uint64_t* hashes, std::size_t n, std::uint32_t* cells,
                     std::size_t stride);

}  // namespace weir::synopses
