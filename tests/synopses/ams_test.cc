#include "synopses/ams.h"

#include <map>
#include <set>

#include "synopses/ams_kernel.h"
#include "synopses/hash.h"
#include "tests/synopses/values.h"

namespace weir::synopses {
namespace {

using Truth = std::map<std::uint64_t, double>;  // net weight by base hash

const Ams& as_ams(const Synopsis& synopsis) { return dynamic_cast<const Ams&>(synopsis); }

Query words(std::vector<Scalar> list) { return {std::move(list), true}; }
Query f2_query() { return words({{std::string("F2")}}); }
Query norm_query() { return words({{core::number(0.0)}, {std::string("L2norm")}}); }
Query count_query(Scalar of) { return words({std::move(of), {std::string("CountEstimation")}}); }
Query product_query() {
  return words({{std::string("innerProduct")}, {std::string("other stream")}});
}

std::vector<std::int64_t> random_weights(std::size_t n, std::int64_t below, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < n; ++i) {
    const auto draw = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
    weights.push_back(random() % 2 == 0 ? draw : -draw);
  }
  return weights;
}

Truth truth_of(const Values& values, const std::vector<std::int64_t>& weights = {}) {
  Truth truth;
  for (std::size_t i = 0; i < values.size(); ++i) {
    truth[values.scalar(i).hash()] += weights.empty() ? 1.0 : static_cast<double>(weights[i]);
  }
  return truth;
}

double product_of(const Truth& f, const Truth& g) {
  double sum = 0;
  for (const auto& [hash, count] : f) {
    const auto found = g.find(hash);
    if (found != g.end()) sum += count * found->second;
  }
  return sum;
}

bool holds(const Estimate& answer, double truth) {
  // A part in 10^12 for the rounding of the bounds themselves.
  const double slack = 1e-12 * std::fabs(truth);
  return *answer.lower <= truth + slack && truth <= *answer.upper + slack;
}

// How often answers missed, against how often they may.
struct Misses {
  int trials = 0;
  int missed = 0;
  double allowed = 0;
  void add(const Estimate& answer, double truth) {
    ++trials;
    missed += !holds(answer, truth);
    allowed += 1.0 - *answer.confidence;
  }
  // 6σ beyond: with independent trials a correct sketch fails once in 10^8; the theorem's chances
  // are loose besides.
  bool fine() const { return missed <= allowed + 6 * std::sqrt(allowed) + 3; }
};

TEST(Ams, KeepsItsBoundsOnEveryWorkload) {
  // Each trial has a seed of its own; counts of one sketch are 20 items of it, pooled.
  for (const Workload& workload : workloads()) {
    for (const bool weighted : {false, true}) {
      for (const std::size_t n : {1u, 30u, 5'000u}) {
        Misses f2, norm, counts, products;
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
          Values values = workload.make(n, seed), other = workload.make(n, seed + 100);
          const auto weights = weighted ? random_weights(n, 50, seed) : std::vector<std::int64_t>{};
          values.set_weights(weights);
          const Truth truth = truth_of(values, weights), other_truth = truth_of(other);
          const std::vector<double> params{5, 200, static_cast<double>(seed)};
          const auto synopsis = make("AMS", params), beside = make("AMS", params);
          values.feed(*synopsis);
          other.feed(*beside);
          const double exact = product_of(truth, truth);
          f2.add(*synopsis->estimate(f2_query()), exact);
          norm.add(*synopsis->estimate(norm_query()), std::sqrt(exact));
          products.add(*synopsis->estimate_with(*beside, product_query()),
                       product_of(truth, other_truth));
          for (std::size_t i = 0; i < n; i += 1 + n / 20) {
            counts.add(*synopsis->estimate(count_query(values.scalar(i))),
                       truth.at(values.scalar(i).hash()));
          }
          counts.add(*synopsis->estimate(count_query({core::number(-12345.5)})), 0.0);
        }
        EXPECT_TRUE(f2.fine() && norm.fine() && products.fine() && counts.fine())
            << workload.name << " n=" << n << " weighted=" << weighted << ": F2 " << f2.missed
            << " of " << f2.trials << ", products " << products.missed << ", counts "
            << counts.missed << " of " << counts.trials;
      }
    }
  }
}

TEST(Ams, KeepsItsBoundsOverManySeedsAtEveryDepth) {
  // The probability is over the seed: a fixed stream of near values, as hard for the hash as any,
  // and small tables, where collisions are many. 400 seeds a depth.
  Values values, other;
  for (int i = 0; i < 300; ++i) {
    for (int times = 0; times < 1 + i % 4; ++times) values.add(static_cast<double>(i));
    if (i % 3 == 0) other.add(static_cast<double>(i));
  }
  const Truth truth = truth_of(values), other_truth = truth_of(other);
  const double exact = product_of(truth, truth), product = product_of(truth, other_truth);
  for (const double depth : {1.0, 2.0, 3.0, 4.0, 5.0, 10.0}) {
    Misses f2, counts, products;
    for (int seed = 0; seed < 400; ++seed) {
      const std::vector<double> params{depth, 64, static_cast<double>(seed)};
      const auto synopsis = make("AMS", params), beside = make("AMS", params);
      values.feed(*synopsis);
      other.feed(*beside);
      f2.add(*synopsis->estimate(f2_query()), exact);
      counts.add(*synopsis->estimate(count_query({core::number(7.0)})), 4.0);
      products.add(*synopsis->estimate_with(*beside, product_query()), product);
    }
    EXPECT_TRUE(f2.fine() && counts.fine() && products.fine())
        << depth << ": " << f2.missed << ' ' << counts.missed << ' ' << products.missed;
  }
}

TEST(Ams, HasRowsThatAreRightOnAverageAndVaryNoMoreThanTheTheoremSays) {
  // One row, 4000 seeds, items 0 … 199 once each: F2 = 200, variance (2/w)(F2² - F4) = 2487.5 for
  // 32 columns. Mean within 6 standard errors (4.7), sample variance within 25 % (it has a relative
  // error of 3 % or so).
  Values values;
  for (int i = 0; i < 200; ++i) values.add(static_cast<double>(i));
  double sum = 0, squares = 0, count_sum = 0, count_squares = 0;
  constexpr int kSeeds = 4'000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto synopsis = make("AMS", {1, 32, static_cast<double>(seed)});
    values.feed(*synopsis);
    const double error = 0.5 * static_cast<double>(as_ams(*synopsis).twice_f2()) - 200.0;
    sum += error;
    squares += error * error;
    const std::uint64_t hash = values.scalar(3).hash();
    const double off = 0.5 * static_cast<double>(as_ams(*synopsis).twice_count(hash)) - 1.0;
    count_sum += off;
    count_squares += off * off;
  }
  EXPECT_NEAR(sum / kSeeds, 0.0, 4.7);
  EXPECT_NEAR(squares / kSeeds / 2'487.5, 1.0, 0.25);
  EXPECT_NEAR(count_sum / kSeeds, 0.0, 6 * std::sqrt(199.0 / 32 / kSeeds));
  EXPECT_NEAR(count_squares / kSeeds / (199.0 / 32), 1.0, 0.15);
}

TEST(Ams, HasAConfidenceFromItsDepth) {
  const auto tail = [](double depth) { return as_ams(*make("AMS", {depth, 64})).tail(1.0 / 8); };
  EXPECT_DOUBLE_EQ(tail(1), 1.0 / 8);
  EXPECT_DOUBLE_EQ(tail(2), 15.0 / 64);
  EXPECT_DOUBLE_EQ(tail(3), 22.0 / 512);
  EXPECT_NEAR(tail(5), (10 * 49.0 + 5 * 7.0 + 1) / 32'768, 1e-15);
  EXPECT_LT(tail(63), 1e-12);
  const auto five = make("AMS", {5, 1'024});
  Values one;
  one.add(1.0);
  one.feed(*five);
  EXPECT_NEAR(*five->estimate(f2_query())->confidence, 0.984, 0.001);
  EXPECT_NEAR(*five->estimate(count_query({core::number(1.0)}))->confidence, 0.956, 0.001);
  EXPECT_NEAR(*five->estimate_with(*five, product_query())->confidence, 0.961, 0.001);
  // Two rows promise little, and say so.
  const auto two = make("AMS", {2, 1'024});
  one.feed(*two);
  EXPECT_GE(*two->estimate(count_query({core::number(1.0)}))->confidence, 0.0);
}

TEST(Ams, L2NormIsTheRootOfF2) {
  // The released code answers F2 to both.
  const auto synopsis = make("AMS", {5, 1'024});
  Values values;
  for (int i = 0; i < 3; ++i) values.add(1.0);
  for (int i = 0; i < 4; ++i) values.add(2.0);
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(f2_query())->json, "25");
  EXPECT_EQ(synopsis->estimate(norm_query())->json, "5");
  EXPECT_EQ(synopsis->estimate(words({{std::string("L2norm")}}))->json, "5");
  EXPECT_EQ(synopsis->estimate(words({{core::number(0.0)}, {std::string("F2")}}))->json, "25");
  EXPECT_EQ(synopsis->estimate(count_query({core::number(2.0)}))->json, "4");
}

TEST(Ams, F2OfPartsIsThatOfTheMergedTableNotTheSumOfTheirs) {
  // The released code adds up F2 of the parts: of four parts that share one item, 4·25² instead of
  // 100².
  const auto whole = make("AMS", {5, 1'024});
  double added = 0;
  for (int part = 0; part < 4; ++part) {
    Values values;
    for (int i = 0; i < 25; ++i) values.add(7.0);
    const auto synopsis = make("AMS", {5, 1'024});
    values.feed(*synopsis);
    added += std::stod(synopsis->estimate(f2_query())->json);
    ASSERT_TRUE(whole->merge(*synopsis).ok());
  }
  EXPECT_EQ(added, 2'500);
  EXPECT_EQ(whole->estimate(f2_query())->json, "10000");
}

TEST(Ams, PartsShareTheirSeedAndMergeIntoOneTableBitForBit) {
  // The released code draws a random seed for each part.
  for (const Workload& workload : workloads()) {
    Values values = workload.make(5'000, 9);
    values.set_weights(random_weights(values.size(), 1'000, 3));
    const auto whole = make("AMS", {5, 100});
    values.feed(*whole);
    std::vector<std::unique_ptr<Synopsis>> parts;
    for (int p = 0; p < 4; ++p) parts.push_back(make("AMS", {5, 100}));
    for (std::size_t i = 0; i < values.size(); ++i) values.feed(*parts[i % 4], i, i + 1);
    ASSERT_TRUE(parts[2]->merge(*parts[3]).ok());
    ASSERT_TRUE(parts[1]->merge(*parts[0]).ok());
    ASSERT_TRUE(parts[2]->merge(*parts[1]).ok());
    EXPECT_EQ(save(*parts[2]), save(*whole)) << workload.name;
    EXPECT_EQ(parts[2]->estimate(f2_query())->json, whole->estimate(f2_query())->json);
  }
}

TEST(Ams, SquaresDoNotOverflow) {
  // The released code sums squares in 32 bits. One item of 2^40, then of the largest weight: F2 is
  // 2^124, the row's 128 bits still exact.
  Values values;
  values.add(7.0);
  values.set_weights({std::int64_t{1} << 40});
  const auto synopsis = make("AMS", {4, 3});
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(f2_query())->json, json_number(0x1p80));
  const auto largest = make("AMS", {4, 3});
  values.set_weights({std::int64_t{1} << 62});
  values.feed(*largest);
  EXPECT_EQ(largest->estimate(f2_query())->json, json_number(0x1p124));
  EXPECT_EQ(largest->estimate(norm_query())->json, "4611686018427387904");
  EXPECT_EQ(largest->estimate(count_query({core::number(7.0)}))->json, "4611686018427387904");
  const auto below = make("AMS", {4, 3});
  values.set_weights({-(std::int64_t{1} << 62)});
  values.feed(*below);
  EXPECT_EQ(below->estimate(count_query({core::number(7.0)}))->json, "-4611686018427387904");
  EXPECT_EQ(largest->estimate_with(*below, product_query())->json, json_number(-0x1p124));
}

TEST(Ams, RefusesMoreThanAGibibyte) {
  const SynopsisType& type = *find_type("AMSSketch");
  const std::vector<Scalar> most = scalars({2, 0x1p27});
  const auto refused = type.create(*parse_params(type, std::span<const Scalar>(most)));
  EXPECT_EQ(refused.status().message(),
            "AMS: 2 x 134217728 cells of 8 bytes are more than 1 GiB, the most a sketch may take");
  const std::vector<Scalar> deep = scalars({65, 10});
  EXPECT_EQ(parse_params(type, std::span<const Scalar>(deep)).status().message(),
            "AMS: depth must be a whole number from 1 to 64, but got 65");
}

TEST(Ams, CountsZeroOfEitherSignAsOneItemAndKeepsLargeIntegersApart) {
  Values values;
  values.add(-0.0);  // A6
  values.add(core::integer(std::int64_t{0}));
  values.add(core::integer(std::uint64_t{8'838'840'643'388'017'390u}));  // A5
  const auto synopsis = make("AMS", {5, 10'000});
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate(count_query({core::number(0.0)}))->json, "2");
  const auto says = [&](std::uint64_t of) {
    return synopsis->estimate(count_query({core::integer(of)}))->json;
  };
  EXPECT_EQ(says(8'838'840'643'388'017'390u), "1");
  EXPECT_EQ(says(8'838'840'643'388'017'664u), "0");
}

TEST(Ams, AnswersWhatItIsNotAskedRightWithAnError) {
  const auto empty = make("AMS", {5, 100}), full = make("AMS", {5, 100});
  workloads()[0].make(100, 1).feed(*full);
  for (const Synopsis* synopsis : {empty.get(), full.get()}) {
    EXPECT_EQ(synopsis->estimate({}).status().message(),
              "a query of AMS takes [item, \"CountEstimation\"], [\"L2norm\"], [\"F2\"] or "
              "[\"innerProduct\", stream], but got nothing");
    EXPECT_FALSE(synopsis->estimate(item(1.0)).ok());
    EXPECT_FALSE(synopsis->estimate(count_query({true})).ok());
    EXPECT_FALSE(synopsis->estimate(words({{std::string("CountEstimation")}})).ok());
    EXPECT_THAT(synopsis->estimate(product_query()).status().message(),
                testing::HasSubstr("compares two streams"));
    EXPECT_FALSE(synopsis->estimate_with(*full, f2_query()).ok());
    EXPECT_TRUE(synopsis->estimate_with(*full, product_query()).ok());
    EXPECT_TRUE(synopsis->estimate(count_query({std::string("F2")})).ok())
        << "an item of that name";
  }
  const Estimate nothing = *empty->estimate(f2_query());
  EXPECT_EQ(nothing.json, "0");
  EXPECT_TRUE(nothing.exact);
  const auto other = make("AMS", {5, 100, 2});
  EXPECT_EQ(full->estimate_with(*other, product_query()).status().message(),
            "no inner product of AMS(depth=5, buckets=100, seed=1) and AMS(depth=5, buckets=100, "
            "seed=2): kind, parameters and seed must be equal");
  EXPECT_FALSE(full->estimate_with(*make("CountMin", {0.1, 0.9}), product_query()).ok());
}

TEST(Ams, RefusesToMergeWhatDiffersAndNamesBoth) {
  const auto synopsis = make("AMS", {5, 100, 1});
  EXPECT_EQ(synopsis->merge(*make("AMS", {5, 100, 2})).message(),
            "cannot merge AMS(depth=5, buckets=100, seed=2) into AMS(depth=5, buckets=100, "
            "seed=1): parameters and seed must be equal");
  EXPECT_FALSE(synopsis->merge(*make("AMS", {4, 100, 1})).ok());
  EXPECT_FALSE(synopsis->merge(*make("AMS", {5, 101, 1})).ok());
  EXPECT_FALSE(synopsis->merge(*make("HyperLogLog", {0.02})).ok());
}

TEST(Ams, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    for (const double depth : {1.0, 4.0, 5.0, 64.0}) {
      const auto fresh = [&] { return make("AMS", {depth, 33}); };
      Values values = workload.make(2'000, 2);
      expect_laws(fresh, values, f2_query());
      values.set_weights(random_weights(values.size(), 1 << 20, 5));
      expect_laws(fresh, values, norm_query());
    }
  }
}

TEST(Ams, PlacesEqualTheirScalarTwinOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> hashes(70), keys{random(), random(), random()};
  for (auto& hash : hashes) hash = random();
  on_every_target([&](const char* target) {
    for (const std::uint32_t buckets : {1u, 7u, 1'024u, 10'000u, kMaxAmsBuckets}) {
      for (std::size_t n = 0; n <= hashes.size(); ++n) {
        std::vector<std::uint32_t> expected(6 * 71, 42), places(6 * 71, 42);
        ams_places_scalar(keys, buckets, hashes.data(), n, expected.data(), 71);
        ams_places(keys, buckets, hashes.data(), n, places.data(), 71);
        ASSERT_EQ(places, expected) << target << " n=" << n << " buckets=" << buckets;
        for (std::size_t i = 0; i < n; ++i) ASSERT_LT(places[i] >> 1, buckets);
      }
    }
  });
}

TEST(LongAms, KeepsItsBoundsAtTenMillionValues) {
  // Confidence 98.4 % for F2 and 95.6 % for each count: with fixed seeds they hold.
  const Values values = workloads()[1].make(10'000'000, 11);
  const Truth truth = truth_of(values);
  for (const std::vector<double>& params :
       {std::vector{5.0, 1'024.0}, std::vector{10.0, 10'000.0}}) {
    const auto synopsis = make("AMS", params);
    values.feed(*synopsis);
    EXPECT_TRUE(holds(*synopsis->estimate(f2_query()), product_of(truth, truth)));
    Misses counts;
    for (std::size_t i = 0; i < 2'000; ++i) {
      counts.add(*synopsis->estimate(count_query(values.scalar(i))),
                 truth.at(values.scalar(i).hash()));
    }
    EXPECT_TRUE(counts.fine()) << counts.missed;
  }
}

}  // namespace
}  // namespace weir::synopses
