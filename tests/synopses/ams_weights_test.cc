// AMS with signed weights: deletions, and a sum of sizes beyond 2^62 (A9).
#include <limits>

#include "core/bytes.h"
#include "synopses/ams.h"
#include "tests/synopses/weights.h"

namespace weir::synopses {
namespace {

const Ams& as_ams(const Synopsis& synopsis) { return dynamic_cast<const Ams&>(synopsis); }
std::unique_ptr<Synopsis> small() { return make("AMS", {3, 20}); }
Query f2_query() { return {{{std::string("F2")}}, true}; }
Query count_query(double of) {
  return {{{core::number(of)}, {std::string("CountEstimation")}}, true};
}

TEST(AmsWeights, CountAValueAsOftenAsItsWeightSays) { expect_weights_count_as_repeats(small); }

TEST(AmsWeights, BelowZeroTakeBackWhatWasCounted) {
  Values values = workloads()[0].make(3'000, 3);
  const auto synopsis = make("AMS", {5, 100});
  values.feed(*synopsis);
  EXPECT_GE(*synopsis->estimate(count_query(-77.0))->lower, 0.0) << "no count is below zero";
  values.set_weights(std::vector<std::int64_t>(values.size(), -1));
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(f2_query())->json, "0");
  EXPECT_EQ(synopsis->n(), 6'000u) << "n is the sum of sizes";
  sevens(1, -4).feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(count_query(7.0))->json, "-4");
}

TEST(AmsWeights, AnswerTheMiddleOfTwoRowsExactly) {
  // Two rows, one column: the signs of 7 and 8 decide whether a row of 7 sees their sum or their
  // difference. Over seeds every middle turns up, also halves beyond what a double holds.
  Values values;
  values.add(7.0);
  values.add(8.0);
  values.set_weights({kLargestWeight + 4, 3});
  std::vector<std::string> seen;
  for (int seed = 0; seed < 60; ++seed) {
    const auto synopsis = make("AMS", {2, 1, static_cast<double>(seed)});
    values.feed(*synopsis);
    seen.push_back(synopsis->estimate(count_query(7.0))->json);
  }
  const std::string less = "9007199254740993", middle = "9007199254740996",
                    more = "9007199254740999";
  EXPECT_THAT(seen, testing::Each(testing::AnyOf(less, middle, more)));
  for (const std::string& each : {less, middle, more}) EXPECT_THAT(seen, testing::Contains(each));
  // A collision in one row of two: the mean of 1 and 2.
  values.set_weights({1, 1});
  std::vector<std::string> halves;
  for (int seed = 0; seed < 60; ++seed) {
    const auto synopsis = make("AMS", {2, 2, static_cast<double>(seed)});
    values.feed(*synopsis);
    halves.push_back(synopsis->estimate(count_query(7.0))->json);
  }
  EXPECT_THAT(halves, testing::Contains("1.5"));
  EXPECT_THAT(halves, testing::Contains("0.5"));
}

TEST(AmsWeights, PastTwoToTheSixtyTwoSaturateRatherThanWrap) {
  // A9: refused with a flag. 512 weights of 2^53 are 2^62 exactly: still right.
  const auto synopsis = small();
  const Values full = sevens(512, -kLargestWeight);
  full.feed(*synopsis);
  EXPECT_EQ(synopsis->n(), Ams::kMaxN);
  EXPECT_EQ(synopsis->estimate(count_query(7.0))->json, "-4611686018427387904");
  EXPECT_EQ(synopsis->estimate(f2_query())->json, json_number(0x1p124));
  EXPECT_EQ(save(**load(save(*synopsis))), save(*synopsis));
  sevens(1, 1).feed(*synopsis);
  EXPECT_TRUE(as_ams(*synopsis).saturated());
  const auto fresh = small();
  const Query product{{{std::string("innerProduct")}, {std::string("b")}}, true};
  for (const Estimate& answer :
       {*synopsis->estimate(f2_query()), *synopsis->estimate(count_query(7.0)),
        *synopsis->estimate_with(*fresh, product), *fresh->estimate_with(*synopsis, product)}) {
    EXPECT_EQ(answer.json, "null");
    EXPECT_THAT(answer.reason, testing::HasSubstr("saturated"));
    EXPECT_FALSE(answer.upper.has_value());
  }
  EXPECT_FALSE(synopsis->estimate({}).ok()) << "a wrong query stays wrong";
  const std::string state = save(*synopsis);
  const auto loaded = *load(state);
  EXPECT_EQ(save(*loaded), state);
  EXPECT_EQ(save(*synopsis->clone()), state);
  EXPECT_TRUE(loaded->merge(*fresh).ok());
  EXPECT_TRUE(fresh->merge(*synopsis).ok());
  full.feed(*synopsis);
  workloads()[0].make(10, 1).feed(*synopsis);
  for (const Synopsis* each : {loaded.get(), fresh.get(), synopsis.get()}) {
    EXPECT_EQ(save(*each), state);
  }
}

TEST(AmsWeights, SaturateWhicheverWayTheyAreCutOrMerged) {
  Values values = workloads()[0].make(2'000, 1);
  std::vector<std::int64_t> weights(values.size(), kLargestWeight);
  for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = -kLargestWeight;
  values.set_weights(weights);
  const auto whole = small(), pieces = small();
  values.feed(*whole);
  EXPECT_TRUE(as_ams(*whole).saturated());
  values.feed_in_pieces(*pieces, 1);
  EXPECT_EQ(save(*pieces), save(*whole));
  const auto merged = small();
  for (std::size_t begin = 0; begin < values.size(); begin += 400) {
    const auto part = small();
    values.feed(*part, begin, begin + 400);
    EXPECT_FALSE(as_ams(*part).saturated());
    ASSERT_TRUE(merged->merge(*part).ok());
  }
  EXPECT_EQ(save(*merged), save(*whole));
  expect_laws(small, values, f2_query());
  const auto smallest = small();
  sevens(1, std::numeric_limits<std::int64_t>::min()).feed(*smallest);
  EXPECT_EQ(save(*smallest), save(*whole));
}

TEST(AmsWeights, RefuseCellsThatNoValuesCouldHaveMade) {
  const SynopsisType& type = *find_type(7);
  const auto refusal = [&](std::uint64_t n, int flags, std::vector<std::int64_t> cells) {
    core::Writer out;
    out.put(std::uint32_t{1});
    out.put(std::uint32_t{2});
    out.put(n);
    out.put(static_cast<std::uint8_t>(flags));
    out.put_span(std::span<const std::int64_t>(cells));
    const auto loaded = type.deserialize(make("AMS", {1, 2})->params(), out.bytes());
    return loaded.ok() ? "" : loaded.status().message();
  };
  constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(refusal(5, 0, {-2, 1}), "");
  EXPECT_EQ(refusal(Ams::kMaxN, 2, {}), "");
  EXPECT_THAT(refusal(2, 0, {-2, 1}), testing::HasSubstr("more than the sum"));
  EXPECT_THAT(refusal(4, 0, {-2, 1}), testing::HasSubstr("does not fit"));
  EXPECT_THAT(refusal(5, 0, {kSmallest, 1}), testing::HasSubstr("more than the sum"));
  EXPECT_THAT(refusal(~0ull, 0, {kSmallest, kSmallest}), testing::HasSubstr("2^62"));
  EXPECT_THAT(refusal(5, 4, {-2, 1}), testing::HasSubstr("flags"));
  EXPECT_THAT(refusal(0, 1, {0, 0}), testing::HasSubstr("flags"));
  EXPECT_THAT(refusal(5, 2, {}), testing::HasSubstr("saturated"));
  EXPECT_THAT(refusal(Ams::kMaxN, 2, {0, 0}), testing::HasSubstr("saturated"));
  EXPECT_THAT(refusal(Ams::kMaxN, 3, {}), testing::HasSubstr("flags"));
  EXPECT_THAT(refusal(5, 0, {-2}), testing::HasSubstr("number of cells"));
}

}  // namespace
}  // namespace weir::synopses
