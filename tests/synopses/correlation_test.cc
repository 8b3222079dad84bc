#include "synopses/correlation.h"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "synopses/pair_answer.h"
#include "tests/support/shared_data.h"
#include "tests/synopses/correlation_windows.h"

namespace weir::synopses {
namespace {

// The correlation in long double, two passes: independent of the searches' arithmetic.
double exact_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto mean = [](const std::vector<double>& x) {
    long double sum = 0;
    for (const double value : x) sum += static_cast<long double>(value) - x[0];
    return sum / static_cast<long double>(x.size()) + x[0];
  };
  const long double mean_a = mean(a), mean_b = mean(b);
  long double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double x = a[i] - mean_a, y = b[i] - mean_b;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return static_cast<double>(ab / (std::sqrt(aa) * std::sqrt(bb)));
}

FoundPairs search(const SearchInput& input, double threshold) {
  return correlated_pairs(input.windows(), threshold, input.error(), serially);
}

void expect_brute_force(const SearchInput& input, double threshold, const std::string& what) {
  const FoundPairs truth = all_pairs(input.windows(), threshold, serially);
  const FoundPairs found = search(input, threshold);
  ASSERT_EQ(found.pairs, truth.pairs) << what << " T=" << threshold;
  EXPECT_EQ(found.possible, truth.possible);
  EXPECT_LE(found.compared, found.possible) << what;
  EXPECT_GE(found.compared, found.pairs.size()) << what;
}

constexpr double kThresholds[] = {0.5, 0.7, 0.9, 0.95, 0.99};

TEST(Correlation, FindsExactlyWhatComparingAllPairsFindsForEveryShapeOfSeries) {
  for (const std::string& shape : shapes()) {
    for (const std::size_t n : {2u, 3u, 17u, 130u, 400u}) {
      const SearchInput input(make_series(shape, n, 100, n), 8);
      for (const double threshold : kThresholds) {
        expect_brute_force(input, threshold, shape + ' ' + std::to_string(n));
      }
    }
  }
}

TEST(Correlation, FindsExactlyWhatComparingAllPairsFindsAmongAThousandWindows) {
  for (const std::string shape : {"planted noise", "planted walk", "sine"}) {
    const SearchInput input(make_series(shape, 1000, 250, 3), 8);
    for (const double threshold : kThresholds) expect_brute_force(input, threshold, shape);
  }
}

TEST(Correlation, FindsExactlyWhatComparingAllPairsFindsForEveryWindowAndThreshold) {
  for (const std::size_t w : {3u, 4u, 7u, 8u, 9u, 31u, 33u, 64u, 65u, 1000u}) {
    for (const std::size_t coefficients :
         {std::size_t{1}, std::min<std::size_t>((w - 1) / 2, 40)}) {
      const SearchInput input(make_series("planted walk", 60, w, w), coefficients);
      for (const double threshold : {-1.0, -0.3, 0.0, 0.2, 0.8, 0.999999, 1.0}) {
        expect_brute_force(input, threshold, fmt::format("w={} n={}", w, coefficients));
      }
    }
  }
}

TEST(Correlation, NeverDismissesAPairThatStandsExactlyAtTheThreshold) {
  // Each pair's own correlation as the threshold, and the next double above and below.
  const SearchInput input(make_series("planted walk", 24, 50, 5), 8);
  for (const FoundPair& pair : all_pairs(input.windows(), -1.0, serially).pairs) {
    const double c = pair.correlation;
    for (const double threshold : {std::nextafter(c, -2.0), c, std::nextafter(c, 2.0)}) {
      if (threshold <= 1.0) expect_brute_force(input, threshold, "at a threshold");
    }
  }
}

TEST(Correlation, NeverDismissesAPairOfRandomWindows) {
  // Random shapes, sizes and thresholds; the seeds are fixed, and a correct search cannot fail.
  std::mt19937_64 random(11);
  const std::vector<std::string> all = shapes();
  for (int round = 0; round < 150; ++round) {
    const std::size_t w = 3 + random() % 200;
    const std::size_t n = 2 + random() % 60;
    const std::string& shape = all[random() % all.size()];
    const SearchInput input(make_series(shape, n, w, random()), 1 + random() % ((w - 1) / 2));
    expect_brute_force(input, static_cast<double>(random() % 1000) / 1000.0, shape);
  }
}

TEST(Correlation, IsWithinItsErrorOfTheExactCorrelation) {
  for (const std::string shape :
       {"noise", "walk", "high level", "huge", "few values", "one spike"}) {
    const Series series = make_series(shape, 12, 300, 2);
    for (std::size_t i = 0; i < series.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double c = correlation_of(series[i], series[j]);
        EXPECT_EQ(c, correlation_of(series[j], series[i]));
        // Long double has 11 more bits.
        EXPECT_NEAR(c, exact_correlation(series[i], series[j]), 364 * 0x1p-51) << shape;
      }
    }
  }
}

