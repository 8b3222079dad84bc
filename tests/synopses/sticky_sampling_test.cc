#include "synopses/sticky_sampling.h"

#include "tests/synopses/frequent_items_oracle.h"

namespace weir::synopses {
namespace {

constexpr double kSupport = 0.05, kEpsilon = 0.02, kDelta = 0.05;  // t = 300

std::unique_ptr<Synopsis> sticky(double seed = 1, double delta = kDelta) {
  return make("StickySampling", {kSupport, kEpsilon, delta, seed});
}
const StickySampling& as_sticky(const Synopsis& synopsis) {
  return dynamic_cast<const StickySampling&>(synopsis);
}

// Items whose estimate is more than εN below the truth; never one above it.
std::size_t too_low(const Synopsis& synopsis, const std::vector<Counted>& truth) {
  std::size_t low = 0;
  for (const Counted& one : truth) {
    const Estimate answer = *synopsis.estimate(ask(one.item, "CountEstimation"));
    EXPECT_EQ(answer.json, json_number(*answer.lower));
    EXPECT_LE(*answer.lower, static_cast<double>(one.count)) << describe(one.item);
    low += *answer.upper < static_cast<double>(one.count);
  }
  return low;
}

TEST(StickySampling, FindsEveryFrequentItemAndNoRareOneOnEveryWorkload) {
  // A list misses an item with probability ≤ δ = 0.05 over the seed: of 11·4·20 lists beyond 2t
  // values at most 880·0.05 + 6·√(880·0.05·0.95) = 83; in truth the hash makes it far fewer. An
  // item alone is too low with probability ≤ sδ = 0.0025.
  std::size_t lists = 0, with_missing = 0, items = 0, low = 0;
  for (const Workload& workload : workloads()) {
    for (const std::size_t n : {0u, 1u, 599u, 600u, 601u, 2'000u, 5'000u, 20'000u}) {
      const Values values = workload.make(n, 5);
      const auto truth = exact_counts(values);
      for (int seed = 1; seed <= (n > 600 ? 20 : 1); ++seed) {
        const auto synopsis = sticky(seed);
        values.feed(*synopsis);
        EXPECT_EQ(synopsis->n(), n);
        const std::size_t missing = missing_from_list(*synopsis, truth, kSupport, kEpsilon);
        if (n <= 600) {
          EXPECT_EQ(missing, 0u) << "everything is exact up to 2t values";
        }
        ++lists;
        with_missing += missing > 0;
        if (seed <= 2) {
          items += truth.size();
          low += too_low(*synopsis, truth);
        }
      }
    }
  }
  EXPECT_LE(static_cast<double>(with_missing),
            0.05 * static_cast<double>(lists) + 6 * std::sqrt(0.0475 * static_cast<double>(lists)));
  EXPECT_LE(static_cast<double>(low), 0.0025 * static_cast<double>(items) +
                                          6 * std::sqrt(0.0025 * static_cast<double>(items)) + 3);
}

TEST(StickySampling, MissesMoreThanEpsilonNNoMoreOftenThanProved) {
  // For one item of share s among rare ones, at the end of a rate, where N = rt is hardest, 4000
  // seeds: f̂ < f - εN with probability ≤ sδ = 0.0025, so ≤ 10 + 6·√10 = 29 of them.
  Values values;
  for (int i = 0; i < 2'500; ++i) values.add(i % 20 == 19 ? 7.0 : 100.0 + i);
  int low = 0, at_most = 0;
  for (int seed = 0; seed < 4'000; ++seed) {
    const auto synopsis = sticky(seed);
    values.feed(*synopsis, 0, 2'410);
    ASSERT_EQ(as_sticky(*synopsis).rate(), 8u);
    const Estimate answer = *synopsis->estimate(ask(7.0, "CountEstimation"));
    EXPECT_EQ(*answer.confidence, 1 - kSupport * kDelta);
    low += *answer.upper < 120;
    at_most += *answer.lower == 120;
  }
  EXPECT_LE(low, 29);
  EXPECT_GT(at_most, 4'000 / 64) << "an estimate is exact with probability 1/64 or more";
}

TEST(StickySampling, OpensAnEntryWithProbabilityOneInR) {
  // One arrival of an item at rate 2: kept with probability 1/2 over 4000 seeds, σ = 32.
  Values values;
  for (int i = 0; i < 650; ++i) values.add(static_cast<double>(i));
  int kept = 0, survived = 0;
  for (int seed = 0; seed < 4'000; ++seed) {
    const auto synopsis = sticky(seed);
    values.feed(*synopsis);
    ASSERT_EQ(as_sticky(*synopsis).rate(), 2u);
    kept += synopsis->estimate(ask(630.0, "CountEstimation"))->json == "1";
    survived += synopsis->estimate(ask(10.0, "CountEstimation"))->json == "1";
  }
  EXPECT_NEAR(kept, 2'000, 6 * 32);
  EXPECT_NEAR(survived, 2'000, 6 * 32) << "a fair coin at the change of rate";
}

TEST(StickySampling, DoublesItsRateAsThePaperSays) {
  // The first 2t values at rate 1, the next 2t at 2, the next 4t at 4, …; t = ln(400)/0.02 = 300.
  EXPECT_EQ(StickySampling::period(kSupport, kEpsilon, kDelta), 300);
  EXPECT_EQ(StickySampling::period(0.01, 0.001, 0.01), 9'211);
  const auto synopsis = sticky();
  Values values;
  for (int i = 0; i < 5'000; ++i) values.add(static_cast<double>(i % 3));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values.feed(*synopsis, i, i + 1);
    const std::uint64_t expected = i < 600 ? 1 : i < 1'200 ? 2 : i < 2'400 ? 4 : i < 4'800 ? 8 : 16;
    ASSERT_EQ(as_sticky(*synopsis).rate(), expected) << i;
  }
}

TEST(StickySampling, TakesTheLogarithmOfThePeriodRight) {
  for (double support = 1e-9; support <= 1.0; support *= 1.7) {
    for (const double delta : {1e-12, 1e-6, 0.01, 0.3, 0.5}) {
      EXPECT_NEAR(StickySampling::period(support, 1e-9, delta), -std::log(support * delta) / 1e-9,
                  2);
    }
  }
}

TEST(StickySampling, CountsEveryValueInNNotOnlyThoseItSampled) {
  // Faults: N counts only sampled items; query support ignored; unseeded.
  Values values;
  for (int i = 0; i < 100'000; ++i) values.add(i % 10 < 4 ? 1.0 : i % 10 < 6 ? 2.0 : 100.0 + i);
  const auto synopsis = sticky();
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->n(), 100'000u);
  const auto listed = [&](double s) {
    return read_list(synopsis->estimate(ask(s, "FrequentItems"))->json);
  };
  // Were N the sampled values alone, half of which are 1, item 2 would pass a support of 0.3.
  EXPECT_EQ(listed(0.1).size(), 2u);
  ASSERT_EQ(listed(0.3).size(), 1u);
  EXPECT_EQ(listed(0.3)[0].item, "1");
  EXPECT_EQ(listed(0.45).size(), 0u);
}

TEST(StickySampling, DependsOnItsSeedAlone) {
  Values values = workloads()[0].make(20'000, 3);
  const auto a = sticky(1), b = sticky(1), c = sticky(2);
  for (const auto* one : {&a, &b, &c}) values.feed(**one);
  EXPECT_EQ(save(*a), save(*b));
  std::string payload, other;
  a->serialize(payload);
  c->serialize(other);
  EXPECT_NE(payload, other);
}

TEST(StickySampling, StatesTheConfidenceOfTheSupportThatIsAsked) {
  Values values = workloads()[1].make(3'000, 3);
  const auto synopsis = sticky();
  values.feed(*synopsis, 0, 600);
  EXPECT_EQ(*synopsis->estimate(ask(kSupport, "FrequentItems"))->confidence, 1.0);
  EXPECT_TRUE(synopsis->estimate(ask(0.0001, "CountEstimation"))->exact);
  values.feed(*synopsis, 600, 3'000);
  EXPECT_DOUBLE_EQ(*synopsis->estimate(ask(kSupport, "FrequentItems"))->confidence, 0.95);
  EXPECT_DOUBLE_EQ(*synopsis->estimate(ask(0.5, "FrequentItems"))->confidence, 0.95);
  EXPECT_DOUBLE_EQ(*synopsis->estimate(ask(0.025, "FrequentItems"))->confidence, 0.9);
  EXPECT_FALSE(synopsis->estimate(ask(0.0001, "CountEstimation"))->exact);
}

TEST(StickySampling, CountsSixAsSixPointZeroAndZeroOfEitherSignAsOne) {
  // A6, A5. Faults: values are hashed as text; integer fields crash.
  Values values;
  values.add(core::integer(std::int64_t{6}));
  values.add(6.0);
  values.add(-0.0);
  values.add(core::integer(std::int64_t{0}));
  values.add(std::string_view("6"));
  values.add(core::integer(std::uint64_t{8838840643388017391u}));
  const auto synopsis = sticky();
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(ask(0.05, "FrequentItems"))->json,
            "[{\"item\":0,\"estimate\":2,\"lower\":2,\"upper\":2},"
            "{\"item\":6,\"estimate\":2,\"lower\":2,\"upper\":2},"
            "{\"item\":8838840643388017391,\"estimate\":1,\"lower\":1,\"upper\":1},"
            "{\"item\":\"6\",\"estimate\":1,\"lower\":1,\"upper\":1}]");
  EXPECT_EQ(synopsis->estimate(ask(6.0, "isFrequent"))->json, "true");
  EXPECT_EQ(synopsis->estimate(ask(Scalar{core::number(6.0)}, "isFrequent", 0.5))->json, "false");
}

TEST(StickySampling, KeepsWhatItsConfidenceSaysThroughAnyTreeOfMerges) {
  // k parts that sampled: P(too low) ≤ k·sδ for an item. Built with δ/k, so δ = 0.05 stays for the
  // list: of 11·12 lists at most 132·0.05 + 6·√(132·0.0475) = 21 may miss an item.
  std::mt19937_64 random(12);
  std::size_t with_missing = 0, items = 0, low = 0;
  for (const Workload& workload : workloads()) {
    const Values values = workload.make(24'000, 7);
    const auto truth = exact_counts(values);
    for (int seed = 1; seed <= 12; ++seed) {
      std::vector<std::unique_ptr<Synopsis>> parts;
      for (std::size_t begin = 0; begin < values.size();) {
        const std::size_t length = random() % 3 == 0 ? 6'000 : random() % 1'500;
        const std::size_t end = std::min(values.size(), begin + length);
        parts.push_back(sticky(seed, kDelta / 20));
        values.feed(*parts.back(), begin, end);
        begin = end;
      }
      std::uint64_t largest = 0;
      for (const auto& part : parts) largest = std::max(largest, as_sticky(*part).rate());
      const auto empty = static_cast<std::size_t>(
          std::count_if(parts.begin(), parts.end(), [](const auto& p) { return p->n() == 0; }));
      const std::size_t count = parts.size() - empty;
      while (parts.size() > 1) {
        std::swap(parts[random() % parts.size()], parts.back());
        const auto last = std::move(parts.back());
        parts.pop_back();
        ASSERT_TRUE(parts[random() % parts.size()]->merge(*last).ok());
      }
      EXPECT_EQ(as_sticky(*parts[0]).rate(), largest);
      EXPECT_EQ(as_sticky(*parts[0]).parts(), count);
      EXPECT_EQ(parts[0]->n(), values.size());
      with_missing += missing_from_list(*parts[0], truth, kSupport, kEpsilon) > 0;
      if (seed <= 2) {
        items += truth.size();
        low += too_low(*parts[0], truth);
      }
    }
  }
  EXPECT_LE(with_missing, 21u);
  EXPECT_LE(static_cast<double>(low), 0.0025 * static_cast<double>(items) +
                                          6 * std::sqrt(0.0025 * static_cast<double>(items)) + 3);
}

TEST(StickySampling, GoesOnWithinItsBoundAfterMerges) {
  // 400 seeds; an item of share 0.1 in every part and after. P(f̂ < f - εN) ≤ 3·sδ = 0.0075: at most
  // 3 + 6·√3 = 13.
  Values values;
  for (int i = 0; i < 30'000; ++i) values.add(i % 10 == 3 ? 7.0 : 100.0 + i);
  int low = 0;
  for (int seed = 0; seed < 400; ++seed) {
    const auto whole = sticky(seed), second = sticky(seed), third = sticky(seed);
    values.feed(*whole, 0, 5'000);
    values.feed(*second, 5'000, 9'000);
    values.feed(*third, 9'000, 9'700);
    ASSERT_TRUE(whole->merge(*second).ok());
    ASSERT_TRUE(whole->merge(*third).ok());
    EXPECT_EQ(as_sticky(*whole).rate(), 16u);
    values.feed(*whole, 9'700, 30'000);
    // Three parts: the rate changes at three times as many values.
    EXPECT_EQ(as_sticky(*whole).rate(), 32u);
    const Estimate answer = *whole->estimate(ask(7.0, "CountEstimation"));
    EXPECT_DOUBLE_EQ(*answer.confidence, 1 - 3 * kSupport * kDelta);
    EXPECT_LE(*answer.lower, 3'000);
    low += *answer.upper < 3'000;
  }
  EXPECT_LE(low, 13);
}

TEST(StickySampling, MergesInAnyOrderToOneState) {
  for (const Workload& workload : workloads()) {
    const auto a = sticky(), b = sticky(), c = sticky(), empty = sticky();
    workload.make(3'000, 1).feed(*a);
    workload.make(900, 2).feed(*b);
    workload.make(400, 3).feed(*c);
    const auto left = a->clone(), right = c->clone(), bc = b->clone();
    ASSERT_TRUE(left->merge(*b).ok());
    ASSERT_TRUE(left->merge(*c).ok());
    ASSERT_TRUE(right->merge(*b).ok());
    ASSERT_TRUE(right->merge(*a).ok());
    ASSERT_TRUE(bc->merge(*c).ok());
    ASSERT_TRUE(bc->merge(*a).ok());
    EXPECT_EQ(save(*left), save(*right)) << workload.name;
    EXPECT_EQ(save(*left), save(*bc)) << workload.name;
    ASSERT_TRUE(empty->merge(*a).ok());
    EXPECT_EQ(save(*empty), save(*a)) << workload.name;
    ASSERT_TRUE(a->merge(*sticky()).ok());
    EXPECT_EQ(save(*empty), save(*a)) << workload.name;
  }
}

TEST(StickySampling, RefusesToMergeWhatDiffersOrIsTooMuch) {
  const auto synopsis = sticky(1);
  EXPECT_EQ(synopsis->merge(*sticky(2)).message(),
            "cannot merge StickySampling(support=0.05, epsilon=0.02, delta=0.05, seed=2) into "
            "StickySampling(support=0.05, epsilon=0.02, delta=0.05, seed=1): parameters and seed "
            "must be equal");
  EXPECT_FALSE(synopsis->merge(*make("HyperLogLog", {0.02, 1})).ok());
  Values values;
  values.add(7.0);
  values.feed(*synopsis);
  Status status;
  while (status.ok()) status = synopsis->merge(*synopsis);
  EXPECT_THAT(status.message(), testing::HasSubstr("exceed 2^32 parts"));
  EXPECT_EQ(synopsis->estimate(ask(7.0, "CountEstimation"))->json, "4294967296");
  EXPECT_EQ(save(**load(save(*synopsis))), save(*synopsis));
}

TEST(StickySampling, RefusesABuildThatNeedsTooMuchMemoryOrHasNoRoomBetweenItsBounds) {
  const SynopsisType& type = *find_type(6);
  EXPECT_THAT(type.create({0, {0.01, 1e-8, 0.01, 1}}).status().message(),
              testing::HasSubstr("above the limit of 1 GiB; the smallest epsilon is"));
  EXPECT_EQ(type.create({0, {0.01, 0.01, 0.01, 1}}).status().message(),
            "StickySampling: support must be above epsilon (0.01), but got 0.01");
  EXPECT_TRUE(type.create({0, {0.01, 1e-6, 0.01, 1}}).ok());
}

TEST(StickySampling, KeepsNoMoreEntriesThanItsHeaderSays) {
  for (const Workload& workload : workloads()) {
    const auto synopsis = sticky();
    workload.make(100'000, 2).feed(*synopsis);
    const double log_rate = std::log2(static_cast<double>(as_sticky(*synopsis).rate()));
    EXPECT_LE(static_cast<double>(as_sticky(*synopsis).entries()), 300 * (2 + log_rate))
        << workload.name;
  }
  // Rare items: 2t expected at most. σ < √600.
  const auto synopsis = sticky();
  Values values;
  for (int i = 0; i < 150'000; ++i) values.add(static_cast<double>(i));
  values.feed(*synopsis);
  EXPECT_LE(as_sticky(*synopsis).entries(), 600u + 6 * 25);
}

TEST(StickySampling, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    expect_laws([] { return sticky(); }, workload.make(9'000, 2), ask(0.05, "FrequentItems"));
  }
}

TEST(LongStickySampling, HoldsItsBoundsAtTenMillionValues) {
  // δ = 1e-6 for each list: a correct one fails with probability below 4e-5 in all.
  for_long_workloads([](const Values& values, const std::vector<Counted>& truth) {
    const auto synopsis = make("StickySampling", {0.001, 0.0005, 1e-6, 1});
    values.feed(*synopsis);
    for (const double s : {0.001, 0.01, 0.2}) {
      EXPECT_EQ(missing_from_list(*synopsis, truth, s, 0.0005), 0u) << s;
    }
  });
}

}  // namespace
}  // namespace weir::synopses
