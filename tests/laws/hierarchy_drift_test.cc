// Sums do not drift, however many updates they have seen: each is the fixed tree's sum of the last
// values, bit for bit, and so within n·2^-53·Σ|v| of the exact one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/oracle/fixed_sum.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

// Round r gives every sensor one value, in an order of its own. So what a sensor's last value is
// after any number of updates can be told without having kept it.
class Updates {
 public:
  static constexpr std::uint64_t kSensors = 251;  // prime: every step visits all of them

  static std::uint64_t sensor(std::uint64_t update) {
    const std::uint64_t round = update / kSensors, i = update % kSensors;
    return (i * (1 + round % (kSensors - 1)) + round) % kSensors;
  }
  // 1e16, 1e9 and 1e-3 with all signs, and small whole numbers.
  static double value(std::uint64_t update) {
    std::uint64_t bits = update * 0x9e3779b97f4a7c15;
    bits ^= bits >> 29;
    const double part = static_cast<double>(bits % 1'000'003) / 1'000'003 + 0.5;
    const double sign = (bits >> 40) % 2 == 0 ? 1 : -1;
    constexpr std::array kScales = {1e16, 1e9, 1e-3, 1.0};
    return sign * part * kScales[(bits >> 41) % kScales.size()];
  }
  explicit Updates(std::uint64_t seen) {
    for (std::uint64_t u = seen > 2 * kSensors ? seen - 2 * kSensors : 0; u < seen; ++u) {
      last_[fmt::format("s{:03}", sensor(u))] = value(u);
    }
  }
  std::optional<double> operator()(const std::string& sensor) const {
    const auto found = last_.find(sensor);
    return found == last_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, double> last_;
};

PlainRegistry plant(bool with_last_hall) {
  PlainRegistry r;
  r.root = "plant";
  for (std::uint64_t s = 0; s < Updates::kSensors; ++s) {
    const std::string hall = fmt::format("hall{}", s % 3), line = fmt::format("line{:02}", s % 21);
    r.groups[hall];
    if (s < 21) r.groups[hall].push_back(line);
    r.groups[line];
    if (s % 3 != 2 || with_last_hall) r.groups[line].push_back(fmt::format("s{:03}", s));
  }
  r.groups["plant"] = {"hall0", "hall1", "hall2"};
  return r;
}

// The exact sum but for a relative 2^-120 or so: a sum and what it has lost, in long doubles.
long double nearly_exact(const std::vector<double>& values) {
  long double sum = 0, lost = 0;
  for (const double v : values) {
    const long double next = sum + v;
    lost += std::abs(sum) >= std::abs(static_cast<long double>(v)) ? (sum - next) + v
                                                                   : (v - next) + sum;
    sum = next;
  }
  return sum + lost;
}

struct Checked {
  std::uint64_t results = 0, empty = 0;
};

class DriftChecker {
 public:
  // Before `emptied` records hall2 has sensors, then none, from `restored` on again.
  DriftChecker(std::uint64_t emptied, std::uint64_t restored)
      : emptied_(emptied), restored_(restored), full_(plant(true)), without_(plant(false)) {}

  void check(const GroupResult& r) {
    const std::uint64_t seq = raw(r.seq);
    if (seq != seen_) last_ = Updates(seen_ = seq);
    const bool out = seq >= emptied_ && seq < restored_;
    const WorkedOutRegistry& registry = out ? without_ : full_;
    const std::string id(r.identifier);
    ASSERT_TRUE(registry.is_group(id));
    const GroupState state = state_of(registry, id, last_);
    ASSERT_EQ(r.sum, state.sum) << id << " after " << seq;
    ASSERT_EQ(std::signbit(r.sum), std::signbit(state.sum));
    ASSERT_EQ(r.count, state.count) << id << " after " << seq;
    ASSERT_EQ(r.min, state.min);
    ASSERT_EQ(r.max, state.max);
    std::vector<double> values;
    double size = 0;
    for (const std::string& sensor : registry.groups().at(id).sensors) {
      const auto value = last_(sensor);
      if (!value.has_value()) continue;
      values.push_back(*value);
      size += std::abs(*value);
    }
    const double bound = static_cast<double>(values.size()) * 0x1p-53 * size;
    ASSERT_LE(std::abs(static_cast<double>(nearly_exact(values) - r.sum)), bound) << id;
    ++checked.results;
    if (values.empty()) {
      ASSERT_EQ(r.sum, 0.0);
      ASSERT_FALSE(r.average().has_value());
      ++checked.empty;
    }
  }

  Checked checked;

 private:
  std::uint64_t emptied_, restored_, seen_ = ~std::uint64_t{0};
  WorkedOutRegistry full_, without_;
  Updates last_{0};
};

void expect_no_drift(std::uint64_t updates, std::uint64_t every) {
  DriftChecker checker(updates / 2, updates / 2 + updates / 4);
  Config config;
  config.threads = 2;
  config.placement = "none";
  config.groups.mode = GroupOptions::Mode::kLatest;
  config.emit = config.groups.emit = {0, every};
  config.groups.fields = {"power"};
  config.hierarchies.push_back({plant(true).json(), "plant", std::nullopt});
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  engine->on_result([&](const GroupResult& r) {
    if (!testing::Test::HasFailure()) checker.check(r);
  });
  ASSERT_TRUE(
      engine
          ->request(fmt::format(
              R"([{{"at":{{"record":{}}},"registry":{}}},{{"at":{{"record":{}}},"registry":{}}}])",
              updates / 2, plant(false).json(), updates / 2 + updates / 4, plant(true).json()))
          .ok());
  ASSERT_TRUE(engine->start().ok());
  constexpr std::size_t kBatch = 4096;
  std::vector<std::string> names;
  for (std::uint64_t s = 0; s < Updates::kSensors; ++s) names.push_back(fmt::format("s{:03}", s));
  std::vector<FieldValue> fields(kBatch, FieldValue::of("power", 0.0));
  std::vector<Tuple> tuples(kBatch);
  for (std::uint64_t at = 0; at < updates;) {
    const std::size_t n = std::min<std::uint64_t>(kBatch, updates - at);
    for (std::size_t i = 0; i < n; ++i) {
      fields[i].real = Updates::value(at + i);
      tuples[i] = {"plant",
                   names[Updates::sensor(at + i)],
                   {static_cast<std::int64_t>(at + i)},
                   {&fields[i], 1}};
    }
    Push push = Push::kFull;
    while ((push = engine->push(std::span<const Tuple>(tuples.data(), n))) == Push::kFull) {
      std::this_thread::yield();
    }
    ASSERT_EQ(push, Push::kAccepted);
    at += n;
  }
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->applied + summary->unrouted, updates);
  EXPECT_EQ(summary->late, 0u);
  EXPECT_GT(checker.checked.results, 25 * (updates / every - 2) * 2 / 3);
  EXPECT_EQ(checker.checked.empty, 1u + 7u);  // hall2 and its lines, once
}

TEST(HierarchyDrift, SumsAreThoseOfTheLastValuesAfterTwoMillionUpdates) {
  expect_no_drift(2'000'000, 10'007);
}

TEST(LongNoDrift, SumsAreThoseOfTheLastValuesAfterAThousandMillionUpdates) {
  expect_no_drift(1'000'000'000, 1'000'003);
}

}  // namespace
}  // namespace weir::tests
