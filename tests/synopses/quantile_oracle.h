// Quantile oracle: exact ranks of the values of a test, and the check of one answer against them.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/synopses/values.h"

namespace weir::synopses {

// 64 bits of significand: every double and every integer of 64 bits, exactly.
static_assert(std::numeric_limits<long double>::digits >= 64);

inline long double exact_value(core::Value value) {
  if (value.kind == core::Kind::kInt64) return static_cast<std::int64_t>(value.bits);
  if (value.kind == core::Kind::kUint64) return value.bits;
  return core::as_double(value.bits, value.kind);
}
// Integers to the last digit; anything else is a double's text.
inline long double read_answer(const std::string& json) {
  if (json.find_first_of(".e") == std::string::npos) return std::strtold(json.c_str(), nullptr);
  return std::strtod(json.c_str(), nullptr);
}

class ExactRanks {
 public:
  ExactRanks(const Values& values, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (values.value(i).kind != core::Kind::kText) {
        sorted_.push_back(exact_value(values.value(i)));
      }
    }
    std::sort(sorted_.begin(), sorted_.end());
  }
  std::size_t size() const { return sorted_.size(); }
  long double of_rank(std::size_t rank) const { return sorted_[rank - 1]; }
  std::size_t wanted(double fraction) const {
    const long double rank = std::ceil(static_cast<long double>(fraction) * sorted_.size() - 1e-9L);
    return rank < 1 ? 1 : std::min(sorted_.size(), static_cast<std::size_t>(rank));
  }
  // How far the ranks that `value` has are from the wanted one; all values if it has none.
  std::size_t error(long double value, std::size_t rank) const {
    const auto [from, to] = std::equal_range(sorted_.begin(), sorted_.end(), value);
    if (from == to) return sorted_.size();
    const auto first = static_cast<std::size_t>(from - sorted_.begin()) + 1;
    const auto last = static_cast<std::size_t>(to - sorted_.begin());
    return rank < first ? first - rank : rank > last ? rank - last : 0;
  }

 private:
  std::vector<long double> sorted_;
};

inline const std::vector<double>& fractions() {
  static const std::vector<double> kAll = [] {
    std::vector<double> all = {0, 1e-9, 0.001, 0.007, 0.993, 0.999, 1 - 1e-9, 1};
    for (int i = 1; i < 40; ++i) all.push_back(i / 40.0);
    return all;
  }();
  return kAll;
}

// The largest rank error over all fractions(), each answer held against its promises:
// lower ≤ true quantile ≤ upper, and exactness where it is claimed.
inline std::size_t worst_error(const Synopsis& synopsis, const ExactRanks& exact) {
  std::size_t worst = 0;
  for (const double fraction : fractions()) {
    const Result<Estimate> answer = synopsis.estimate(item(fraction));
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    const std::size_t rank = exact.wanted(fraction);
    const long double value = read_answer(answer->json);
    const std::size_t error = exact.error(value, rank);
    worst = std::max(worst, error);
    EXPECT_LE(static_cast<long double>(*answer->lower), exact.of_rank(rank)) << fraction;
    EXPECT_GE(static_cast<long double>(*answer->upper), exact.of_rank(rank)) << fraction;
    EXPECT_LE(static_cast<long double>(*answer->lower), value) << fraction;
    EXPECT_GE(static_cast<long double>(*answer->upper), value) << fraction;
    EXPECT_EQ(*answer->confidence, 1.0);
    if (answer->exact) {
      EXPECT_EQ(error, 0u) << fraction;
    }
  }
  return worst;
}

}  // namespace weir::synopses