TEST(Correlation, DoesNotChangeWithLevelOrScaleByPowersOfTwo) {
  const Series series = make_series("high level", 2, 77, 1);
  const double c = correlation_of(series[0], series[1]);
  for (const int exponent : {-1070, -700, -1, 1, 900}) {
    Series scaled = series;
    for (double& value : scaled[0]) value = std::ldexp(value - 1e9, exponent);
    EXPECT_EQ(correlation_of(scaled[0], scaled[1]), c) << exponent;
  }
}

TEST(Correlation, IsUndefinedForConstantWindowsFoundByTheirRange) {
  // A14: the mean of 1448 times 1.810 rounds, so a variance would not be 0. E: sigma = 0 gave NaN.
  const std::vector<double> constant(1448, 1.810), other(1448, 0.576);
  std::vector<double> series = constant;
  series[3] = 2;
  EXPECT_TRUE(std::isnan(correlation_of(constant, other)));
  EXPECT_TRUE(std::isnan(correlation_of(constant, series)));
  EXPECT_TRUE(std::isnan(correlation_of(series, constant)));
  EXPECT_DOUBLE_EQ(correlation_of(series, series), 1.0);
  const SearchInput input({constant, series, other, constant, series}, 4);
  const FoundPairs found = search(input, -1.0);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(found.pairs[0].a, 1u);
  EXPECT_EQ(found.pairs[0].b, 4u);
  EXPECT_EQ(found.possible, 10u);
}

TEST(Correlation, HasNoPairWithValuesThatAreNotFinite) {
  Series series = make_series("noise", 6, 40, 1);
  series[5] = series[4] = series[3];
  series[1][7] = std::numeric_limits<double>::infinity();
  series[2][39] = std::numeric_limits<double>::quiet_NaN();
  std::vector<SearchWindow> windows;
  for (const auto& x : series) windows.push_back({x, {}});
  for (const double threshold : {-1.0, 0.9}) {
    const FoundPairs found = correlated_pairs(windows, threshold, 0, serially);
    EXPECT_EQ(found.pairs, all_pairs(windows, threshold, serially).pairs);
    EXPECT_EQ(found.pairs.size(), threshold < 0 ? 6u : 3u);
  }
}

TEST(Correlation, OfNoneOrOneWindowOrAnImpossibleThresholdIsEmpty) {
  const SearchInput none({}, 1), one(make_series("noise", 1, 20, 1), 3);
  const SearchInput some(make_series("noise", 9, 20, 1), 3);
  EXPECT_EQ(search(none, 0.5), FoundPairs{});
  EXPECT_EQ(search(one, 0.5), FoundPairs{});
  EXPECT_EQ(search(some, 1.5), (FoundPairs{{}, 0, 36}));
  EXPECT_EQ(search(some, std::nan("")), (FoundPairs{{}, 0, 36}));
}

TEST(Correlation, DoesNotDependOnTheOrderOfTasksOrTargets) {
  for (const std::string shape : {"planted noise", "planted walk"}) {
    const SearchInput input(make_series(shape, 500, 120, 4), 8);
    const FoundPairs expected = search(input, 0.9);
    EXPECT_GT(expected.pairs.size(), 0u);
    for (const ForEach& loop : {shuffled(1), shuffled(2), ForEach(on_threads)}) {
      EXPECT_EQ(correlated_pairs(input.windows(), 0.9, input.error(), loop), expected);
      EXPECT_EQ(all_pairs(input.windows(), 0.9, loop).pairs, expected.pairs);
    }
    on_every_target([&](const char* target) {
      EXPECT_EQ(search(input, 0.9), expected) << target;
      EXPECT_EQ(all_pairs(input.windows(), 0.9, serially).pairs, expected.pairs) << target;
    });
  }
}

