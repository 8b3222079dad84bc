#include "synopses/window_quantiles.h"

#include "tests/synopses/quantile_oracle.h"

namespace weir::synopses {
namespace {

// Every bound here is certain, not probable: no test may fail by chance.

std::unique_ptr<Synopsis> window_of(double epsilon, std::size_t window) {
  return make("WindowSketchQuantiles", {epsilon, static_cast<double>(window)});
}
std::size_t allowed(double epsilon, std::size_t window) {
  return static_cast<std::size_t>(epsilon * static_cast<double>(window));
}
Values numbers_only(const Values& values) {
  Values numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).kind != core::Kind::kText) numbers.add(values.value(i));
  }
  return numbers;
}

TEST(WindowQuantiles, AnswersWithinEpsilonNOfTheWindowAtManyMomentsOfEveryWorkload) {
  struct Case {
    double epsilon;
    std::size_t window;
  };
  std::mt19937_64 random(1);
  for (const Workload& workload : workloads()) {
    const Values values = numbers_only(workload.make(45'000, 3));
    for (const Case& c : {Case{0.01, 20'000}, Case{0.05, 7'919}, Case{0.3, 1'000}, Case{0.5, 4'096},
                          Case{0.02, 16'384}, Case{0.2, 30'001}}) {
      const auto synopsis = window_of(c.epsilon, c.window);
      std::size_t done = 0;
      while (done < values.size()) {
        const std::size_t step = 1 + random() % (random() % 2 == 0 ? 14'000 : 2'000);
        const std::size_t moment = std::min(values.size(), done + step);
        values.feed(*synopsis, done, moment);
        done = moment;
        const ExactRanks exact(values, done - std::min(done, c.window), done);
        ASSERT_LE(worst_error(*synopsis, exact), allowed(c.epsilon, c.window))
            << workload.name << " epsilon=" << c.epsilon << " N=" << c.window << " n=" << done;
      }
    }
  }
}

TEST(WindowQuantiles, HoldsItsBoundAfterEveryValueOfASmallWindow) {
  const Values values = workloads()[5].make(1'500, 3);
  for (const auto& [epsilon, window] : std::vector<std::pair<double, std::size_t>>{
           {0.5, 100}, {0.5, 257}, {0.4, 400}, {0.25, 500}, {0.3, 131}}) {
    const auto synopsis = window_of(epsilon, window);
    for (std::size_t n = 1; n <= values.size(); ++n) {
      values.feed(*synopsis, n - 1, n);
      const ExactRanks exact(values, n - std::min(n, window), n);
      ASSERT_LE(worst_error(*synopsis, exact), allowed(epsilon, window)) << window << " n=" << n;
    }
  }
}

TEST(WindowQuantiles, TakesAnyWindowAndIsExactInSmallOnes) {
  // SEMANTICS E: the released window quantiles refuse small windows silently.
  const Values values = workloads()[0].make(3'000, 2);
  for (const std::size_t window : {1u, 2u, 3u, 7u, 99u, 100u, 101u, 1'000u}) {
    const auto synopsis = window_of(0.01, window);
    std::size_t done = 0;
    for (const std::size_t moment : {1u, 2u, 98u, 100u, 101u, 999u, 1'000u, 1'001u, 3'000u}) {
      values.feed(*synopsis, done, moment);
      done = moment;
      const ExactRanks exact(values, done - std::min<std::size_t>(done, window), done);
      ASSERT_EQ(worst_error(*synopsis, exact), 0u) << window;
      ASSERT_TRUE(synopsis->estimate(item(0.5))->exact);
    }
  }
}

TEST(WindowQuantiles, ClosesItsBlocksAndForgetsWhatExpired) {
  // SEMANTICS E: the released window quantiles never close a block. 20 000 times one value, then
  // 20 000 others, then a third: only the last may remain.
  const auto synopsis = window_of(0.01, 20'000);
  Values values;
  for (const double value : {5.0, -3.0, 8.0}) {
    for (int i = 0; i < 20'000; ++i) values.add(value);
  }
  for (std::size_t block = 0; block < 3; ++block) {
    values.feed(*synopsis, block * 20'000, (block + 1) * 20'000);
    for (const double fraction : fractions()) {
      EXPECT_EQ(synopsis->estimate(item(fraction))->json, block == 0   ? "5"
                                                          : block == 1 ? "-3"
                                                                       : "8");
    }
  }
  const auto one = window_of(0.01, 20'000);
  values.feed(*one, 0, 30'000);
  const std::size_t memory = one->memory_bytes();
  values.feed(*one, 30'000, 60'000);
  EXPECT_LE(one->memory_bytes(), memory * 3 / 2) << "expired blocks stay";
}

TEST(WindowQuantiles, GivesTheOnlyValueForEveryFraction) {
  // A11: one observation gave NaN for every quantile.
  for (const std::size_t window : {1u, 50u, 20'000u}) {
    const auto synopsis = window_of(0.01, window);
    Values values;
    values.add(123.0);
    EXPECT_EQ(synopsis->estimate(item(0.9))->json, "null");
    EXPECT_EQ(synopsis->estimate(item(0.9))->reason, "no values yet");
    values.feed(*synopsis);
    for (const double fraction : fractions()) {
      EXPECT_EQ(synopsis->estimate(item(fraction))->json, "123");
    }
  }
}

TEST(WindowQuantiles, GivesTheExactSmallestAndLargestOfTheWindow) {
  // SEMANTICS B: φ = 0 and 1 give min and max; of the window, not of the blocks it is made of.
  std::mt19937_64 random(4);
  for (const Workload& workload : workloads()) {
    const Values values = numbers_only(workload.make(30'000, 8));
    for (const auto& [epsilon, window] : std::vector<std::pair<double, std::size_t>>{
             {0.01, 20'000}, {0.1, 5'000}, {0.5, 700}, {0.3, 131}, {0.01, 99}}) {
      const auto synopsis = window_of(epsilon, window);
      std::size_t done = 0;
      while (done < values.size()) {
        const std::size_t moment = std::min(values.size(), done + 1 + random() % 1'500);
        values.feed(*synopsis, done, moment);
        done = moment;
        const ExactRanks exact(values, done - std::min(done, window), done);
        const Estimate low = *synopsis->estimate(item(0.0)), high = *synopsis->estimate(item(1.0));
        ASSERT_EQ(read_answer(low.json), exact.of_rank(1)) << workload.name << ' ' << done;
        ASSERT_EQ(read_answer(high.json), exact.of_rank(exact.size())) << workload.name;
        ASSERT_TRUE(low.exact && high.exact);
      }
    }
  }
}

TEST(WindowQuantiles, KeepsFewExtremesOfValuesInRandomOrderAndNoMoreThanItsWindowOfAnyOthers) {
  const auto most_memory = [](const auto& value_of) {
    const auto synopsis = window_of(0.01, 20'000);
    Values values;
    for (int i = 0; i < 60'000; ++i) values.add(value_of(i));
    std::size_t most = 0;
    for (std::size_t i = 0; i < 60'000; i += 1'000) {
      values.feed(*synopsis, i, i + 1'000);
      most = std::max(most, synopsis->memory_bytes());
    }
    return most;
  };
  const std::size_t blocks = WindowPlan::make(0.01, 20'000)->keys * 8 + 1'000;
  std::mt19937_64 random(2);
  EXPECT_LE(most_memory([&](int) { return double(random() % 1'000'000'007); }),
            blocks + 2 * 16 * 40);
  EXPECT_LE(most_memory([](int) { return 7.0; }), blocks + 2 * 16);
  EXPECT_LE(most_memory([](int i) { return double(i); }), blocks + 16 * 20'001);
  EXPECT_LE(most_memory([](int i) { return double(-i); }), blocks + 16 * 20'001);
  EXPECT_LE(most_memory([](int i) { return i % 2 == 0 ? double(i) : -double(i); }),
            blocks + 16 * 20'001);
}

TEST(LongWindowQuantiles, GivesTheSmallestAndLargestButForTheOldestBeyondTwoToTheTwentyFour) {
  // φ = 0 and 1 are exact for the covered values; lower and upper hold the window's own.
  constexpr std::size_t kWindow = std::size_t{3} << 23;
  const Result<WindowPlan> plan = WindowPlan::make(0.001, kWindow);
  ASSERT_FALSE(plan->extremes || plan->whole);
  const std::size_t uncovered = plan->allowed / 2;
  const Values values = workloads()[0].make(kWindow * 5 / 4, 8);
  const auto synopsis = window_of(0.001, kWindow);
  std::size_t done = 0;
  while (done < values.size()) {
    const std::size_t moment = std::min(values.size(), done + 3'000'017);
    values.feed(*synopsis, done, moment);
    done = moment;
    const std::size_t begin = done - std::min(done, kWindow);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const Estimate lowest = *synopsis->estimate(item(0.0)),
                   highest = *synopsis->estimate(item(1.0));
    bool smallest = false, largest = false;
    for (std::size_t i = done; i > begin; --i) {
      const double value = core::as_double(values.value(i - 1).bits, core::Kind::kNumber);
      low = std::min(low, value);
      high = std::max(high, value);
      if (i - 1 > begin + (begin == 0 ? 0 : uncovered)) continue;
      smallest |= read_answer(lowest.json) == low;
      largest |= read_answer(highest.json) == high;
    }
    EXPECT_TRUE(smallest && largest);
    EXPECT_LE(*lowest.lower, low);
    EXPECT_GE(*highest.upper, high);
  }
}

TEST(WindowQuantiles, PlansKeepTheirErrorsWithinTwiceEpsilonN) {
  // Inequality (1) of window_plan.h, summed up here in another way.
  for (const double epsilon : {0.5, 0.1, 0.01, 0.003, 0.001, 0.0001}) {
    for (const double window : {1.0, 2.0, 10.0, 999.0, 1e3, 12'345.0, 1e6, 1e7 + 1, 1e9}) {
      const Result<WindowPlan> plan = WindowPlan::make(epsilon, window);
      if (!plan.ok()) continue;
      if (plan->whole) {
        EXPECT_EQ(plan->keys, plan->window);
        continue;
      }
      std::uint64_t error = plan->levels[0].size - 1;
      EXPECT_LE(error, plan->allowed);
      EXPECT_LT(plan->keys, plan->window);
      for (std::size_t i = 0; i + 1 < plan->levels.size(); ++i) error += plan->levels[i].below;
      error += plan->window / plan->levels.back().size * plan->levels.back().below;
      std::uint64_t below = 0;
      for (int j = 0; j < plan->last; ++j) {
        error += below;
        EXPECT_EQ(plan->piece_below(j), below);
        below = 2 * below + (j >= plan->exact_levels ? plan->piece_weight(j) : 0);
      }
      EXPECT_LE(error, 2 * plan->allowed) << epsilon << ' ' << window;
      EXPECT_LE(plan->levels.back().size, plan->window);
    }
  }
}

TEST(WindowQuantiles, TakesAFractionOfTheMemoryOfItsWindow) {
  EXPECT_LE(WindowPlan::make(0.01, 20'000)->keys, 9'000u);
  EXPECT_LE(WindowPlan::make(0.01, 1e6)->keys, 20'000u);
  EXPECT_LE(WindowPlan::make(0.001, 1e6)->keys, 250'000u);
  EXPECT_LE(WindowPlan::make(0.01, 1e12)->keys, 100'000u);
}

TEST(WindowQuantiles, RefusesWhatWouldTakeMoreThanAGibibyte) {
  const SynopsisType* type = find_type("WindowSketchQuantiles");
  const auto status = type->create({0, {1e-6, 1e9}}).status();
  EXPECT_THAT(status.message(), testing::HasSubstr("the limit is 1024; choose a larger epsilon"));
}

TEST(WindowQuantiles, OrdersAndAnswersIntegersThatNoDoubleHolds) {
  // A5, also when they come late, into blocks of plain numbers.
  Values values;
  for (int i = 0; i < 20'000; ++i) values.add(static_cast<double>(i));
  const std::uint64_t base = 8838840643388017390u;
  for (std::uint64_t i = 0; i < 15'000; ++i) values.add(core::integer(base + i * 7 % 15'000));
  const auto synopsis = window_of(0.02, 10'000);
  std::size_t done = 0;
  for (const std::size_t moment : {19'000u, 20'001u, 24'000u, 35'000u}) {
    values.feed(*synopsis, done, moment);
    done = moment;
    const ExactRanks exact(values, done - 10'000, done);
    EXPECT_LE(worst_error(*synopsis, exact), 200u) << done;
  }
}

TEST(WindowQuantiles, DoesNotMerge) {
  const auto synopsis = window_of(0.01, 100);
  EXPECT_THAT(synopsis->merge(*window_of(0.01, 100)).message(),
              testing::HasSubstr("depend on the order of arrival"));
}

TEST(WindowQuantiles, RefusesAQueryThatIsNoFractionEmptyOrNot) {
  const auto synopsis = window_of(0.01, 100);
  Values values;
  values.add(1.0);
  for (int filled = 0; filled < 2; ++filled) {
    EXPECT_THAT(synopsis->estimate(item(7.0)).status().message(),
                testing::HasSubstr("WindowSketchQuantiles takes a number from 0 to 1"));
    EXPECT_FALSE(synopsis->estimate({}).ok());
    EXPECT_TRUE(synopsis->estimate(item(1.0)).ok());
    values.feed(*synopsis);
  }
}

TEST(WindowQuantiles, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    const Values values = workload.make(9'000, 2);
    for (const auto& [epsilon, window] : std::vector<std::pair<double, std::size_t>>{
             {0.05, 3'000}, {0.5, 100}, {0.01, 50}, {0.02, 20'000}}) {
      expect_laws([&, e = epsilon, w = window] { return window_of(e, w); }, values, item(0.5));
    }
  }
}

TEST(WindowQuantiles, RefusesStatesThatBreakItsInvariants) {
  const SynopsisType* type = find_type("WindowSketchQuantiles");
  for (const auto& [epsilon, window] :
       std::vector<std::pair<double, std::size_t>>{{0.1, 2'000}, {0.01, 50}}) {
    const auto synopsis = window_of(epsilon, window);
    workloads()[5].make(7'000, 1).feed(*synopsis);
    std::string good;
    synopsis->serialize(good);
    ASSERT_TRUE(type->deserialize(synopsis->params(), good).ok());
    for (std::size_t length = 0; length < good.size(); length += 13) {
      EXPECT_FALSE(type->deserialize(synopsis->params(), good.substr(0, length)).ok());
    }
    EXPECT_FALSE(type->deserialize(synopsis->params(), good + "12345678").ok());
    std::size_t accepted = 0;
    std::mt19937_64 random(1);
    for (int i = 0; i < 3'000; ++i) {
      std::string bytes = good;
      bytes[random() % (i % 4 == 0 ? 9 : bytes.size())] ^= static_cast<char>(1 << random() % 8);
      const auto loaded = type->deserialize(synopsis->params(), bytes);
      if (!loaded.ok()) continue;
      ++accepted;  // another value in its place
      EXPECT_TRUE((*loaded)->estimate(item(0.37)).ok());
      workloads()[0].make(100, 1).feed(**loaded);
    }
    EXPECT_LT(accepted, 3'000u);
  }
}

TEST(LongWindowQuantiles, AnswersWithinEpsilonNOverTenMillionValues) {
  for (const Workload& workload : workloads()) {
    const Values values = numbers_only(workload.make(10'000'000, 5));
    for (const auto& [epsilon, window] :
         std::vector<std::pair<double, std::size_t>>{{0.001, 1'000'000}, {0.01, 1'234'567}}) {
      const auto synopsis = window_of(epsilon, window);
      std::size_t done = 0;
      while (done < values.size()) {
        const std::size_t moment = std::min(values.size(), done + 2'500'000);
        values.feed(*synopsis, done, moment);
        done = moment;
        const ExactRanks exact(values, done - std::min(done, window), done);
        EXPECT_LE(worst_error(*synopsis, exact), allowed(epsilon, window)) << workload.name;
      }
    }
  }
}

}  // namespace
}  // namespace weir::synopses
