#include "synopses/count_min.h"

#include <unordered_map>

#include "core/bytes.h"
#include "synopses/hash.h"
#include "tests/synopses/values.h"

namespace weir::synopses {
namespace {

// True counts by base hash: exact, since distinct items of the workloads have distinct hashes.
std::unordered_map<std::uint64_t, std::uint64_t> exact_counts(const Values& values) {
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  for (std::size_t i = 0; i < values.size(); ++i) ++counts[values.scalar(i).hash()];
  return counts;
}

const CountMin& as_count_min(const Synopsis& synopsis) {
  return dynamic_cast<const CountMin&>(synopsis);
}

TEST(CountMin, NeverUnderestimatesAndRarelyExceedsEpsilonN) {
  // δ = 0.01 for each item, over seeds: of M items at most M·δ + 6·√(M·δ(1-δ)) + 3 may exceed.
  // Items of one table share their rows, so several seeds are pooled; the bound is loose in
  // practice (a Markov bound), and a failure of a correct table is far below 1e-6.
  for (const Workload& workload : workloads()) {
    for (const std::size_t n : {1u, 2u, 10u, 1'000u, 30'000u}) {
      std::size_t items = 0;
      std::size_t exceeded = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Values values = workload.make(n, seed);
        const auto synopsis = make("CountMin", {0.002, 0.99, static_cast<double>(seed)});
        values.feed(*synopsis);
        EXPECT_EQ(synopsis->n(), n);
        for (const auto& [hash, count] : exact_counts(values)) {
          const std::uint64_t estimate = as_count_min(*synopsis).count(hash);
          ASSERT_GE(estimate, count) << workload.name << " n=" << n;
          ++items;
          exceeded += static_cast<double>(estimate) >
                      static_cast<double>(count) + 0.002 * static_cast<double>(n);
        }
      }
      const double expected = 0.01 * static_cast<double>(items);
      EXPECT_LE(static_cast<double>(exceeded), expected + 6 * std::sqrt(expected) + 3)
          << workload.name << " n=" << n;
    }
  }
}

TEST(CountMin, HoldsItsBoundForItemsNeverSeenOverManySeeds) {
  // The probability is over the seed: for a fixed stream and item, 2000 seeds; with ε = 0.05, δ =
  // 0.1 at most 200 may exceed, 6σ = 81 more. The stream is the hardest for a small table: many
  // items of equal weight.
  Values values;
  for (int i = 0; i < 400; ++i) values.add(static_cast<double>(i));
  int exceeded = 0;
  for (int seed = 0; seed < 2000; ++seed) {
    const auto synopsis = make("CountMin", {0.05, 0.9, static_cast<double>(seed)});
    values.feed(*synopsis);
    const Estimate answer = *synopsis->estimate(item(-1.0));
    EXPECT_LE(*answer.lower, *answer.upper);
    exceeded += *answer.lower > 0.0;  // the true count is 0
  }
  EXPECT_LE(exceeded, 281);
}

TEST(CountMin, AnswersWithBoundsThatHoldTheTruth) {
  const Values values = workloads()[1].make(20'000, 5);
  const auto synopsis = make("CountMin", {0.002, 0.99, 3});
  values.feed(*synopsis);
  const auto counts = exact_counts(values);
  std::size_t outside = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const Estimate answer = *synopsis->estimate(item(values.scalar(i)));
    const auto truth = static_cast<double>(counts.at(values.scalar(i).hash()));
    EXPECT_FALSE(answer.exact);
    EXPECT_DOUBLE_EQ(*answer.confidence, 0.99);
    EXPECT_EQ(answer.json, json_number(*answer.upper));
    outside += truth < *answer.lower || truth > *answer.upper;
    EXPECT_EQ(*answer.lower, std::ceil(*answer.lower)) << "counts are whole";
    EXPECT_GE(*answer.lower, *answer.upper - 0.002 * 20'000);
  }
  EXPECT_LE(outside, 500 * 0.01 + 6 * std::sqrt(5.0));
}

TEST(CountMin, RoundsItsLowerBoundUpSinceCountsAreWhole) {
  const auto synopsis = make("CountMin", {0.01, 0.99, 1});
  Values values;
  for (int i = 0; i < 3; ++i) values.add(6.0654);
  values.feed(*synopsis);
  EXPECT_EQ(*synopsis->estimate(item(6.0654))->lower, 3.0) << "3 - 0.03 is no count";
  for (int i = 0; i < 97; ++i) values.add(6.0654);
  const auto more = make("CountMin", {0.01, 0.99, 1});
  values.feed(*more);
  EXPECT_EQ(*more->estimate(item(6.0654))->lower, 99.0);
}

TEST(CountMin, ChoosesAShapeThatKeepsTheGuaranteeWithFewRows) {
  for (const double epsilon : {1e-6, 1e-4, 0.002, 0.01, 0.1, 0.5}) {
    for (const double delta : {1e-9, 1e-4, 0.01, 0.1, 0.5}) {
      const CountMin::Shape shape = CountMin::shape_for(epsilon, delta);
      const double one_row = (1.0 / shape.width + 0x1p-32) / epsilon;
      EXPECT_LE(std::pow(one_row, shape.rows), delta * (1 + 1e-12)) << epsilon << ' ' << delta;
    }
  }
  EXPECT_EQ(CountMin::shape_for(0.002, 0.01), (CountMin::Shape{3, 2321}));
}

TEST(CountMin, TakesAConfidenceOrAFailureProbability) {
  const auto by_confidence = make("CountMin", {0.002, 0.99, 1});
  const auto by_delta = make("CountMin", {0.002, 0.01, 1});
  EXPECT_EQ(as_count_min(*by_confidence).shape(), as_count_min(*by_delta).shape());
  EXPECT_DOUBLE_EQ(as_count_min(*by_delta).confidence(), 0.99);
  EXPECT_TRUE(by_confidence->merge(*by_delta).ok());
}

TEST(CountMin, CountsZeroOfEitherSignAsOneItemAndSixAsSixPointZero) {
  Values values;
  values.add(core::integer(std::int64_t{0}));
  values.add(-0.0);
  values.add(0.0);
  values.add(core::number(-0.0));
  values.add(core::integer(std::int64_t{6}));
  values.add(6.0);
  const auto synopsis = make("CountMin", {0.002, 0.99, 1});
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(item(-0.0))->json, "4");
  EXPECT_EQ(synopsis->estimate(item(Scalar{core::integer(std::int64_t{6})}))->json, "2");
}

TEST(CountMin, WidensItsCellsBeforeTheyWrap) {
  // Past 2^16 by updates of one value, past 2^32 by doubling with a clone, to 2^62 and no further
  // (A9; weights take it there too, see count_min_weights_test.cc).
  const auto synopsis = make("CountMin", {0.1, 0.9, 1});
  Values values;
  for (int i = 0; i < 70'000; ++i) values.add(7.0);
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "70000");
  std::size_t last_memory = synopsis->memory_bytes();
  std::uint64_t expected = 70'000;
  int widened = 0;
  while (expected <= CountMin::kMaxN / 2) {
    ASSERT_TRUE(synopsis->merge(*synopsis->clone()).ok());
    expected *= 2;
    ASSERT_EQ(synopsis->estimate(item(7.0))->json, std::to_string(expected));
    ASSERT_EQ(synopsis->n(), expected);
    widened += synopsis->memory_bytes() != last_memory;
    last_memory = synopsis->memory_bytes();
    ASSERT_EQ(save(**load(save(*synopsis))), save(*synopsis));
  }
  EXPECT_EQ(widened, 1);  // 4 to 8 bytes; 2 to 4 came with the updates
  ASSERT_TRUE(synopsis->merge(*synopsis->clone()).ok());
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "null");
  EXPECT_EQ(synopsis->n(), CountMin::kMaxN);
}

