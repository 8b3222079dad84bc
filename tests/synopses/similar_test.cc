// The search by signatures. Their bits are signs of products with Gaussian hyperplanes, as LSH
// makes them; here they are made in the plainest way.
#include "tests/synopses/correlation_windows.h"

namespace weir::synopses {
namespace {

class SignedInput {
 public:
  SignedInput(Series series, unsigned bits, std::uint64_t seed) : series_(std::move(series)) {
    std::mt19937_64 random(seed);
    const std::size_t w = series_[0].size();
    std::vector<std::vector<double>> planes(bits, std::vector<double>(w));
    for (auto& plane : planes) {
      for (double& x : plane) x = gaussian(random);
    }
    for (const std::vector<double>& x : series_) {
      const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(w);
      std::vector<std::uint64_t> signature((bits + 63) / 64);
      for (unsigned b = 0; b < bits; ++b) {
        double sum = 0;
        for (std::size_t i = 0; i < w; ++i) sum += planes[b][i] * (x[i] - mean);
        if (sum >= 0) signature[b / 64] |= std::uint64_t{1} << (b % 64);
      }
      signatures_.push_back(std::move(signature));
    }
    for (std::size_t i = 0; i < series_.size(); ++i) {
      windows_.push_back({series_[i], signatures_[i]});
      plain_.push_back({series_[i], {}});
    }
  }
  std::span<const SignedWindow> windows() const { return windows_; }
  FoundPairs truth(double threshold) const { return all_pairs(plain_, threshold, serially); }
  std::uint64_t distance(std::uint32_t a, std::uint32_t b) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < signatures_[a].size(); ++i) {
      sum += static_cast<std::uint64_t>(std::popcount(signatures_[a][i] ^ signatures_[b][i]));
    }
    return sum;
  }

 private:
  Series series_;
  std::vector<std::vector<std::uint64_t>> signatures_;
  std::vector<SignedWindow> windows_;
  std::vector<SearchWindow> plain_;
};

TEST(Similar, FindsThePairsOfAllPairsWhoseSignaturesAreNear) {
  for (const std::string shape : {"planted noise", "planted walk", "sine", "near-duplicates"}) {
    const SignedInput input(make_series(shape, 300, 64, 5), 100, 9);
    for (const double threshold : {0.5, 0.9, 0.99}) {
      const std::uint64_t near = max_distance(100, threshold, 0.01);
      std::vector<FoundPair> expected = input.truth(threshold).pairs;
      std::erase_if(expected, [&](const FoundPair& p) { return input.distance(p.a, p.b) > near; });
      std::uint64_t compared = 0;
      for (std::uint32_t a = 0; a < 300; ++a) {
        for (std::uint32_t b = a + 1; b < 300; ++b) compared += input.distance(a, b) <= near;
      }
      const FoundPairs found = similar_pairs(input.windows(), 100, threshold, 0.01, serially);
      EXPECT_EQ(found.pairs, expected) << shape << ' ' << threshold;
      EXPECT_EQ(found.compared, compared) << shape << ' ' << threshold;
      EXPECT_EQ(found.possible, 300u * 299 / 2);
      for (const ForEach& loop : {shuffled(1), ForEach(on_threads)}) {
        EXPECT_EQ(similar_pairs(input.windows(), 100, threshold, 0.01, loop), found);
      }
      on_every_target([&](const char* target) {
        EXPECT_EQ(similar_pairs(input.windows(), 100, threshold, 0.01, serially), found) << target;
      });
    }
  }
}

TEST(Similar, MissesAPairAtTheThresholdNoMoreOftenThanItSays) {
  // Pairs of correlation exactly 0.9 (to rounding) over 400 seeds of hyperplanes, miss = 0.1: the
  // number missed is at most binomial(400, 0.1), mean 40, σ = 6; more than 76 has probability below
  // 1e-7.
  Series series = make_series("noise", 2, 32, 1);
  const auto unit = [](std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 32;
    double norm = 0;
    for (double& v : x) norm += (v - mean) * (v - mean);
    for (double& v : x) v = (v - mean) / std::sqrt(norm);
  };
  unit(series[0]);
  unit(series[1]);
  const double c = std::inner_product(series[0].begin(), series[0].end(), series[1].begin(), 0.0);
  for (std::size_t i = 0; i < 32; ++i) series[1][i] -= c * series[0][i];
  unit(series[1]);
  for (std::size_t i = 0; i < 32; ++i) {
    series[1][i] = (0.9 + 1e-9) * series[0][i] + std::sqrt(1 - 0.81) * series[1][i];
  }
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const SignedInput input(series, 64, seed);
    missed += similar_pairs(input.windows(), 64, 0.9, 0.1, serially).pairs.empty();
  }
  EXPECT_LE(missed, 76);
  EXPECT_GE(missed, 4) << "the distance is larger than need be";
}

TEST(Similar, AcceptsTheSmallestDistanceThatKeepsItsMiss) {
  // Against the binomial by lgamma.
  for (const unsigned bits : {1u, 16u, 100u, 1024u, 4096u}) {
    for (const double threshold : {-0.7, 0.0, 0.5, 0.9, 0.99}) {
      for (const double miss : {0.5, 0.05, 0.01, 1e-6}) {
        const double p = std::acos(threshold) / 3.14159265358979323846;
        const auto beyond = [&](std::uint64_t h) {
          double sum = 0;
          for (std::uint64_t k = h + 1; k <= bits; ++k) {
            const auto n = static_cast<double>(bits), x = static_cast<double>(k);
            sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                            x * std::log(p) + (n - x) * std::log(1 - p));
          }
          return sum;
        };
        const std::uint64_t h = max_distance(bits, threshold, miss);
        EXPECT_LE(beyond(h), miss * (1 + 1e-9)) << bits << ' ' << threshold << ' ' << miss;
        if (h == 0) continue;
        EXPECT_GT(beyond(h - 1), miss * (1 - 1e-9)) << bits << ' ' << threshold;
      }
    }
  }
  EXPECT_EQ(max_distance(100, 1.0, 0.01), 0u);
  EXPECT_EQ(max_distance(100, -1.0, 0.01), 100u);
}

TEST(Similar, LeavesConstantWindowsOut) {
  Series series = make_series("noise", 5, 20, 3);
  series[1].assign(20, 4.0);
  series[3] = series[1];
  series[4] = series[0];
  const SignedInput input(series, 40, 1);
  const FoundPairs found = similar_pairs(input.windows(), 40, 0.9, 0.01, serially);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(found.pairs[0].a, 0u);
  EXPECT_EQ(found.pairs[0].b, 4u);
}

}  // namespace
}  // namespace weir::synopses
