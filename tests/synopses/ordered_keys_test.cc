#include "synopses/ordered_keys.h"

#include <algorithm>
#include <random>

#include "synopses/quantile_query.h"
#include "tests/synopses/quantile_oracle.h"

namespace weir::synopses {
namespace {

std::vector<core::Value> edges() {
  std::vector<core::Value> all;
  for (const double value : {0.0, 5e-324, 1.0, 1.5, 1e308, 0x1p52, 0x1p53, 0x1p63, 0x1p64, 1e300}) {
    all.push_back(core::number(value));
    all.push_back(core::number(-value));
  }
  for (int power = 52; power < 64; ++power) {
    for (const std::uint64_t off : {~0ull, 0ull, 1ull, 2ull, 3ull, 1023ull, 1024ull, 1025ull}) {
      const std::uint64_t magnitude = (std::uint64_t{1} << power) + off;
      all.push_back(core::integer(magnitude));
      if (magnitude < std::uint64_t{1} << 63) {
        all.push_back(core::integer(-static_cast<std::int64_t>(magnitude)));
      }
    }
  }
  all.push_back(core::integer(~std::uint64_t{0}));
  all.push_back(core::integer(std::numeric_limits<std::int64_t>::min() + 1));
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    all.push_back(core::integer(random() >> random() % 12));
    all.push_back(core::integer(static_cast<std::int64_t>(random())));
  }
  return all;
}

TEST(OrderedKeys, SortAsTheExactValuesDoAndGiveThemBack) {
  const std::vector<core::Value> all = edges();
  for (const core::Value& a : all) {
    const WideKey key = key_of(a);
    EXPECT_EQ(value_of(key), a) << describe(Scalar{a});
    EXPECT_TRUE(is_key(key));
    EXPECT_EQ(key.above == 0, a.kind == core::Kind::kNumber);
    for (const core::Value& b : all) {
      EXPECT_EQ(key < key_of(b), exact_value(a) < exact_value(b))
          << describe(Scalar{a}) << ' ' << describe(Scalar{b});
    }
  }
}

TEST(OrderedKeys, KnowWhatIsNoKey) {
  const auto bits = [](double value) { return key_of_double(std::bit_cast<std::uint64_t>(value)); };
  EXPECT_FALSE(is_key(bits(std::numeric_limits<double>::infinity())));
  EXPECT_FALSE(is_key(bits(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_FALSE(is_key(bits(-0.0)));
  EXPECT_TRUE(is_key(bits(0.0)));
  EXPECT_FALSE(is_key(WideKey{bits(1.0), 1}));
  EXPECT_FALSE(is_key(WideKey{bits(0x1p53), 2}));  // that is a double itself
  EXPECT_TRUE(is_key(WideKey{bits(0x1p53), 1}));
  EXPECT_FALSE(is_key(WideKey{bits(0x1p64), 1}));
  EXPECT_FALSE(is_key(WideKey{bits(0x1.fffffffffffffp63), 2048}));
  EXPECT_TRUE(is_key(WideKey{bits(-0x1p63), 1}));
  EXPECT_FALSE(is_key(WideKey{bits(-0x1p53), 1}));  // -(2^53 - 1) is a double
}

TEST(OrderedKeys, AreSortedOnEveryTargetAtEveryLength) {
  std::mt19937_64 random(2);
  on_every_target([&](const char* target) {
    for (std::size_t n = 0; n < 300; ++n) {
      std::vector<NarrowKey> keys(n);
      for (NarrowKey& key : keys) key = n % 3 == 0 ? random() % 5 : random();
      std::vector<NarrowKey> expected = keys;
      std::sort(expected.begin(), expected.end());
      sort_keys(keys.data(), n);
      ASSERT_EQ(keys, expected) << target << " n=" << n;
    }
  });
}

TEST(OrderedKeys, FloorTimesNeverExceedsTheProductAndIsSuperadditive) {
  EXPECT_EQ(floor_times(0.01, 100), 1u);
  EXPECT_EQ(floor_times(0.5, 7), 3u);
  EXPECT_EQ(floor_times(1.0, ~std::uint64_t{0}), ~std::uint64_t{0});
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i) {
    const double factor = static_cast<double>(random() >> 11) * 0x1p-53;
    const std::uint64_t a = random() >> (1 + random() % 63), b = random() >> (1 + random() % 63);
    EXPECT_LE(floor_times(factor, a) + floor_times(factor, b), floor_times(factor, a + b));
    EXPECT_LE(floor_times(factor, a), static_cast<long double>(factor) * a);
  }
}

}  // namespace
}  // namespace weir::synopses
