#include "replay/generate_random.h"

#include <algorithm>

namespace weir::replay {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kTwo32 = 4294967296.0;
constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentBias = 1023;

// 2^power. REQUIRES: -1022 <= power <= 1023.
double power_of_two(int power) {
  const auto biased = static_cast<std::uint64_t>(power + static_cast<int>(kExponentBias));
  return std::bit_cast<double>(biased << kMantissaBits);
}

// ln x for a normal x >= 1: ln(2^e m) = e ln 2 + 2 artanh((m - 1) / (m + 1)), m near 1.
double logarithm(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> kMantissaBits) - static_cast<int>(kExponentBias);
  double m = x / power_of_two(exponent);
  if (m > 1.4) {
    m /= 2;
    ++exponent;
  }
  const double t = (m - 1) / (m + 1);
  const double square = t * t;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * kLn2 + 2 * t * sum;
}

// e^x for -700 < x <= 0: e^x = 2^n e^r, |r| <= ln 2 / 2, by its Taylor polynomial.
double exponential(double x) {
  const int n = static_cast<int>(x / kLn2 - 0.5);
  const double r = x - n * kLn2;
  double sum = 1;
  for (int k = 18; k >= 1; --k) sum = 1 + sum * r / k;
  return sum * power_of_two(n);
}

}  // namespace

AliasTable::AliasTable(std::vector<double> weights)
    : entries_(weights.size()), size_(weights.size()) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  const auto n = static_cast<double>(size_);
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t i = 0; i < size_; ++i) {
    weights[i] = weights[i] / sum * n;
    (weights[i] < 1 ? small : large).push_back(i);
  }
  const auto threshold = [](double p) {
    return static_cast<std::uint32_t>(std::min(p * kTwo32, kTwo32 - 1));
  };
  while (!small.empty() && !large.empty()) {
    const std::uint32_t less = small.back(), more = large.back();
    small.pop_back();
    entries_[less] = {threshold(weights[less]), more};
    weights[more] -= 1 - weights[less];
    if (weights[more] < 1) {
      large.pop_back();
      small.push_back(more);
    }
  }
  // What is left is 1 but for rounding.
  for (const std::uint32_t i : small) entries_[i] = {threshold(1), i};
  for (const std::uint32_t i : large) entries_[i] = {threshold(1), i};
}

std::vector<double> zipf_weights(std::uint32_t n, double exponent) {
  std::vector<double> weights(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const double rank = i + 1.0;
    weights[i] = exponent == 1.0 ? 1.0 / rank : exponential(-exponent * logarithm(rank));
  }
  return weights;
}

std::uint64_t share_threshold(double share) { return static_cast<std::uint64_t>(share * kTwo32); }

}  // namespace weir::replay
