// The update of a DFT digest: centred values times twiddles, added up in the order they came.
//
// Thread safety: immutable (pure functions on the caller's sums).
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::synopses {

// Rows and sums are padded to a multiple of this many doubles, so that every target uses whole
// vectors; padding twiddles are zero.
inline constexpr std::size_t kDftPad = 8;

// What a digest keeps besides its coefficients.
struct DftMoments {
  double reference;  // the first value; the others are centred on it
  double sum;        // Σ (x - reference)
  double squares;    // Σ (x - reference)²
  double min;
  double max;
};

// For i in turn: d = value i - reference; sums[c] += d · twiddles[i · stride + c] for c < stride;
// and the moments. Product and sum are rounded apart (no fma), each sum in the order of i alone, so
// all targets and all cuts of a run give the same bits. `bits` are doubles. REQUIRES: stride a
// multiple of kDftPad.
void add_to_digest(const std::uint64_t* bits, std::size_t n, const double* twiddles,
                   std::size_t stride, double* sums, DftMoments& moments);
// Its scalar twin.
void add_to_digest_scalar(const std::uint64_t* bits, std::size_t n, const double* twiddles,
                          std::size_t stride, double* sums, DftMoments& moments);

}  // namespace weir::synopses
