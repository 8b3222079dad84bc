// Quantile query: what GKQuantiles and WindowSketchQuantiles share of asking for a φ-quantile and
// of saying what was found.
//
// The φ-quantile of n values is the one of rank ⌈φn⌉ in ascending order, of rank 1 for φ = 0.
// Thread safety: immutable (pure functions).
#pragma once

#include <cstdint>

#include "synopses/ordered_keys.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

// φ in [0, 1], a number or a text that spells one. The error names `kind` and what was given.
Result<double> fraction_of(const Query& query, const char* kind);

// ⌈φn⌉ within [1, n]. A φn that only the rounding of φ lifts above a whole number is that number.
// REQUIRES: 0 ≤ φ ≤ 1, n ≥ 1.
std::uint64_t rank_of(double fraction, std::uint64_t n);

// ⌊factor · n⌋, in integers: exact up to the last bits of a factor below 2^-10, which only ever
// make it smaller, and so ⌊f·a⌋ + ⌊f·b⌋ ≤ ⌊f·(a+b)⌋ holds always. REQUIRES: 0 ≤ factor ≤ 1.
std::uint64_t floor_times(double factor, std::uint64_t n);

// A value of about the wanted rank, and two that the value of exactly that rank lies between.
template <class Key>
struct Quantile {
  Key value;
  Key lower;
  Key upper;
};

// Integers are given to the last digit. The bounds, doubles, are rounded outwards.
Estimate estimate_of(const Quantile<WideKey>& found);
inline Estimate estimate_of(const Quantile<NarrowKey>& found) {
  return estimate_of(
      Quantile<WideKey>{widened(found.value), widened(found.lower), widened(found.upper)});
}
// Of an empty synopsis.
Estimate no_quantile();

}  // namespace weir::synopses
