// The search for correlated streams, from records to pairs, against every pair compared by its
// definition.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/shared_data.h"

namespace weir::tests {
namespace {

constexpr std::int64_t kStart =
    1546387200;  // 2019-01-02T00:00:00Z, a multiple of every basic window

// The last value of each interval, by stream.
using Series = std::map<std::string, std::map<std::int64_t, double>>;

struct Grid {
  std::int64_t interval, basic, window;  // seconds, intervals, intervals
};

// The window that the end of the input closes, the last value carried into empty intervals; nothing
// if the stream began after it did, or if all its values are equal.
std::optional<std::vector<double>> window_of(const std::map<std::int64_t, double>& values,
                                             std::int64_t last, const Grid& grid) {
  const std::int64_t end = (last + 1) / grid.basic * grid.basic;
  const std::int64_t first = (values.begin()->first + grid.basic - 1) / grid.basic * grid.basic;
  if (first > end - grid.window) return std::nullopt;
  std::vector<double> window;
  for (std::int64_t k = end - grid.window; k < end; ++k) {
    window.push_back(std::prev(values.upper_bound(k))->second);
  }
  const auto [min, max] = std::minmax_element(window.begin(), window.end());
  return *min == *max ? std::nullopt : std::optional(window);
}

long double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  long double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  const auto n = static_cast<long double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

struct Found {
  std::map<std::pair<std::string, std::string>, double> pairs;
  std::uint64_t compared = 0, possible = 0, streams = 0, left_out = 0;
};

Found read(const std::string& answer) {
  Found found;
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  EXPECT_EQ(parser.parse(answer).get(json), simdjson::SUCCESS);
  const auto estimate = json["estimate"];
  for (const auto pair : simdjson::dom::array(estimate["pairs"])) {
    const std::string a{std::string_view(pair["streams"].at(0))};
    const std::string b{std::string_view(pair["streams"].at(1))};
    EXPECT_LT(a, b);
    found.pairs[{a, b}] = double(pair["correlation"]);
  }
  found.compared = std::uint64_t(estimate["compared"]);
  found.possible = std::uint64_t(estimate["possible"]);
  found.streams = std::uint64_t(estimate["streams"]);
  found.left_out = std::uint64_t(estimate["left_out"]);
  return found;
}

void expect_all_pairs(const Series& series, const Grid& grid, std::int64_t last, double threshold,
                      const Found& found) {
  std::vector<std::pair<std::string, std::vector<double>>> windows;
  for (const auto& [stream, values] : series) {
    if (auto window = window_of(values, last, grid)) windows.emplace_back(stream, *window);
  }
  EXPECT_EQ(found.streams, series.size());
  EXPECT_EQ(found.left_out, series.size() - windows.size());
  EXPECT_EQ(found.possible, windows.size() * (windows.size() - 1) / 2);
  std::size_t expected = 0;
  for (std::size_t a = 0; a < windows.size(); ++a) {
    for (std::size_t b = a + 1; b < windows.size(); ++b) {
      const auto exact = static_cast<double>(correlation(windows[a].second, windows[b].second));
      ASSERT_GT(std::fabs(exact - threshold), 1e-12) << "too near to tell";
      const auto pair = found.pairs.find({windows[a].first, windows[b].first});
      ASSERT_EQ(pair != found.pairs.end(), exact > threshold)
          << windows[a].first << " " << windows[b].first << " " << exact;
      if (pair == found.pairs.end()) continue;
      ++expected;
      EXPECT_NEAR(pair->second, exact, 1e-12);
    }
  }
  EXPECT_EQ(found.pairs.size(), expected);
  std::printf("T = %.2f: %zu pairs of %zu streams; compared %.2f %% of %llu\n", threshold, expected,
              windows.size(),
              100.0 * static_cast<double>(found.compared) / static_cast<double>(found.possible),
              static_cast<unsigned long long>(found.possible));
}

std::string request(const std::string& dataset, const std::string& field, const Grid& grid) {
  std::string text = R"({"op":"build","synopsis":"DFT","dataset":")" + dataset + R"(","field":")" +
                     field + R"(","params":{"interval":)" + std::to_string(grid.interval) +
                     R"(,"basic":)" + std::to_string(grid.interval * grid.basic) + R"(,"window":)" +
                     std::to_string(grid.interval * grid.window) + R"(,"coefficients":8}})" + "\n";
  for (const char* threshold : {"0.7", "0.9", "0.95"}) {
    text += R"({"op":"query","synopsis":"DFT","dataset":")" + dataset + R"(","field":")" + field +
            R"(","query":["correlated",)" + threshold + "]}\n";
  }
  return text;
}

