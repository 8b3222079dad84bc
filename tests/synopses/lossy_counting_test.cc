#include "synopses/lossy_counting.h"

#include "tests/synopses/frequent_items_oracle.h"

namespace weir::synopses {
namespace {

std::unique_ptr<Synopsis> lossy(double epsilon) { return make("LossyCounting", {epsilon}); }

std::size_t entries(const Synopsis& synopsis) {
  return dynamic_cast<const LossyCounting&>(synopsis).entries();
}

// The paper's algorithm word for word, on a map: what the table must equal after every value.
class Paper {
 public:
  explicit Paper(std::uint64_t width) : width_(width) {}
  void add(std::uint64_t item) {
    ++n_;
    const std::uint64_t current = (n_ + width_ - 1) / width_;
    const auto at = entries_.find(item);
    if (at != entries_.end()) {
      ++at->second.f;
    } else {
      entries_[item] = {1, current - 1};
    }
    if (n_ % width_ == 0) {
      std::erase_if(entries_, [current](const auto& entry) {
        return entry.second.f + entry.second.delta <= current;
      });
    }
  }
  struct Entry {
    std::uint64_t f = 0, delta = 0;
  };
  const std::unordered_map<std::uint64_t, Entry>& entries() const { return entries_; }

 private:
  std::uint64_t width_;
  std::uint64_t n_ = 0;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

// Every bound of invariants 1 and 2 against the truth. `n` is the number of values.
void expect_bounds(const Synopsis& synopsis, const std::vector<Counted>& truth, double epsilon) {
  const std::uint64_t over =
      synopsis.n() / dynamic_cast<const LossyCounting&>(synopsis).bucket_width();
  ASSERT_LE(static_cast<double>(over), epsilon * static_cast<double>(synopsis.n()));
  for (const Counted& one : truth) {
    const Estimate answer = *synopsis.estimate(ask(one.item, "CountEstimation"));
    const auto count = static_cast<double>(one.count);
    ASSERT_EQ(answer.json, json_number(*answer.lower));
    ASSERT_LE(*answer.lower, count) << describe(one.item);
    ASSERT_GE(*answer.upper, count) << describe(one.item);
    ASSERT_GE(*answer.lower + static_cast<double>(over), count) << describe(one.item);
    if (answer.exact) {
      ASSERT_EQ(*answer.lower, count);
    }
    if (one.count > over) {
      ASSERT_NE(answer.json, "0") << "a frequent item has no entry";
    }
  }
  for (const double s : {1.5 * epsilon, 3 * epsilon, 0.4}) {
    EXPECT_EQ(missing_from_list(synopsis, truth, s, epsilon), 0u) << s;
  }
}

TEST(LossyCounting, EqualsThePaperAfterEveryValue) {
  // Fault: bucket number and deletion test off by one. The twin prunes as the paper writes it.
  for (const Workload& workload : workloads()) {
    for (const double epsilon : {0.5, 0.3, 0.1, 0.04}) {
      const Values values = workload.make(700, 3);
      const auto truth = exact_counts(values);
      const auto synopsis = lossy(epsilon);
      Paper paper(dynamic_cast<const LossyCounting&>(*synopsis).bucket_width());
      for (std::size_t i = 0; i < values.size(); ++i) {
        values.feed(*synopsis, i, i + 1);
        paper.add(values.scalar(i).hash());
        ASSERT_EQ(entries(*synopsis), paper.entries().size()) << workload.name << " i=" << i;
        if (i % 17 != 0) continue;
        for (const auto& one : truth) {
          const auto at = paper.entries().find(one.item.hash());
          const Estimate answer = *synopsis->estimate(ask(one.item, "CountEstimation"));
          if (at == paper.entries().end()) {
            ASSERT_EQ(answer.json, "0") << workload.name << " i=" << i;
          } else {
            ASSERT_EQ(answer.json, std::to_string(at->second.f)) << workload.name << " i=" << i;
            ASSERT_EQ(*answer.upper, static_cast<double>(at->second.f + at->second.delta));
          }
        }
      }
    }
  }
}

TEST(LossyCounting, HoldsItsBoundsOnEveryWorkload) {
  for (const Workload& workload : workloads()) {
    for (const std::size_t n : {0u, 1u, 2u, 99u, 100u, 101u, 1'000u, 30'000u}) {
      SCOPED_TRACE(std::string(workload.name) + " n=" + std::to_string(n));
      const Values values = workload.make(n, 5);
      const auto synopsis = lossy(0.01);
      values.feed(*synopsis);
      EXPECT_EQ(synopsis->n(), n);
      expect_bounds(*synopsis, exact_counts(values), 0.01);
    }
  }
}

TEST(LossyCounting, KeepsFewEntries) {
  // The paper's lemma 4.3, (1/ε)·log(εN) entries, and half of (1/ε)·ln(εN) + 1/ε over it.
  for (const Workload& workload : workloads()) {
    const auto synopsis = lossy(0.002);
    workload.make(200'000, 2).feed(*synopsis);
    EXPECT_LE(static_cast<double>(entries(*synopsis)), 500 * (1 + std::log(0.002 * 200'000)))
        << workload.name;
  }
}

TEST(LossyCounting, KeepsEveryOfFiveEqualItemsAtEveryMultipleOfTheBucket) {
  // A13: decrementing at the border without Δ loses true counts of 1 2 3 4 5 repeated.
  for (const double epsilon : {0.1, 0.05, 0.01}) {
    const auto synopsis = lossy(epsilon);
    const auto width = static_cast<std::size_t>(std::round(1 / epsilon));
    Values values;
    for (std::size_t i = 0; i < 40 * width; ++i) values.add(static_cast<double>(i % 5 + 1));
    for (std::size_t end = width; end <= values.size(); end += width) {
      values.feed(*synopsis, end - width, end);
      EXPECT_EQ(read_list(synopsis->estimate(ask(0.2, "FrequentItems"))->json).size(), 5u) << end;
      for (int item = 1; item <= 5; ++item) {
        const Estimate answer = *synopsis->estimate(ask(item, "CountEstimation"));
        EXPECT_LE(*answer.lower, static_cast<double>(end / 5));
        EXPECT_GE(*answer.lower, (0.2 - epsilon) * static_cast<double>(end));
      }
    }
  }
}

TEST(LossyCounting, CountsZeroOfEitherSignAsOneItemAndSixAsSixPointZero) {
  // A6. Faults: values are hashed as text (6 is not 6.0); integer fields crash.
  Values values;
  values.add(core::integer(std::int64_t{0}));
  values.add(-0.0);
  values.add(0.0);
  values.add(core::integer(std::int64_t{6}));
  values.add(6.0);
  values.add(std::string_view("6"));
  const auto synopsis = lossy(0.01);
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(ask(-0.0, "CountEstimation"))->json, "3");
  EXPECT_EQ(synopsis->estimate(ask(6.0, "CountEstimation"))->json, "2");
  EXPECT_EQ(synopsis->estimate(ask(Scalar{std::string("6")}, "CountEstimation"))->json, "1");
  EXPECT_EQ(synopsis->estimate(ask(0.1, "FrequentItems"))->json,
            "[{\"item\":0,\"estimate\":3,\"lower\":3,\"upper\":3},"
            "{\"item\":6,\"estimate\":2,\"lower\":2,\"upper\":2},"
            "{\"item\":\"6\",\"estimate\":1,\"lower\":1,\"upper\":1}]");
}

TEST(LossyCounting, KeepsIntegersExactThatNoDoubleHolds) {
  // A5, and the fault that integer fields crash six synopses.
  Values values;
  values.add(core::integer(std::uint64_t{8838840643388017390u}));
  values.add(core::integer(std::uint64_t{8838840643388017391u}));
  values.add(core::integer(std::int64_t{-8838840643388017390}));
  const auto synopsis = lossy(0.01);
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(ask(0.3, "FrequentItems"))->json,
            "[{\"item\":-8838840643388017390,\"estimate\":1,\"lower\":1,\"upper\":1},"
            "{\"item\":8838840643388017390,\"estimate\":1,\"lower\":1,\"upper\":1},"
            "{\"item\":8838840643388017391,\"estimate\":1,\"lower\":1,\"upper\":1}]");
}

TEST(LossyCounting, TakesAWeightAsSoManyValues) {
  std::mt19937_64 random(6);
  for (const double epsilon : {0.5, 0.21, 0.02}) {
    for (int round = 0; round < 40; ++round) {
      Values weighted, single;
      std::vector<std::int64_t> weights;
      for (int i = 0; i < 60; ++i) {
        const auto value = static_cast<double>(random() % 12);
        weights.push_back(static_cast<std::int64_t>(random() % (random() % 4 == 0 ? 300 : 4)));
        weighted.add(value);
        for (std::int64_t w = 0; w < weights.back(); ++w) single.add(value);
      }
      weighted.set_weights(weights);
      const auto by_weight = lossy(epsilon), one_by_one = lossy(epsilon);
      weighted.feed(*by_weight);
      single.feed(*one_by_one);
      ASSERT_EQ(save(*by_weight), save(*one_by_one)) << epsilon << " round " << round;
      ASSERT_EQ(by_weight->memory_bytes(), one_by_one->memory_bytes());
    }
  }
}

TEST(LossyCounting, StopsWhenItsWeightsPassTwoToTheSixtyTwoAndSaysSo) {
  Values values;
  std::vector<std::int64_t> weights;
  for (int i = 0; i < 514; ++i) {
    values.add(static_cast<double>(i % 2));
    weights.push_back(std::int64_t{1} << 53);
  }
  values.set_weights(weights);
  const auto synopsis = lossy(0.1);
  values.feed(*synopsis, 0, 512);
  EXPECT_EQ(synopsis->n(), std::uint64_t{1} << 62);
  EXPECT_EQ(synopsis->estimate(ask(1.0, "CountEstimation"))->json, "2305843009213693952");
  values.feed(*synopsis, 512, 513);
  const Estimate answer = *synopsis->estimate(ask(1.0, "CountEstimation"));
  EXPECT_EQ(answer.json, "null");
  EXPECT_THAT(answer.reason, testing::HasSubstr("more than 2^62"));
  EXPECT_EQ(synopsis->estimate(ask(0.5, "FrequentItems"))->json, "null");
  const std::string state = save(*synopsis);
  values.feed(*synopsis, 513, 514);
  EXPECT_EQ(save(*synopsis), state) << "a full one took a value";
  EXPECT_EQ(save(**load(state)), state);
  // It stays so through merges, in either order; and two that are nearly full become it.
  const auto other = lossy(0.1);
  values.feed(*other, 0, 512);
  const auto twin = other->clone();
  ASSERT_TRUE(other->merge(*synopsis).ok());
  EXPECT_EQ(save(*other), state);
  ASSERT_TRUE(twin->merge(*twin).ok());
  EXPECT_EQ(save(*twin), state);
  // Weights that were promised not to occur do no harm.
  Values bad;
  bad.add(1.0);
  bad.add(2.0);
  bad.set_weights({std::numeric_limits<std::int64_t>::min(), -1});
  const auto fresh = lossy(0.1);
  bad.feed(*fresh);
  EXPECT_EQ(fresh->n(), 0u);
}

TEST(LossyCounting, KeepsItsBoundThroughAnyTreeOfMerges) {
  std::mt19937_64 random(12);
  for (const Workload& workload : workloads()) {
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(workload.name);
      const Values values = workload.make(12'000, 7);
      std::vector<std::unique_ptr<Synopsis>> parts;
      // Parts of very different sizes, some of them empty.
      for (std::size_t begin = 0; begin < values.size();) {
        const std::size_t length = random() % (random() % 3 == 0 ? 4'000 : 150);
        const std::size_t end = std::min(values.size(), begin + length);
        parts.push_back(lossy(0.02));
        values.feed(*parts.back(), begin, end);
        begin = end;
      }
      while (parts.size() > 1) {
        std::swap(parts[random() % parts.size()], parts.back());
        const auto last = std::move(parts.back());
        parts.pop_back();
        ASSERT_TRUE(parts[random() % parts.size()]->merge(*last).ok());
      }
      expect_bounds(*parts[0], exact_counts(values), 0.02);
      // A merged one goes on within its bound.
      const Values more = workload.make(3'000, 8);
      more.feed(*parts[0]);
      Values both = values;
      for (std::size_t i = 0; i < more.size(); ++i) {
        const Scalar scalar = more.scalar(i);
        if (const auto* text = std::get_if<std::string>(&scalar.value)) {
          both.add(std::string_view(*text));
        } else {
          both.add(more.value(i));
        }
      }
      expect_bounds(*parts[0], exact_counts(both), 0.02);
    }
  }
}

TEST(LossyCounting, MergesInEitherOrderToOneState) {
  for (const Workload& workload : workloads()) {
    const auto a = lossy(0.02), b = lossy(0.02);
    workload.make(3'000, 1).feed(*a);
    workload.make(1'234, 2).feed(*b);
    const auto ab = a->clone(), ba = b->clone();
    ASSERT_TRUE(ab->merge(*b).ok());
    ASSERT_TRUE(ba->merge(*a).ok());
    EXPECT_EQ(save(*ab), save(*ba)) << workload.name;
    const auto empty = lossy(0.02);
    ASSERT_TRUE(empty->merge(*a).ok());
    EXPECT_EQ(save(*empty), save(*a)) << workload.name;
  }
}

TEST(LossyCounting, RefusesToMergeWhatDiffers) {
  const auto synopsis = lossy(0.01);
  EXPECT_EQ(synopsis->merge(*lossy(0.02)).message(),
            "cannot merge LossyCounting(epsilon=0.02) into LossyCounting(epsilon=0.01): epsilon "
            "must be equal");
  EXPECT_FALSE(synopsis->merge(*make("HyperLogLog", {0.02, 1})).ok());
}

TEST(LossyCounting, RefusesABuildThatNeedsTooMuchMemory) {
  const SynopsisType& type = *find_type(5);
  EXPECT_THAT(type.create({0, {1e-8}}).status().message(),
              testing::HasSubstr("above the limit of 1 GiB; the smallest epsilon is"));
  EXPECT_TRUE(type.create({0, {1e-6}}).ok());
}

TEST(LossyCounting, SaysThatAnItemIsFrequentOnlyIfItSurelyMakesUpEpsilon) {
  Values values;
  for (int i = 0; i < 1'000; ++i) values.add(i % 4 == 0 ? 7.0 : 1'000.0 + i);
  const auto synopsis = lossy(0.05);
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(ask(7.0, "isfrequent"))->json, "true");
  EXPECT_EQ(synopsis->estimate(ask(1'999.0, "isFrequent"))->json, "false") << "seen once, at last";
  const Scalar seven{core::number(7.0)};
  EXPECT_EQ(synopsis->estimate(ask(seven, "isFrequent", 0.25))->json, "true");
  EXPECT_EQ(synopsis->estimate(ask(seven, "isFrequent", 0.31))->json, "false");
}

TEST(LossyCounting, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    expect_laws([] { return lossy(0.01); }, workload.make(9'000, 2), ask(0.02, "FrequentItems"));
  }
  Values weighted = workloads()[1].make(5'000, 2);
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < weighted.size(); ++i) weights.push_back(static_cast<int>(i % 97));
  weighted.set_weights(weights);
  expect_laws([] { return lossy(0.01); }, weighted, ask(1.0, "CountEstimation"));
}

TEST(LongLossyCounting, HoldsItsBoundsAtTenMillionValues) {
  for_long_workloads([](const Values& values, const std::vector<Counted>& truth) {
    const auto synopsis = lossy(0.0001);
    values.feed(*synopsis);
    for (const double s : {0.00015, 0.001, 0.2}) {
      EXPECT_EQ(missing_from_list(*synopsis, truth, s, 0.0001), 0u) << s;
    }
    EXPECT_LE(static_cast<double>(entries(*synopsis)), 10'000 * (1 + std::log(1'000)));
  });
}

}  // namespace
}  // namespace weir::synopses
