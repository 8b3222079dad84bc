#include "synopses/lsh.h"

#include <bit>
#include <thread>

#include "synopses/lsh_kernel.h"
#include "tests/synopses/grid_streams.h"

namespace weir::synopses {
namespace {

const Lsh& as_lsh(const Synopsis& synopsis) { return dynamic_cast<const Lsh&>(synopsis); }

Values column(const std::vector<double>& values) {
  Values list;
  for (const double value : values) list.add(value);
  return list;
}

std::string signature_of(const std::vector<double>& params, const std::vector<double>& values) {
  const auto synopsis = make("LSH", params);
  column(values).feed(*synopsis);
  return synopsis->estimate({})->json;
}

std::uint32_t hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::uint32_t differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ += static_cast<std::uint32_t>(std::popcount(a[i] ^ b[i]));
  }
  return differ;
}

double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
}

// Two windows whose correlation is `cosine`: x and cosine·x + sine·z, z orthogonal to x and to 1.
std::pair<std::vector<double>, std::vector<double>> pair_at(double cosine, std::size_t w,
                                                            std::mt19937_64& random) {
  const auto centred = [&](std::vector<double>& v) {
    double mean = 0, norm = 0;
    for (const double value : v) mean += value / static_cast<double>(w);
    for (double& value : v) value -= mean;
    for (const double value : v) norm += value * value;
    for (double& value : v) value /= std::sqrt(norm);
  };
  std::vector<double> x(w), z(w), y(w);
  for (double& value : x) value = uniform(random);
  for (double& value : z) value = uniform(random);
  centred(x);
  centred(z);
  double dot = 0;
  for (std::size_t i = 0; i < w; ++i) dot += x[i] * z[i];
  for (std::size_t i = 0; i < w; ++i) z[i] -= dot * x[i];
  centred(z);
  const double sine = std::sqrt(1.0 - cosine * cosine);
  for (std::size_t i = 0; i < w; ++i) y[i] = cosine * x[i] + sine * z[i];
  return {x, y};
}

TEST(Lsh, BitsDifferAsOftenAsTheAngleSays) {
  // 4096 bits for each of 25 seeds: 102,400 independent bits. A share off by 4.9 standard errors
  // fails a correct matrix once in a million; there are 28 shares.
  std::mt19937_64 random(11);
  for (const std::size_t w : {3u, 5u, 20u, 100u}) {
    for (const double cosine : {0.99, 0.9, 0.5, 0.0, -0.5, -0.9, -0.99}) {
      std::uint64_t differ = 0;
      const int seeds = 25;
      for (int seed = 0; seed < seeds; ++seed) {
        const auto [x, y] = pair_at(cosine, w, random);
        const auto planes = Hyperplanes::make(static_cast<std::uint32_t>(w), 4096,
                                              static_cast<std::uint64_t>(seed));
        differ += hamming(Lsh::sign(x, 4096, *planes), Lsh::sign(y, 4096, *planes));
      }
      const double bits = 4096.0 * seeds;
      const double p = std::acos(cosine) / M_PI;
      EXPECT_NEAR(static_cast<double>(differ) / bits, p, 4.9 * std::sqrt(p * (1 - p) / bits))
          << "window " << w << " cosine " << cosine;
    }
  }
}

TEST(Lsh, HyperplanesAreNormalAndTheSameOnEveryMachine) {
  const std::uint32_t w = 1000, d = 1000;
  const auto planes = Hyperplanes::make(w, d, 1);
  long double m1 = 0, m2 = 0, m4 = 0, m6 = 0;
  for (std::uint32_t bit = 0; bit < d; ++bit) {
    for (std::uint32_t i = 0; i < w; ++i) {
      const long double g =
          planes->entries()[(bit / kLshBlock * w + i) * kLshBlock + bit % kLshBlock];
      m1 += g, m2 += g * g, m4 += g * g * g * g, m6 += g * g * g * g * g * g;
    }
  }
  // Moments 0, 1, 3, 15 of a million draws, within five of their standard errors.
  EXPECT_NEAR(static_cast<double>(m1 / 1e6L), 0.0, 0.005);
  EXPECT_NEAR(static_cast<double>(m2 / 1e6L), 1.0, 0.0071);
  EXPECT_NEAR(static_cast<double>(m4 / 1e6L), 3.0, 0.049);
  EXPECT_NEAR(static_cast<double>(m6 / 1e6L), 15.0, 0.51);
  for (std::size_t rest = d; rest < planes->blocks() * kLshBlock; ++rest) {
    ASSERT_EQ(planes->entries()[(rest / kLshBlock * w + 7) * kLshBlock + rest % kLshBlock], 0.0f);
  }
  // Golden bits.
  EXPECT_EQ(std::bit_cast<std::uint32_t>(planes->entries()[0]), 3212081020u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(planes->entries()[999 * kLshBlock]), 1029649041u);
}

