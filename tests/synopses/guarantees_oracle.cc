#include "tests/synopses/guarantees.h"

#include <array>
#include <cfloat>
#include <complex>
#include <numbers>

#include "synopses/bloom_filter.h"
#include "synopses/count_min.h"
#include "tests/synopses/frequent_items_oracle.h"

namespace weir::synopses {
namespace {

double as_double(std::uint64_t count) { return static_cast<double>(count); }
Query words(std::vector<Scalar> args) { return {std::move(args), true}; }
// Items that no workload holds.
Scalar unseen(std::size_t i) { return {core::number(-0.5 - static_cast<double>(i))}; }

// f ≤ f̂ for every item, always; f̂ ≤ f + εN but with probability δ.
std::vector<double> count_min_params(int seed, Truth&, std::size_t) {
  return {0.002, 0.99, static_cast<double>(seed)};
}
void check_count_min(const View& view, Truth& truth, Tally& tally) {
  if (const auto* table = dynamic_cast<const CountMin*>(&view.synopsis)) {
    for (const auto& one : truth.items()) ASSERT_GE(table->count(one.hash), one.count);
  }
  const double excess = 0.002 * as_double(truth.size());
  const auto hold = [&](Scalar scalar, double count, const char* promise) {
    const Estimate answer = view.ask(item(std::move(scalar)));
    EXPECT_EQ(std::stod(answer.json), *answer.upper);
    EXPECT_GE(*answer.upper, count);
    EXPECT_DOUBLE_EQ(*answer.confidence, 0.99);
    tally.add(promise, *answer.upper <= count + excess && *answer.lower <= count, 0.01);
  };
  for (const auto& one : truth.sample(view.in_windows ? 40 : 1'000)) {
    hold(truth.scalar(one), as_double(one.count), "counts");
  }
  for (std::size_t i = 0; i < 20; ++i) hold(unseen(i), 0, "counts of items never seen");
}

// The interval holds the truth with 95 %; the error is below 4 standard errors (and one: a
// collision among few), which a correct sketch exceeds with probability 6·10^-5.
std::vector<double> hyper_log_log_params(int seed, Truth&, std::size_t) {
  return {0.02, static_cast<double>(seed)};
}
void check_hyper_log_log(const View& view, Truth& truth, Tally& tally) {
  const Estimate answer = view.ask({});
  const double distinct = as_double(truth.items().size());
  EXPECT_NEAR(std::stod(answer.json), distinct, 4 * 0.02 * distinct + 1);
  EXPECT_DOUBLE_EQ(*answer.confidence, 0.95);
  tally.add("interval", *answer.lower <= distinct && distinct <= *answer.upper, 0.05);
}

// Never false for an item that was seen; true for one that was not with probability ≤ fpp.
std::vector<double> bloom_filter_params(int seed, Truth& about, std::size_t) {
  return {as_double(about.items().size()), 0.01, static_cast<double>(seed)};
}
void check_bloom_filter(const View& view, Truth& truth, Tally& tally) {
  const auto* filter = dynamic_cast<const BloomFilter*>(&view.synopsis);
  if (filter != nullptr) {
    for (const auto& one : truth.items()) ASSERT_TRUE(filter->may_contain(one.hash));
  }
  for (const auto& one : truth.sample(20)) {
    ASSERT_EQ(view.ask(item(truth.scalar(one))).json, "true");
  }
  for (std::size_t i = 0; i < (view.in_windows ? 100 : 20'000); ++i) {
    const bool wrong = filter != nullptr ? filter->may_contain(unseen(i).hash())
                                         : view.ask(item(unseen(i))).json == "true";
    tally.add("rate", !wrong, 0.01);
  }
}

// X̂_m within 10^-9 of the direct transform of the last whole window, relative to its norm.
constexpr std::size_t kDftWindow = 500, kDftSlide = 200, kCoefficients = 8;
std::vector<double> dft_params(int, Truth&, std::size_t) {
  return {kDftWindow, kDftSlide, kCoefficients};
}
std::complex<long double> direct(const std::vector<long double>& window, std::size_t m) {
  static const std::vector<std::complex<long double>> kRoots = [] {
    std::vector<std::complex<long double>> roots;
    for (std::size_t i = 0; i < kDftWindow; ++i) {
      roots.push_back(std::polar(1.0L, -2 * std::numbers::pi_v<long double> * i / kDftWindow));
    }
    return roots;
  }();
  std::complex<long double> sum = 0;
  for (std::size_t i = 0; i < kDftWindow; ++i) {
    sum += (window[i] - window[0]) * kRoots[m * i % kDftWindow];
  }
  return sum;
}
std::vector<long double> doubles(const std::vector<core::Value>& values) {
  std::vector<long double> list;
  for (const auto& value : values) list.push_back(core::as_double(value.bits, value.kind));
  return list;
}
long double squared_norm(const std::vector<long double>& window) {
  long double sum = 0, squares = 0;
  for (const long double x : window) sum += x - window[0];
  const long double mean = sum / window.size();
  for (const long double x : window) squares += (x - window[0] - mean) * (x - window[0] - mean);
  return squares;
}
void check_dft(const View& view, Truth& truth, Tally&) {
  const Estimate answer = view.ask({});
  if (truth.numbers() < kDftWindow) {
    EXPECT_THAT(answer.reason, testing::HasSubstr("its first window needs 500 values"));
    return;
  }
  const std::size_t open = (truth.numbers() - kDftWindow) % kDftSlide;
  std::vector<long double> window = doubles(truth.last_numbers(kDftWindow + open));
  window.resize(kDftWindow);
  const auto [low, high] = std::minmax_element(window.begin(), window.end());
  const long double squares = squared_norm(window), range = *high - *low;
  if (answer.json == "null") {
    if (range == 0) {
      EXPECT_THAT(answer.reason, testing::StartsWith("constant"));
    } else {
      EXPECT_THAT(answer.reason, testing::HasSubstr("range of a double"));
      EXPECT_GT(range * range * kDftWindow, static_cast<long double>(DBL_MAX));
    }
    return;
  }
  ASSERT_TRUE(range > 0 && squares <= static_cast<long double>(DBL_MAX)) << answer.json;
  const char* at = answer.json.c_str();
  const auto next = [&at] {
    at += std::strcspn(at, "-0123456789");
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    at = end;
    return number;
  };
  for (std::size_t m = 1; m <= kCoefficients; ++m) {
    const long double re = next(), im = next();
    const std::complex<long double> exact = direct(window, m) / std::sqrt(squares);
    const long double root = std::sqrt(static_cast<long double>(kDftWindow));
    EXPECT_LE(std::abs(std::complex(re, im) * root - exact), 1e-9L) << m << ' ' << answer.json;
  }
}

// f̂ ≤ f always, and f ≤ f̂ + εN, or with StickySampling but for the stated probability; the list at
// s holds all items of sN or more (but for the stated probability) and none below (s - ε)N.
void check_counts(const View& view, Truth& truth, double epsilon, double item_confidence,
                  Tally& tally) {
  const double n = as_double(truth.size());
  for (const auto& one : truth.sample(view.in_windows ? 40 : 500)) {
    const Estimate answer = view.ask(ask(truth.scalar(one), "CountEstimation"));
    const double count = as_double(one.count);
    EXPECT_EQ(std::stod(answer.json), *answer.lower);
    EXPECT_LE(*answer.lower, count);
    EXPECT_LE(*answer.upper, *answer.lower + epsilon * n * (1 + 1e-12));
    EXPECT_GE(*answer.confidence, item_confidence);
    tally.add("counts", count <= *answer.upper, 1 - *answer.confidence);
    if (answer.exact) {
      EXPECT_EQ(*answer.lower, count);
    }
  }
}
void check_list(const View& view, Truth& truth, double s, double epsilon, double confidence,
                Tally& tally) {
  const double n = as_double(truth.size());
  const Estimate answer = view.ask(ask(s, "FrequentItems"));
  std::map<std::string, Listed> listed;
  for (const Listed& one : read_list(answer.json)) listed.emplace(one.item, one);
  std::size_t missing = 0, found = 0;
  for (const auto& one : truth.items()) {
    if (as_double(one.count) < (s - epsilon) * n * (1 - 1e-12)) continue;
    const auto at = listed.find(json_item(truth.scalar(one)));
    found += at != listed.end();
    missing += at == listed.end() && as_double(one.count) >= s * n;
    if (at != listed.end()) {
      EXPECT_LE(at->second.estimate, one.count);
    }
  }
  EXPECT_EQ(found, listed.size()) << "one is listed that is below (s - ε)N";
  EXPECT_GE(*answer.confidence, confidence);
  tally.add("list", missing == 0, 1 - *answer.confidence);
}

constexpr double kLossyEpsilon = 0.002;
std::vector<double> lossy_params(int, Truth&, std::size_t) { return {kLossyEpsilon}; }
void check_lossy(const View& view, Truth& truth, Tally& tally) {
  check_counts(view, truth, kLossyEpsilon, 1, tally);
  for (const double s : {0.003, 0.02, 0.4}) check_list(view, truth, s, kLossyEpsilon, 1, tally);
}

constexpr double kSupport = 0.02, kStickyEpsilon = 0.01, kDelta = 0.05;
std::vector<double> sticky_params(int seed, Truth&, std::size_t parts) {
  return {kSupport, kStickyEpsilon, kDelta / as_double(parts), static_cast<double>(seed)};
}
void check_sticky(const View& view, Truth& truth, Tally& tally) {
  check_counts(view, truth, kStickyEpsilon, 1 - kSupport * kDelta - 1e-12, tally);
  for (const double s : {0.02, 0.05, 0.4}) {
    check_list(view, truth, s, kStickyEpsilon, 1 - kDelta - 1e-12, tally);
  }
}

// F2 and counts lie in their intervals but for the stated probability.
std::vector<double> ams_params(int seed, Truth&, std::size_t) {
  return {5, 200, static_cast<double>(seed)};
}
void check_ams(const View& view, Truth& truth, Tally& tally) {
  const auto hold = [&](const Query& query, double exact, double confidence, const char* promise) {
    const Estimate answer = view.ask(query);
    EXPECT_GE(*answer.confidence, confidence);
    const double slack = 1e-12 * exact;  // the rounding of the bounds themselves
    tally.add(promise, *answer.lower <= exact + slack && exact <= *answer.upper + slack,
              1 - *answer.confidence);
  };
  hold(words({{std::string("F2")}}), truth.f2(), 0.983, "F2");
  hold(words({{std::string("L2norm")}}), std::sqrt(truth.f2()), 0.983, "L2 norm");
  for (const auto& one : truth.sample(20)) {
    hold(ask(truth.scalar(one), "CountEstimation"), as_double(one.count), 0.955, "counts");
  }
  hold(ask(unseen(7), "CountEstimation"), 0, 0.955, "counts of items never seen");
}

// |rank - ⌈φn⌉| ≤ εn and lower ≤ φ-quantile ≤ upper, always; the ends are exact.
void check_quantiles(const View& view, const ExactRanks& exact, double allowed) {
  for (int i = 0; i <= 20; ++i) {
    const double fraction = i / 20.0;
    const Estimate answer = view.ask(item(fraction));
    if (exact.size() == 0) {
      EXPECT_EQ(answer.json, "null");
      continue;
    }
    const std::size_t rank = exact.wanted(fraction);
    const std::size_t error = exact.error(read_answer(answer.json), rank);
    EXPECT_LE(as_double(error), i % 20 == 0 ? 0.0 : allowed * (1 + 1e-12)) << fraction;
    EXPECT_LE(static_cast<long double>(*answer.lower), exact.of_rank(rank)) << fraction;
    EXPECT_GE(static_cast<long double>(*answer.upper), exact.of_rank(rank)) << fraction;
  }
}
std::vector<double> gk_params(int, Truth&, std::size_t) { return {0.005}; }
void check_gk(const View& view, Truth& truth, Tally&) {
  check_quantiles(view, truth.ranks(), 0.005 * as_double(truth.numbers()));
}

constexpr std::size_t kQuantileWindow = 20'000;
std::vector<double> window_params(int, Truth&, std::size_t) { return {0.01, kQuantileWindow}; }
void check_window(const View& view, Truth& truth, Tally&) {
  Values last;
  for (const core::Value value : truth.last_numbers(kQuantileWindow)) last.add(value);
  check_quantiles(view, ExactRanks(last, 0, last.size()), 0.01 * kQuantileWindow);
}

// The signature is that of the last W values alone; P(a bit differs) = θ/π.
constexpr std::size_t kLshWindow = 100, kLshBits = 256, kLshSeeds = 16;
std::vector<double> lsh_params(int seed, Truth&, std::size_t) {
  return {kLshWindow, kLshBits, 1, static_cast<double>(seed)};
}
std::string fresh_signature(std::size_t seed, std::span<const core::Value> window) {
  // Clones share the matrices of these.
  static const auto kEmpty = [] {
    std::array<std::unique_ptr<Synopsis>, kLshSeeds> all;
    for (std::size_t i = 0; i < kLshSeeds; ++i) {
      all[i] = make("LSH", {kLshWindow, kLshBits, 1, as_double(i + 1)});
    }
    return all;
  }();
  Values values;
  for (const core::Value value : window) values.add(value);
  const auto synopsis = kEmpty[seed - 1]->clone();
  values.feed(*synopsis);
  return synopsis->estimate({})->json;
}
void check_lsh(const View& view, Truth& truth, Tally&) {
  constexpr std::size_t kLag = 5;
  const Estimate answer = view.ask({});
  const std::vector<core::Value> last = truth.last_numbers(kLshWindow + kLag);
  if (last.size() < kLshWindow + kLag) return;
  const auto newer = std::span(last).last(kLshWindow), older = std::span(last).first(kLshWindow);
  ASSERT_EQ(answer.json, fresh_signature(1, newer));
  std::vector<long double> x = doubles({newer.begin(), newer.end()});
  std::vector<long double> y = doubles({older.begin(), older.end()});
  const bool constant_x = std::ranges::max(x) == std::ranges::min(x);
  EXPECT_EQ(answer.json == "null", constant_x) << answer.reason;
  if (constant_x || std::ranges::max(y) == std::ranges::min(y)) return;
  long double product = 0, mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < kLshWindow; ++i) {
    mean_x += (x[i] - x[0]) / kLshWindow;
    mean_y += (y[i] - y[0]) / kLshWindow;
  }
  for (std::size_t i = 0; i < kLshWindow; ++i) {
    product += (x[i] - x[0] - mean_x) * (y[i] - y[0] - mean_y);
  }
  const long double cosine = product / std::sqrt(squared_norm(x)) / std::sqrt(squared_norm(y));
  const double p = static_cast<double>(std::acos(std::clamp(cosine, -1.0L, 1.0L))) / M_PI;
  double differ = 0;
  for (std::size_t seed = 1; seed <= kLshSeeds; ++seed) {
    const std::string a = fresh_signature(seed, newer), b = fresh_signature(seed, older);
    ASSERT_EQ(a.size(), kLshBits + 2);
    for (std::size_t i = 0; i < a.size(); ++i) differ += a[i] != b[i];
  }
  // 5σ of 4096 independent bits, and 3: a correct matrix fails once in 10^6 windows.
  constexpr double kBits = kLshBits * kLshSeeds;
  EXPECT_NEAR(differ, p * kBits, 5 * std::sqrt(p * (1 - p) * kBits) + 3) << p;
}

constexpr Guarantee kGuarantees[] = {
    {.id = 1, .params = count_min_params, .check = check_count_min, .seeds = 8},
    {.id = 2, .params = hyper_log_log_params, .check = check_hyper_log_log, .seeds = 40},
    {.id = 3, .params = bloom_filter_params, .check = check_bloom_filter, .seeds = 8},
    {.id = 4, .params = dft_params, .check = check_dft, .moments = 40},
    {.id = 5, .params = lossy_params, .check = check_lossy},
    {.id = 6, .params = sticky_params, .check = check_sticky, .seeds = 20},
    {.id = 7, .params = ams_params, .check = check_ams, .seeds = 40},
    {.id = 8, .params = gk_params, .check = check_gk},
    {.id = 9, .params = lsh_params, .check = check_lsh, .moments = 20},
    {.id = 10, .params = window_params, .check = check_window, .moments = 10},
};

}  // namespace

const Guarantee* guarantee_of(int id) {
  for (const Guarantee& one : kGuarantees) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

}  // namespace weir::synopses