TEST(Correlation, DoesNotDependOnTheOrderOfWindowsButForTheirNumbers) {
  for (const std::string shape : {"planted noise", "planted walk"}) {
    const SearchInput input(make_series(shape, 2000, 64, 4), 4);
    const FoundPairs expected = search(input, 0.95);
    std::vector<std::uint32_t> order(2000);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(6));
    FoundPairs found = correlated_pairs(input.in_order(order), 0.95, input.error(), serially);
    for (FoundPair& pair : found.pairs) {
      const auto [a, b] = std::minmax(order[pair.a], order[pair.b]);
      pair = {a, b, pair.correlation};
    }
    std::sort(found.pairs.begin(), found.pairs.end(), [](const FoundPair& x, const FoundPair& y) {
      return std::pair(x.a, x.b) < std::pair(y.a, y.b);
    });
    EXPECT_EQ(found, expected) << shape;
  }
}

TEST(Correlation, ComparesFewPairsOfWalksAndOfNoise) {
  for (const std::string shape : {"planted noise", "planted walk"}) {
    const SearchInput input(make_series(shape, 1000, 500, 8), 8);
    const FoundPairs found = search(input, 0.95);
    EXPECT_LT(static_cast<double>(found.compared), 0.05 * static_cast<double>(found.possible))
        << shape;
  }
}

// The closing prices of a day's bars of 99 shares, on their common minutes: the last price carried
// into minutes without one.
Series hudi_bars() {
  std::ifstream file(tests::shared_data() / "ticks/hudi_stock_bars_batch_1.ndjson");
  std::map<std::string, std::map<std::string, double>> prices;  // by symbol and time
  const auto text = [](const std::string& line, const std::string& key) {
    const std::size_t at = line.find("\"" + key + "\": \"") + key.size() + 5;
    return line.substr(at, line.find('"', at) - at);
  };
  std::map<std::string, bool> times;
  for (std::string line; std::getline(file, line);) {
    const std::string time = text(line, "ts");
    const std::size_t at = line.find("\"close\": ") + 9;
    prices[text(line, "symbol")][time] = std::stod(line.substr(at));
    times[time] = true;
  }
  Series series;
  for (const auto& [symbol, own] : prices) {
    std::vector<double> x;
    double last = own.begin()->second;
    for (const auto& [time, unused] : times) {
      const auto found = own.find(time);
      if (found != own.end()) last = found->second;
      x.push_back(last);
    }
    if (*std::min_element(x.begin(), x.end()) != *std::max_element(x.begin(), x.end())) {
      series.push_back(std::move(x));
    }
  }
  return series;
}

TEST(Correlation, FindsExactlyWhatComparingAllPairsFindsInRealPrices) {
  WEIR_NEEDS_SHARED_DATA("ticks/hudi_stock_bars_batch_1.ndjson");
  const Series series = hudi_bars();
  ASSERT_GT(series.size(), 90u);
  const SearchInput input(series, std::min<std::size_t>(8, (series[0].size() - 1) / 2));
  for (const double threshold : {0.7, 0.9, 0.95}) {
    expect_brute_force(input, threshold, "prices");
    const FoundPairs found = search(input, threshold);
    fmt::print("{} shares, {} minutes, T = {}: {} pairs, compared {:.1f} % of {}\n", series.size(),
               series[0].size(), threshold, found.pairs.size(),
               100.0 * static_cast<double>(found.compared) / static_cast<double>(found.possible),
               found.possible);
  }
}

TEST(Correlation, SaysSoWhenMorePairsThanItKeepsReachTheThreshold) {
  // 4 600 windows that are all alike: 10.6 million pairs.
  const Series series(4'600, {1, 2, 3, 4, 5, 6, 7, 9, 8, 10, 12, 11});
  const SearchInput input(series, 2);
  const FoundPairs found = search(input, 0.5);
  EXPECT_TRUE(found.too_many);
  EXPECT_TRUE(found.pairs.empty());
  std::vector<std::string_view> names(series.size(), "S");
  const Estimate answer = pairs_answer(found, names, names.size());
  EXPECT_EQ(answer.json, "null");
  EXPECT_NE(answer.reason.find("more than 10000000 pairs"), std::string::npos);
}

TEST(LongCorrelation, FindsExactlyWhatComparingAllPairsFindsAmongTenThousandWindows) {
  for (const std::string shape : {"planted noise", "planted walk"}) {
    const SearchInput input(make_series(shape, 10'000, 200, 3), 8);
    for (const double threshold : {0.7, 0.95}) expect_brute_force(input, threshold, shape);
  }
}

}  // namespace
}  // namespace weir::synopses