TEST(CountMin, HasTheSameStateWhicheverWayItsCellsBecameWide) {
  // The same counts by one update, by single values, and by merging: cells widen at other moments.
  const auto fresh = [] { return make("CountMin", {0.5, 0.5, 1}); };
  Values values;
  for (int i = 0; i < 200'000; ++i) values.add(static_cast<double>(i % 3));
  const auto whole = fresh();
  values.feed(*whole);
  const auto pieces = fresh();
  values.feed_in_pieces(*pieces, 1);
  const auto merged = fresh();
  for (std::size_t begin = 0; begin < values.size(); begin += 50'000) {
    const auto part = fresh();
    values.feed(*part, begin, begin + 50'000);
    ASSERT_TRUE(merged->merge(*part).ok());
  }
  EXPECT_EQ(save(*whole), save(*pieces));
  EXPECT_EQ(save(*whole), save(*merged));
  EXPECT_EQ(whole->memory_bytes(), merged->memory_bytes());
}

TEST(CountMin, ReportsNarrowCellsUntilACounterNeedsMore) {
  const auto synopsis = make("CountMin", {0.5, 0.5, 1});
  Values values;
  for (int i = 0; i < 65'535; ++i) values.add(7.0);
  values.feed_in_pieces(*synopsis, 3);
  const std::size_t narrow = synopsis->memory_bytes();
  EXPECT_EQ(narrow, make("CountMin", {0.5, 0.5, 1})->memory_bytes());
  values.feed(*synopsis, 0, 1);
  EXPECT_GT(synopsis->memory_bytes(), narrow);
}

TEST(CountMin, MergedPartsEqualOneTableBitForBit) {
  for (const Workload& workload : workloads()) {
    const Values values = workload.make(10'000, 9);
    const auto whole = make("CountMin", {0.01, 0.95, 4});
    values.feed(*whole);
    std::vector<std::unique_ptr<Synopsis>> parts;
    for (int p = 0; p < 3; ++p) parts.push_back(make("CountMin", {0.01, 0.95, 4}));
    for (std::size_t i = 0; i < values.size(); ++i) values.feed(*parts[i % 3], i, i + 1);
    ASSERT_TRUE(parts[0]->merge(*parts[2]).ok());
    ASSERT_TRUE(parts[0]->merge(*parts[1]).ok());
    EXPECT_EQ(save(*parts[0]), save(*whole)) << workload.name;
  }
}

TEST(CountMin, RefusesToMergeWhatDiffersAndNamesBoth) {
  const auto synopsis = make("CountMin", {0.002, 0.99, 1});
  const auto other_seed = make("CountMin", {0.002, 0.99, 2});
  const auto other_epsilon = make("CountMin", {0.003, 0.99, 1});
  const auto other_kind = make("HyperLogLog", {0.02});
  EXPECT_EQ(synopsis->merge(*other_seed).message(),
            "cannot merge CountMin(epsilon=0.002, confidence=0.99, seed=2) into "
            "CountMin(epsilon=0.002, confidence=0.99, seed=1): parameters and seed must be equal");
  EXPECT_FALSE(synopsis->merge(*other_epsilon).ok());
  EXPECT_THAT(synopsis->merge(*other_kind).message(), testing::HasSubstr("HyperLogLog(rsd=0.02"));
}

TEST(CountMin, SeedChangesItsRows) {
  const Values values = workloads()[0].make(5'000, 1);
  const auto one = make("CountMin", {0.01, 0.99, 1});
  const auto two = make("CountMin", {0.01, 0.99, 2});
  values.feed(*one);
  values.feed(*two);
  std::string one_state, two_state;
  one->serialize(one_state);
  two->serialize(two_state);
  EXPECT_NE(one_state, two_state);
}

TEST(CountMin, AnswersAQueryThatIsNoItemWithAnError) {
  const auto synopsis = make("CountMin", {0.002, 0.99, 1});
  EXPECT_THAT(synopsis->estimate({}).status().message(),
              testing::HasSubstr("takes one item, a number or a text such as 6.0654"));
  EXPECT_FALSE(synopsis->estimate(item(Scalar{true})).ok());
  EXPECT_FALSE(synopsis->estimate({scalars({1, 2}), true}).ok());
  EXPECT_EQ(synopsis->estimate(item(1.0))->json, "0");
}

TEST(CountMin, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    expect_laws(
        [] {
          return make("CountMin", {0.05, 0.9, 1});
        },
        workload.make(9'000, 2), item(1.0));
  }
  // Cells of every width.
  expect_laws(
      [] {
        return make("CountMin", {0.5, 0.5, 1});
      },
      workloads()[3].make(180'000, 2), item(1.0));
}

TEST(CountMin, RowsEqualTheirScalarTwinOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> hashes(100);
  for (auto& hash : hashes) hash = random();
  std::vector<HashRow> rows;
  for (int r = 0; r < 5; ++r) rows.push_back({random(), random(), random()});
  on_every_target([&](const char* target) {
    for (const std::uint32_t width : {1u, 7u, 2321u, 5'000'000u, 0xffffffffu}) {
      for (std::size_t n = 0; n <= hashes.size(); ++n) {
        std::vector<std::uint32_t> expected(5 * 101, 42), cells(5 * 101, 42);
        cells_of_scalar(rows, width, hashes.data(), n, expected.data(), 101);
        cells_of(rows, width, hashes.data(), n, cells.data(), 101);
        ASSERT_EQ(cells, expected) << target << " n=" << n << " width=" << width;
        for (std::size_t i = 0; i < n; ++i) ASSERT_LT(cells[i], width);
      }
    }
  });
}

TEST(CountMin, RowsCollideNoMoreOftenThanTheProofSays) {
  // Strongly universal: two fixed items meet in a row of 100 cells with probability 1/100 over the
  // coefficients. 40 000 draws: expected 400, 6σ = 120. Pairs near each other, as prices hash to.
  for (const std::uint64_t other : {0x1ull, 0x100000000ull, 0x100000001ull, ~0ull}) {
    SeedSequence random(other);
    int collisions = 0;
    for (int i = 0; i < 40'000; ++i) {
      const std::uint64_t a = random.next(), b = random.next(), c = random.next();
      const HashRow row{a, b, c};
      collisions +=
          row.cell(0x123456789abcdefull, 100) == row.cell(0x123456789abcdefull ^ other, 100);
    }
    EXPECT_NEAR(collisions, 400, 120) << other;
  }
}

TEST(LongCountMin, HoldsItsBoundAtAMillionValues) {
  for (const Workload& workload : workloads()) {
    const Values values = workload.make(1'000'000, 11);
    const auto synopsis = make("CountMin", {0.002, 0.99, 1});
    values.feed(*synopsis);
    std::size_t exceeded = 0, items = 0;
    for (const auto& [hash, count] : exact_counts(values)) {
      const std::uint64_t estimate = as_count_min(*synopsis).count(hash);
      ASSERT_GE(estimate, count) << workload.name;
      ++items;
      exceeded += estimate > count + 2'000;
    }
    EXPECT_LE(exceeded, 0.01 * items + 6 * std::sqrt(0.01 * items) + 3) << workload.name;
  }
}

}  // namespace
}  // namespace weir::synopses