TEST(Lsh, AllStreamsShareOneMatrixAndEveryQueryUsesIt) {
  // The released code redraws its hyperplanes at each query.
  EXPECT_EQ(Hyperplanes::make(50, 70, 9)->entries(), Hyperplanes::make(50, 70, 9)->entries())
      << "the first is gone before the second is made, yet";
  const auto one = Hyperplanes::make(50, 70, 9);
  EXPECT_EQ(one, Hyperplanes::make(50, 70, 9));
  EXPECT_NE(one, Hyperplanes::make(50, 70, 8));
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i * i % 31);
  const auto a = make("LSH", {50, 70}), b = make("LSH", {50, 70}),
             other = make("LSH", {50, 70, 1, 2});
  for (const auto* synopsis : {&a, &b, &other}) column(values).feed(**synopsis);
  const std::string first = a->estimate({})->json;
  EXPECT_EQ(a->estimate({})->json, first);
  EXPECT_EQ(b->estimate({})->json, first);
  EXPECT_EQ((*load(save(*a)))->estimate({})->json, first);
  EXPECT_NE(other->estimate({})->json, first) << "another seed";
  // Made while many ask for the first time.
  std::vector<std::thread> threads;
  std::vector<std::string> answers(4);
  const auto shared = make("LSH", {50, 2000, 1, 77});
  column(values).feed(*shared);
  for (std::string& answer : answers) {
    threads.emplace_back([&] { answer = shared->estimate({})->json; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(answers, testing::Each(answers[0]));
}

TEST(Lsh, KeepsTheNewestValuesAndLetsTheOldestGo) {
  // The released code evicts the newest tuple.
  std::mt19937_64 random(5);
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(uniform(random));
  const auto synopsis = make("LSH", {100, 64});
  for (std::size_t n = 1; n <= values.size(); ++n) {
    const Values all = column(values);
    all.feed(*synopsis, n - 1, n);
    if (n < 100) {
      ASSERT_EQ(synopsis->estimate({})->reason,
                "its first window needs 100 values, it has " + std::to_string(n));
      continue;
    }
    if (n % 37 != 0) continue;
    const std::vector<double> last(values.begin() + static_cast<std::ptrdiff_t>(n - 100),
                                   values.begin() + static_cast<std::ptrdiff_t>(n));
    ASSERT_EQ(as_lsh(*synopsis).window(0).values, last);
    ASSERT_EQ(synopsis->estimate({})->json, signature_of({100, 64}, last));
  }
}

TEST(Lsh, BitsAreTheSidesOfTheHyperplanesByTheDefinition) {
  // The released code's matrix product is wrong.
  std::mt19937_64 random(6);
  for (const std::uint32_t w : {2u, 3u, 33u, 100u}) {
    for (const std::uint32_t bits : {1u, 31u, 32u, 33u, 64u, 100u}) {
      std::vector<double> x(w);
      for (double& value : x) value = 1e6 + uniform(random);
      const auto planes = Hyperplanes::make(w, bits, 4);
      const auto signature = Lsh::sign(x, bits, *planes);
      ASSERT_EQ(signature.size(), (bits + 63) / 64);
      long double mean = 0;
      for (const double value : x) mean += value;
      mean /= w;
      for (std::uint32_t d = 0; d < bits; ++d) {
        long double side = 0;
        for (std::uint32_t i = 0; i < w; ++i) {
          side += (x[i] - mean) *
                  planes->entries()[(d / kLshBlock * w + i) * kLshBlock + d % kLshBlock];
        }
        if (std::fabs(side) < 1e-8L) continue;
        ASSERT_EQ(signature[d / 64] >> (d % 64) & 1, side > 0 ? 1u : 0u) << w << ' ' << d;
      }
    }
  }
}

TEST(Lsh, ASignatureHasAllItsBitsTrailingZerosToo) {
  // In the released code trailing zero bits vanish.
  std::size_t ended_in_zero = 0;
  for (int trial = 0; trial < 64; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) values.push_back((i * i + trial * i) % 13);
    const std::string json = signature_of({20, 70}, values);
    EXPECT_EQ(json.size(), 72u);
    EXPECT_EQ(json.find_first_not_of("01", 1), 71u);
    if (json[70] == '0') ++ended_in_zero;
  }
  EXPECT_GT(ended_in_zero, 10u);
  // Bit 0 stands first.
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(i % 7);
  const auto planes = Hyperplanes::make(20, 70, 1);
  EXPECT_EQ(signature_of({20, 70}, values)[1],
            (Lsh::sign(values, 70, *planes)[0] & 1) != 0 ? '1' : '0');
}

TEST(Lsh, LevelAndScaleDoNotMatter) {
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back(i * i % 23);
  const std::string plain = signature_of({64, 200}, values);
  for (const auto& [scale, level] :
       {std::pair{0x1p-1040, 0.0}, {0x1p1010, 0.0}, {1.0, 1e9}, {2.0, 0x1p40}}) {
    std::vector<double> moved;
    for (const double value : values) moved.push_back(level + scale * value);
    EXPECT_EQ(signature_of({64, 200}, moved), plain) << scale << ' ' << level;
  }
  // Extremes of both signs: their difference overflows a double.
  const std::string huge = signature_of({2, 200}, {1.7e308, -1.7e308});
  EXPECT_EQ(huge, signature_of({2, 200}, {1.0, -1.0}));
}

TEST(Lsh, AConstantWindowHasNoSignature) {
  // A14: 1.810 × 1448 and 0.576 × 1448, whose means round.
  for (const double constant : {1.810, 0.576, 0.0, -1e300}) {
    const auto synopsis = make("LSH", {500, 64});
    column(std::vector<double>(1448, constant)).feed(*synopsis);
    EXPECT_EQ(synopsis->estimate({})->json, "null");
    EXPECT_EQ(synopsis->estimate({})->reason,
              "constant: all 500 values of the window are " + json_number(constant));
  }
}

TEST(Lsh, PassesOverTextsAndTakesIntegersOfAnySize) {
  Values mixed, numbers;
  for (int i = 0; i < 500; ++i) {
    if (i % 3 == 0) mixed.add(std::string_view("text"));
    const core::Value value =
        i % 5 == 0 ? core::integer((std::uint64_t{1} << 63) + static_cast<std::uint64_t>(i))
                   : core::number(i * 0.5);
    mixed.add(value);
    numbers.add(core::as_double(value.bits, value.kind));
  }
  const auto one = make("LSH", {100, 64}), two = make("LSH", {100, 64});
  mixed.feed_in_pieces(*one, 1);
  numbers.feed(*two);
  EXPECT_EQ(one->n(), 500u);
  EXPECT_EQ(save(*one), save(*two));
}

TEST(Lsh, KeepsTheLawsOfSynopses) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    for (const std::vector<double>& shape :
         {std::vector<double>{100, 100}, {7, 33, 4, 9}, {2, 1}, {3000, 20}}) {
      expect_laws([&] { return make("LSH", shape); }, workload.make(6'000, 2), {});
    }
    Values values = workload.make(6'000, 2);
    values.set_times(timed_stream(6'000, 9, kNanosPerSecond / 2, 0).times);
    for (const double window : {5.0, 100.0, 4000.0}) {
      expect_laws([&] { return make("LSH", {window, 100, 1, 1, 0.5}); }, values, {});
    }
  }
}

TEST(Lsh, RefusesToMergeAndParametersOutOfRange) {
  const auto synopsis = make("LSH", {100, 64});
  EXPECT_THAT(synopsis->merge(*make("LSH", {100, 64})).message(),
              testing::HasSubstr("depends on the order of its values"));
  EXPECT_EQ(synopsis->params().values, (std::vector<double>{100, 64, 1, 1, 0}));
  const SynopsisType& type = *find_type("LSHsynopsis");
  const auto error = [&](const std::vector<double>& given) {
    const std::vector<Scalar> list = scalars(given);
    const Result<Params> params = parse_params(type, std::span<const Scalar>(list));
    if (!params.ok()) return params.status().message();
    const auto made = type.create(*params);
    return made.ok() ? std::string() : made.status().message();
  };
  EXPECT_THAT(error({1 << 20, 65}), testing::HasSubstr("a matrix of 256 MiB"));
  EXPECT_EQ(error({1 << 20, 64}), "") << "made only when it is asked for";
  EXPECT_THAT(error({100, 64, 1, 1, 1.5e-9}), testing::HasSubstr("whole number of nanoseconds"));
  EXPECT_THAT(error({1, 64}), testing::HasSubstr("window must be"));
  EXPECT_THAT(error({100, 4097}), testing::HasSubstr("bits must be"));
  EXPECT_THAT(error({100}), testing::HasSubstr("LSH takes (window, bits"));
}

TEST(Lsh, KernelEqualsItsScalarTwinOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(6);
  for (const std::size_t blocks : {1u, 2u, 3u}) {
    for (std::size_t w = 1; w <= 67; ++w) {
      std::vector<double> values(w), expected(blocks * kLshBlock), sums(blocks * kLshBlock);
      std::vector<float> planes(blocks * kLshBlock * w);
      for (double& value : values) value = uniform(random);
      for (float& entry : planes) entry = static_cast<float>(uniform(random));
      project_scalar(values.data(), w, planes.data(), blocks, expected.data());
      on_every_target([&](const char* target) {
        project(values.data(), w, planes.data(), blocks, sums.data());
        ASSERT_EQ(std::memcmp(sums.data(), expected.data(), sums.size() * sizeof(double)), 0)
            << target << " w=" << w << " blocks=" << blocks;
      });
    }
  }
}

}  // namespace
}  // namespace weir::synopses
