// Correlated pairs among windows of many streams. Thread safety: immutable (pure functions).
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "synopses/registry.h"

namespace weir::synopses {

struct SearchWindow {
  std::span<const double> values;
  std::span<const std::complex<double>> coefficients;
};
struct FoundPair {
  std::uint32_t a, b;  // a < b, indices into the input
  double correlation;
};
struct FoundPairs {
  std::vector<FoundPair> pairs;  // sorted by (a, b)
  std::uint64_t compared = 0;
  std::uint64_t possible = 0;
};
// NaN when undefined (constant).
double correlation_of(std::span<const double> a, std::span<const double> b);
FoundPairs correlated_pairs(std::span<const SearchWindow> windows, double threshold,
                            double coefficient_error, const ForEach& for_each);
struct SignedWindow {
  std::span<const double> values;
  std::span<const std::uint64_t> signature;
};
FoundPairs similar_pairs(std::span<const SignedWindow> windows, unsigned bits, double threshold,
                         double miss, const ForEach& for_each);

}  // namespace weir::synopses