TEST(Correlation, OfAThousandStreamsFindsThePairsThatComparingAllFinds) {
  // Random walks; every tenth stream follows the one before it, with more or less noise.
  const Grid grid{2, 10, 100};
  std::mt19937_64 random(11);
  const auto noise = [&] { return static_cast<double>(random() % 2001) / 1000.0 - 1.0; };
  std::vector<double> level(1000, 100.0);
  std::string lines;
  Series series;
  const std::int64_t intervals = 137;
  for (std::int64_t k = 0; k < intervals; ++k) {
    for (std::size_t s = 0; s < level.size(); ++s) {
      const bool follows = s % 10 == 9;
      level[s] += noise();
      const double value =
          follows ? level[s - 1] + 0.02 * static_cast<double>(s % 70) * noise() : level[s];
      // Some intervals have no value, some have two; some streams come late.
      if ((s % 50 == 7 && k < 60) || random() % 5 == 0) continue;
      for (std::uint64_t twice = random() % 4 == 0 ? 0 : 1; twice < 2; ++twice) {
        const double shown = std::round((value + (twice == 0 ? 3 : 0)) * 1e6) / 1e6;
        const std::int64_t time = kStart + k * grid.interval + (twice == 0 ? 0 : 1);
        char line[160];
        std::snprintf(line, sizeof line,
                      R"({"streamID":"S%03zu","dataSetKey":"D","timestamp":%lld,"price":%.6f})", s,
                      static_cast<long long>(time) * 1000, shown);
        lines += line;
        lines += '\n';
        series["S" + std::string(line + 14, 3)][time / grid.interval] =
            std::stod(std::string(line).substr(std::string(line).find("price") + 7));
      }
    }
  }
  std::vector<std::string> answers;
  for (const unsigned threads : {1u, 3u}) {
    Config config;
    config.layout = "saams";
    config.threads = threads;
    config.block_size = threads == 1 ? 512 << 10 : 20'000;
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::make_unique<MemorySource>(lines));
    const ObservedRun run = observe(config, request("D", "price", grid), std::move(sources));
    ASSERT_EQ(run.answers.size(), 4u);
    if (threads == 1) answers = run.answers;
    EXPECT_EQ(run.answers, answers);
  }
  const std::int64_t last = kStart / grid.interval + intervals - 1;
  std::size_t i = 1;
  for (const double threshold : {0.7, 0.9, 0.95}) {
    const Found found = read(answers[i++]);
    EXPECT_GT(found.left_out, 0u);
    EXPECT_GT(found.pairs.size(), 20u);
    EXPECT_LT(found.compared, found.possible);
    expect_all_pairs(series, grid, last, threshold, found);
  }
}

TEST(Correlation, OfRealBarsFindsThePairsThatComparingAllFinds) {
  WEIR_NEEDS_SHARED_DATA("ticks/hudi_stock_bars_batch_1.ndjson");
  const auto path = shared_data() / "ticks/hudi_stock_bars_batch_1.ndjson";
  const Grid grid{60, 1, 30};
  Config config;
  config.mapping_toml = R"(
format = "ndjson"
stream = "/symbol"
dataset_constant = "Bars"
time = "/ts"
time_unit = "iso"
fields = ["close"]
)";
  Series series;
  std::int64_t last = 0;
  simdjson::dom::parser parser;
  std::string text;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    text += line + "\n";
    simdjson::dom::element bar;
    ASSERT_EQ(parser.parse(line).get(bar), simdjson::SUCCESS);
    int hour = 0, minute = 0;
    const std::string when{std::string_view(bar["ts"])};
    ASSERT_EQ(std::sscanf(when.c_str(), "2018-08-31 %d:%d", &hour, &minute), 2) << when;
    // 2018-08-31T00:00:00Z is 1535673600.
    const std::int64_t interval = 1535673600 / 60 + hour * 60 + minute;
    last = std::max(last, interval);
    series[std::string{std::string_view(bar["symbol"])}][interval] = double(bar["close"]);
  }
  ASSERT_EQ(series.size(), 99u);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(text));
  const ObservedRun run = observe(config, request("Bars", "close", grid), std::move(sources));
  ASSERT_EQ(run.answers.size(), 4u);
  std::size_t i = 1;
  for (const double threshold : {0.7, 0.9, 0.95}) {
    expect_all_pairs(series, grid, last, threshold, read(run.answers[i++]));
  }
}

}  // namespace
}  // namespace weir::tests
