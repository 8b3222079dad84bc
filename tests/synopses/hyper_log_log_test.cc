#include "synopses/hyper_log_log.h"

#include <unordered_set>

#include "synopses/hash.h"
#include "synopses/hyper_log_log_kernel.h"
#include "tests/synopses/values.h"

namespace weir::synopses {
namespace {

const HyperLogLog& as_hll(const Synopsis& synopsis) {
  return dynamic_cast<const HyperLogLog&>(synopsis);
}

double number_of(const Estimate& estimate) { return std::stod(estimate.json); }

// One run over 1 … n distinct items, looked at on the way; `look` gets the count so far.
void grow(Synopsis& synopsis, std::span<const std::size_t> at, std::uint64_t salt,
          const std::function<void(std::size_t)>& look) {
  std::size_t done = 0;
  core::Array<std::uint64_t> scratch;
  for (const std::size_t count : at) {
    std::vector<std::uint64_t> bits;
    for (; done < count; ++done) {
      bits.push_back(
          core::number(static_cast<double>(done) + 0.25 * static_cast<double>(salt)).bits);
    }
    synopsis.update(Items(bits, nullptr, nullptr, scratch));
    look(count);
  }
}

TEST(HyperLogLog, IntervalHoldsTheTruthNineteenTimesInTwentyAtEveryCount) {
  // 400 seeds a count: 95 % is 380, and 4σ = 17.4 below it is 362; over 8 counts × 4 precisions a
  // correct interval fails with probability below 0.1 %, and seeds are fixed. Mean error: 1.04/√m.
  constexpr int kSeeds = 400;
  const std::size_t counts[] = {1, 3, 25, 100, 700, 3'000, 12'000, 25'000};
  for (const double rsd : {0.26, 0.13, 0.05, 0.02}) {
    std::vector<int> held(std::size(counts));
    std::vector<double> squares(std::size(counts));
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto synopsis = make("HyperLogLog", {rsd, static_cast<double>(seed)});
      std::size_t c = 0;
      grow(*synopsis, counts, 0, [&](std::size_t count) {
        const Estimate answer = *synopsis->estimate({});
        const auto truth = static_cast<double>(count);
        held[c] += *answer.lower <= truth && truth <= *answer.upper;
        const double error = as_hll(*synopsis).distinct() / truth - 1.0;
        squares[c++] += error * error;
        EXPECT_DOUBLE_EQ(*answer.confidence, 0.95);
        EXPECT_LE(*answer.lower, number_of(answer));
        EXPECT_GE(*answer.upper, number_of(answer));
      });
    }
    for (std::size_t c = 0; c < std::size(counts); ++c) {
      EXPECT_GE(held[c], 362) << "rsd " << rsd << " count " << counts[c];
      const double measured = std::sqrt(squares[c] / kSeeds);
      const double promised =
          1.04 / std::sqrt(as_hll(*make("HyperLogLog", {rsd})).registers().size());
      EXPECT_LE(promised, rsd * (1 + 1e-12));
      // The spread of a standard deviation over 400 draws is 3.5 %; small registers have heavier
      // tails.
      EXPECT_LE(measured, promised * (rsd > 0.1 ? 1.35 : 1.15)) << rsd << " count " << counts[c];
    }
  }
}

TEST(HyperLogLog, CountsAFewItemsExactlyAndNeverMoreThanItTook) {
  const auto synopsis = make("HyperLogLog", {0.02});
  EXPECT_EQ(synopsis->estimate({})->json, "0");
  const std::size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  grow(*synopsis, counts, 0,
       [&](std::size_t count) { EXPECT_EQ(synopsis->estimate({})->json, std::to_string(count)); });
  for (int repeat = 0; repeat < 5; ++repeat) {
    Values again;
    for (int i = 0; i < 10; ++i) again.add(static_cast<double>(i));
    again.feed(*synopsis);
  }
  EXPECT_EQ(synopsis->estimate({})->json, "10");
  EXPECT_EQ(synopsis->n(), 60u);
}

TEST(HyperLogLog, HoldsItsBoundOnEveryWorkload) {
  // Within 4 standard errors: a correct sketch fails one of the 28 with probability below 0.2 %.
  for (const Workload& workload : workloads()) {
    for (const std::size_t n : {1u, 100u, 5'000u, 60'000u}) {
      const Values values = workload.make(n, 21);
      std::unordered_set<std::uint64_t> distinct;
      for (std::size_t i = 0; i < values.size(); ++i) distinct.insert(values.scalar(i).hash());
      const auto synopsis = make("HyperLogLog", {0.02});
      values.feed(*synopsis);
      const auto truth = static_cast<double>(distinct.size());
      EXPECT_NEAR(number_of(*synopsis->estimate({})), truth, std::max(2.0, 4 * 0.02 * truth))
          << workload.name << " n=" << n;
    }
  }
}

TEST(HyperLogLog, EstimatesFarBeyondWhatFitsThirtyTwoBits) {
  // Registers of a stream of 2^40 items are drawn from their law rather than fed: the rank of a
  // register after Poisson(λ) items has P(rank ≤ k) = exp(-λ·2^-k), λ = 2^40/m.
  const auto empty = make("HyperLogLog", {0.02});
  std::string bytes;
  empty->serialize(bytes);
  const std::size_t m = as_hll(*empty).registers().size();
  std::mt19937_64 random(5);
  const double items = 0x1p40;
  const auto n = static_cast<std::uint64_t>(items);
  std::memcpy(bytes.data() + 1, &n, sizeof n);
  for (std::size_t i = 0; i < m; ++i) {
    const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
    int rank = 1;
    while (rank < 53 && std::exp(-items / static_cast<double>(m) * std::ldexp(1.0, -rank)) < u)
      ++rank;
    bytes[9 + i] = static_cast<char>(rank);
  }
  const auto loaded = find_type(2)->deserialize(empty->params(), bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_NEAR(number_of(*(*loaded)->estimate({})), items, 4 * 0.02 * items);
}

TEST(HyperLogLog, CountsZeroOfEitherSignOnce) {
  Values values;
  values.add(core::integer(std::int64_t{0}));
  values.add(-0.0);
  values.add(0.0);
  values.add(core::number(-0.0));
  const auto synopsis = make("HyperLogLog", {0.02});
  values.feed(*synopsis);
  EXPECT_EQ(synopsis->estimate({})->json, "1");
  EXPECT_EQ(synopsis->estimate(item(3.0))->json, "1") << "a value that is not used is ignored";
}

TEST(HyperLogLog, MergesByTheMaximumOfRegistersNotByTheirBits) {
  // A8: registers 1 and 2 merge to 2; or-ing them gives 3.
  const auto blank = make("HyperLogLog", {0.26});
  const auto with = [&](char rank) {
    std::string bytes;
    blank->serialize(bytes);
    const std::uint64_t n = 1;
    std::memcpy(bytes.data() + 1, &n, sizeof n);
    bytes[9] = rank;
    return *find_type(2)->deserialize(blank->params(), bytes);
  };
  const auto one = with(1);
  ASSERT_TRUE(one->merge(*with(2)).ok());
  EXPECT_EQ(as_hll(*one).registers()[0], 2);
  EXPECT_EQ(one->n(), 2u);
}

TEST(HyperLogLog, MergedPartsEqualOneSketchBitForBit) {
  for (const Workload& workload : workloads()) {
    const Values values = workload.make(10'000, 9);
    const auto whole = make("HyperLogLog", {0.02, 4});
    values.feed(*whole);
    std::vector<std::unique_ptr<Synopsis>> parts;
    for (int p = 0; p < 3; ++p) parts.push_back(make("HyperLogLog", {0.02, 4}));
    for (std::size_t i = 0; i < values.size(); ++i) values.feed(*parts[i % 3], i, i + 1);
    ASSERT_TRUE(parts[0]->merge(*parts[2]).ok());
    ASSERT_TRUE(parts[0]->merge(*parts[1]).ok());
    EXPECT_EQ(save(*parts[0]), save(*whole)) << workload.name;
  }
}

TEST(HyperLogLog, RefusesToMergeAnotherPrecisionOrSeedAndNamesBoth) {
  const auto synopsis = make("HyperLogLog", {0.02});
  EXPECT_EQ(synopsis->merge(*make("HyperLogLog", {0.05})).message(),
            "cannot merge HyperLogLog(rsd=0.05, seed=1) into HyperLogLog(rsd=0.02, seed=1): "
            "precision and seed must be equal");
  EXPECT_FALSE(synopsis->merge(*make("HyperLogLog", {0.02, 2})).ok());
  EXPECT_FALSE(synopsis->merge(*make("CountMin", {0.02, 0.9})).ok());
}

TEST(HyperLogLog, ChoosesThePrecisionFromTheError) {
  EXPECT_EQ(HyperLogLog::precision_for(0.26), 4);
  EXPECT_EQ(HyperLogLog::precision_for(0.02), 12);
  EXPECT_EQ(HyperLogLog::precision_for(0.00203125), 18);
}

TEST(HyperLogLog, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    expect_laws([] { return make("HyperLogLog", {0.05, 1}); }, workload.make(9'000, 2), {});
  }
}

TEST(HyperLogLog, RefusesStatesThatCannotBe) {
  const auto synopsis = make("HyperLogLog", {0.26});
  Values values;
  for (int i = 0; i < 20; ++i) values.add(static_cast<double>(i));
  values.feed(*synopsis);
  std::string good;
  synopsis->serialize(good);
  const SynopsisType& type = *find_type(2);
  ASSERT_TRUE(type.deserialize(synopsis->params(), good).ok());
  std::string bad = good;
  bad[9] = 62;  // the largest rank is 65 - 4 = 61
  EXPECT_FALSE(type.deserialize(synopsis->params(), bad).ok());
  bad = good;
  std::memset(bad.data() + 1, 0, 8);  // n = 0 with registers in use
  EXPECT_FALSE(type.deserialize(synopsis->params(), bad).ok());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(
        type.deserialize(synopsis->params(), std::string_view(good).substr(0, length)).ok());
  }
}

TEST(HyperLogLog, KernelEqualsItsScalarTwinOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> hashes(300);
  for (auto& hash : hashes) hash = random();
  on_every_target([&](const char* target) {
    for (const int p : {4, 12, 18}) {
      for (std::size_t n = 0; n <= 100; ++n) {
        std::vector<std::uint8_t> expected(std::size_t{1} << p), registers(std::size_t{1} << p);
        raise_registers_scalar(hashes.data(), n, 99, p, expected.data());
        raise_registers(hashes.data(), n, 99, p, registers.data());
        ASSERT_TRUE(registers == expected) << target << " n=" << n << " p=" << p;
      }
    }
  });
}

TEST(HyperLogLog, RankOfAHashWithoutAnOneIsOneBeyondItsBits) {
  EXPECT_EQ(register_and_rank(0, 12).rank, 53);
  EXPECT_EQ(register_and_rank(1, 12).rank, 52);
  EXPECT_EQ(register_and_rank(~std::uint64_t{0}, 12).rank, 1);
  EXPECT_EQ(register_and_rank(~std::uint64_t{0}, 12).index, 4095u);
}

TEST(LongHyperLogLog, IntervalHoldsTheTruthAtAMillion) {
  constexpr int kSeeds = 200;  // 95 % is 190; 4σ = 12.3
  const std::size_t counts[] = {50'000, 200'000, 1'000'000};
  for (const double rsd : {0.05, 0.02, 0.01}) {
    std::vector<int> held(std::size(counts));
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto synopsis = make("HyperLogLog", {rsd, static_cast<double>(seed)});
      std::size_t c = 0;
      grow(*synopsis, counts, 1, [&](std::size_t count) {
        const Estimate answer = *synopsis->estimate({});
        held[c++] += *answer.lower <= static_cast<double>(count) &&
                     static_cast<double>(count) <= *answer.upper;
      });
    }
    for (std::size_t c = 0; c < std::size(counts); ++c)
      EXPECT_GE(held[c], 177) << rsd << ' ' << counts[c];
  }
}

}  // namespace
}  // namespace weir::synopses
