// Weights: what the tests of kinds that take weights share.
#pragma once

#include <memory>
#include <vector>

#include "tests/synopses/values.h"

namespace weir::synopses {

constexpr std::int64_t kLargestWeight = std::int64_t{1} << 53;

inline std::vector<std::int64_t> random_weights(std::size_t n, std::int64_t below,
                                                std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < n; ++i) {
    weights.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below)));
  }
  return weights;
}

// `times` values 7, each of this weight.
inline Values sevens(int times, std::int64_t weight) {
  Values values;
  for (int i = 0; i < times; ++i) values.add(7.0);
  values.set_weights(std::vector<std::int64_t>(static_cast<std::size_t>(times), weight));
  return values;
}

// A value of weight w is w values, bit for bit.
inline void expect_weights_count_as_repeats(
    const std::function<std::unique_ptr<Synopsis>()>& fresh) {
  for (const Workload& workload : workloads()) {
    Values weighted = workload.make(1'500, 3);
    const Values plain = workload.make(1'500, 3);
    const std::vector<std::int64_t> weights = random_weights(plain.size(), 5, 4);
    weighted.set_weights(weights);
    const auto by_weight = fresh(), repeated = fresh();
    weighted.feed_in_pieces(*by_weight, 1);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      for (std::int64_t w = 0; w < weights[i]; ++w) plain.feed(*repeated, i, i + 1);
    }
    EXPECT_EQ(save(*by_weight), save(*repeated)) << workload.name;
  }
}

}  // namespace weir::synopses
