// Correlation: all pairs of windows whose correlation reaches a threshold, found without comparing
// every pair, and reported as if every pair had been.
//
// Three screens stand before the correlation itself, each by an upper bound that is never below it:
//  1. Grid and coefficients (StatStream). With z = (√2·X̂_1 … √2·X̂_n, ρ), ρ² = 1 - 2Σ|X̂_m|² the
//     energy of the rest, corr = <x̂, ŷ> <= <z_x, z_y> by Parseval and Cauchy-Schwarz; that is
//     1 - d²/2 with d² = 2Σ|X̂_m - Ŷ_m|² + (ρ_x - ρ_y)² >= d_n². Windows are hashed into cells of
//     side √(1-T) on up to four coordinates of X̂_1 and X̂_2; only neighbours are looked at.
//  2. Where these prune too little (white noise has hardly any energy in its first coefficients),
//     samples of the windows instead: corr <= Σ_{i in S} x̂_i·ŷ_i + (ρ_x² + ρ_y²)/2, ρ² the energy
//     of the values outside S. Which of 1 and 2 is used depends on counts over a part of the
//     windows.
//  3. The whole windows, rounded to 15 bits. The pairs that come this far are `compared`.
// All three compute in integers that hold the bound rounded up, with what rounding may have cost
// added, so every machine finds the same candidates.
//
// Invariants
//  1. The pairs and their correlations equal those of all_pairs(), bit for bit: no false dismissal,
//     and what passes is verified by the same arithmetic.
//  2. The result, `compared` included, does not depend on how for_each runs, nor on the SIMD
//  target,
//     nor, but for the numbers of the windows, on their order.
//  3. A window that is constant (min = max, not σ = 0) or has a value that is not finite is in no
//     pair. Windows whose squares leave the range of a double are scaled by a power of two first.
// Cost: O(windows · w) to prepare; one window of w 16-bit numbers is kept for each.
// Thread safety: immutable (pure functions). for_each may call in parallel.
// Source: Y. Zhu, D. Shasha, "StatStream", VLDB 2002, sections 3.4 and 4; R. Cole, D. Shasha,
// X. Zhao, "Fast window correlations over uncooperative time series", KDD 2005 (for 2).
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "synopses/registry.h"

namespace weir::synopses {

// One stream's window; all windows of a search have equally many values (at most 2^26) and
// coefficients. Coefficients are normalised: Dft::window().coefficients.
struct SearchWindow {
  std::span<const double> values;
  std::span<const std::complex<double>> coefficients;
};

struct FoundPair {
  std::uint32_t a, b;  // a < b, indices into the input
  double correlation;
  friend bool operator==(const FoundPair&, const FoundPair&) = default;
};

// What a search keeps at most: 160 MB.
inline constexpr std::uint64_t kMaxFoundPairs = 10'000'000;

struct FoundPairs {
  std::vector<FoundPair> pairs;  // sorted by (a, b)
  // Pairs whose windows were compared in whole, rounded or exact; found ones are among them.
  std::uint64_t compared = 0;
  std::uint64_t possible = 0;  // n(n-1)/2
  // More than kMaxFoundPairs reach the threshold; `pairs` is then empty and `compared` 0.
  bool too_many = false;
  friend bool operator==(const FoundPairs&, const FoundPairs&) = default;
};

// The correlation that the searches verify with, in [-1, 1]; NaN where it is undefined. Within
// (w + 64)·2^-51 of the exact one. Symmetric bit for bit. REQUIRES: a.size() == b.size().
double correlation_of(std::span<const double> a, std::span<const double> b);

// Pairs with correlation >= threshold. `coefficient_error` is Dft::coefficient_error() of the
// windows' shape.
FoundPairs correlated_pairs(std::span<const SearchWindow> windows, double threshold,
                            double coefficient_error, const ForEach& for_each);
// The same by comparing every pair, in blocks that stay in cache: the oracle of tests and the other
// side of benchmarks.
FoundPairs all_pairs(std::span<const SearchWindow> windows, double threshold,
                     const ForEach& for_each);

// One stream's window and the signs of its products with random hyperplanes, `bits` of them, the
// lowest bit of the first word first; unused bits are 0.
struct SignedWindow {
  std::span<const double> values;
  std::span<const std::uint64_t> signature;
};

// Pairs with correlation >= threshold, but each of these is missed with probability at most `miss`
// over the hyperplanes. Bits of two signatures differ with probability acos(ρ)/π, so the Hamming
// distance H is binomial, and pairs with H <= max_distance(bits, threshold, miss) are compared. As
// |difference of popcounts| <= H, only neighbouring buckets of popcounts are looked at.
FoundPairs similar_pairs(std::span<const SignedWindow> windows, unsigned bits, double threshold,
                         double miss, const ForEach& for_each);
// The smallest h with P(Binomial(bits, acos(threshold)/π) > h) <= miss, from additions,
// multiplications, divisions and roots alone, so it is the same on every machine.
std::uint64_t max_distance(unsigned bits, double threshold, double miss);

}  // namespace weir::synopses
