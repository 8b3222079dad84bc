// CountMin with weights: each value counts as often as its weight says, and never wraps (A9).
#include <map>

#include "core/bytes.h"
#include "synopses/count_min.h"
#include "tests/synopses/weights.h"

namespace weir::synopses {
namespace {

const CountMin& as_count_min(const Synopsis& synopsis) {
  return dynamic_cast<const CountMin&>(synopsis);
}

std::unique_ptr<Synopsis> small() { return make("CountMin", {0.05, 0.9, 1}); }

TEST(CountMinWeights, CountAValueAsOftenAsItsWeightSays) {
  expect_weights_count_as_repeats([] { return make("CountMin", {0.01, 0.95, 2}); });
}

TEST(CountMinWeights, OfOneChangeNothing) {
  Values values = workloads()[1].make(100'000, 3);
  const auto plain = small();
  values.feed(*plain);
  values.set_weights(std::vector<std::int64_t>(values.size(), 1));
  const auto ones = small();
  values.feed(*ones);
  EXPECT_EQ(save(*ones), save(*plain));
}

TEST(CountMinWeights, KeepTheBound) {
  // As in CountMin.NeverUnderestimatesAndRarelyExceedsEpsilonN: δ = 0.01 an item, pooled over 3
  // seeds, with 6σ to spare; a failure of a correct table is far below 1e-6.
  for (const Workload& workload : workloads()) {
    std::size_t items = 0, exceeded = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Values values = workload.make(20'000, seed);
      const std::vector<std::int64_t> weights =
          random_weights(values.size(), std::int64_t{1} << 40, seed);
      values.set_weights(weights);
      std::map<std::uint64_t, std::uint64_t> truth;
      for (std::size_t i = 0; i < values.size(); ++i) {
        truth[values.scalar(i).hash()] += static_cast<std::uint64_t>(weights[i]);
      }
      const auto synopsis = make("CountMin", {0.002, 0.99, static_cast<double>(seed)});
      values.feed(*synopsis);
      const double allowed = 0.002 * static_cast<double>(synopsis->n());
      for (const auto& [hash, count] : truth) {
        const std::uint64_t estimate = as_count_min(*synopsis).count(hash);
        ASSERT_GE(estimate, count) << workload.name;
        ++items;
        exceeded += static_cast<double>(estimate - count) > allowed;
      }
    }
    const double expected = 0.01 * static_cast<double>(items);
    EXPECT_LE(static_cast<double>(exceeded), expected + 6 * std::sqrt(expected) + 3)
        << workload.name;
  }
}

TEST(CountMinWeights, NeverWrapACounter) {
  // A9: RedisBloom's INCRBY x 4294967295 and then 1 wrapped a 32-bit cell to zero.
  const auto synopsis = small();
  sevens(1, 4'294'967'295).feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "4294967295");
  sevens(1, 1).feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "4294967296");
  // From 16 bits straight to 64, beside a cell that is almost full.
  const auto jump = small();
  sevens(65'535, 1).feed(*jump);
  sevens(1, kLargestWeight).feed(*jump);
  EXPECT_EQ(jump->estimate(item(7.0))->json, "9007199254806527");
}

TEST(CountMinWeights, PastTwoToTheSixtyTwoSaturateAndAreNeverUnderestimated) {
  // A9: refused with a flag rather than wrapped. 512 weights of 2^53 are 2^62 exactly: still right.
  const auto synopsis = small();
  const Values full = sevens(512, kLargestWeight);
  full.feed(*synopsis);
  EXPECT_EQ(synopsis->n(), CountMin::kMaxN);
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "4611686018427387904");
  EXPECT_EQ(save(**load(save(*synopsis))), save(*synopsis));
  Values nothing;
  nothing.add(7.0);
  nothing.set_weights({0});
  nothing.feed(*synopsis);
  EXPECT_FALSE(as_count_min(*synopsis).saturated());

  sevens(1, 1).feed(*synopsis);
  EXPECT_TRUE(as_count_min(*synopsis).saturated());
  const Estimate answer = *synopsis->estimate(item(7.0));
  EXPECT_EQ(answer.json, "null");
  EXPECT_THAT(answer.reason, testing::HasSubstr("saturated"));
  EXPECT_FALSE(answer.upper.has_value());
  EXPECT_FALSE(synopsis->estimate({}).ok()) << "a wrong query stays wrong";
  // It stays so through saving, cloning, merging either way, and further values.
  const std::string state = save(*synopsis);
  const auto loaded = *load(state);
  EXPECT_EQ(save(*loaded), state);
  EXPECT_EQ(save(*synopsis->clone()), state);
  const auto other = small();
  sevens(3, 1).feed(*other);
  EXPECT_TRUE(loaded->merge(*other).ok());
  EXPECT_TRUE(other->merge(*synopsis).ok());
  full.feed(*synopsis);
  workloads()[0].make(10, 1).feed(*synopsis);
  for (const Synopsis* each : {loaded.get(), other.get(), synopsis.get()}) {
    EXPECT_EQ(save(*each), state);
    EXPECT_EQ(each->memory_bytes(), synopsis->memory_bytes());
  }
}

TEST(CountMinWeights, SaturateWhicheverWayTheyAreCutOrMerged) {
  Values values = workloads()[0].make(2'000, 1);
  values.set_weights(std::vector<std::int64_t>(values.size(), kLargestWeight));
  const auto whole = small();
  values.feed(*whole);
  EXPECT_TRUE(as_count_min(*whole).saturated());
  const auto pieces = small();
  values.feed_in_pieces(*pieces, 1);
  EXPECT_EQ(save(*pieces), save(*whole));
  // Each part alone is within the limit.
  std::vector<std::unique_ptr<Synopsis>> parts;
  for (std::size_t begin = 0; begin < values.size(); begin += 400) {
    parts.push_back(small());
    values.feed(*parts.back(), begin, begin + 400);
    EXPECT_FALSE(as_count_min(*parts.back()).saturated());
    ASSERT_TRUE(parts[0] == parts.back() || parts[0]->merge(*parts.back()).ok());
  }
  EXPECT_EQ(save(*parts[0]), save(*whole));
}

TEST(CountMinWeights, ThatNoRequestLetsThroughDoNoHarm) {
  // Negative ones count for nothing, so no count is too low; larger ones than 2^53 saturate.
  const auto synopsis = small();
  sevens(2, 5).feed(*synopsis);
  sevens(1, -4).feed(*synopsis);
  sevens(1, std::numeric_limits<std::int64_t>::min()).feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "10");
  EXPECT_EQ(synopsis->n(), 10u);
  sevens(2, std::numeric_limits<std::int64_t>::max()).feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(item(7.0))->json, "null");
}

TEST(CountMinWeights, KeepTheLawsOfSynopses) {
  for (const std::int64_t below : {3ll, 100ll, 1ll << 20, 1ll << 48}) {
    for (const Workload& workload : workloads()) {
      SCOPED_TRACE(workload.name);
      Values values = workload.make(6'000, 2);
      values.set_weights(random_weights(values.size(), below, 5));
      expect_laws(small, values, item(1.0));
    }
  }
  Values saturating = workloads()[0].make(2'000, 2);
  saturating.set_weights(std::vector<std::int64_t>(saturating.size(), kLargestWeight));
  expect_laws(small, saturating, item(1.0));
}

TEST(CountMinWeights, RefuseASaturatedStateThatHoldsCounts) {
  const auto synopsis = small();
  const Params& params = synopsis->params();
  const auto& type = *find_type(1);
  const auto payload = [&](std::uint64_t n, std::string_view rest) {
    core::Writer out;
    const CountMin::Shape shape = as_count_min(*synopsis).shape();
    out.put(shape.rows);
    out.put(shape.width);
    out.put(n);
    out.put(std::uint8_t{0});
    out.raw(rest.data(), rest.size());
    return out.take();
  };
  EXPECT_TRUE(type.deserialize(params, payload(CountMin::kMaxN, "")).ok());
  EXPECT_FALSE(type.deserialize(params, payload(CountMin::kMaxN, "x")).ok());
  EXPECT_FALSE(type.deserialize(params, payload(CountMin::kMaxN - 1, "")).ok());
  EXPECT_FALSE(type.deserialize(params, payload(CountMin::kMaxN + 1, "")).ok());
}

}  // namespace
}  // namespace weir::synopses
