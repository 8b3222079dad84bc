#include "synopses/hash.h"

#include <unordered_set>

#include "tests/synopses/values.h"

namespace weir::synopses {
namespace {

TEST(Hash, OfNumbersNeverCollidesWithinAKind) {
  // mix() is inverted step by step: a function with an inverse is a bijection.
  const auto unshift = [](std::uint64_t x, int by) {
    std::uint64_t y = x;
    for (int i = 0; i < 3; ++i) y = x ^ (y >> by);
    return y;
  };
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t x = random() >> (i % 64);
    std::uint64_t y = unshift(mix(x), 27) * inverse(kMixB);
    y = unshift(y, 33) * inverse(kMixA);
    ASSERT_EQ(unshift(y, 27), x);
  }
}

TEST(Hash, GivesOneHashForOneNumberHoweverItIsWritten) {
  // 6 = 6.0, -0 = 0 (A6: `0, -0, 0.0, -0.0` is one item).
  const Scalar six{core::integer(std::int64_t{6})};
  EXPECT_EQ(six.hash(), Scalar{core::number(6.0)}.hash());
  EXPECT_EQ(Scalar{core::number(-0.0)}.hash(), Scalar{core::number(0.0)}.hash());
  EXPECT_NE(six.hash(), Scalar{std::string("6")}.hash());
}

TEST(Hash, KeepsKindsApart) {
  const std::uint64_t bits = 1234567;
  EXPECT_NE(hash_number(bits, core::Kind::kNumber), hash_number(bits, core::Kind::kInt64));
  EXPECT_NE(hash_number(bits, core::Kind::kUint64), hash_number(bits, core::Kind::kInt64));
}

TEST(Hash, IsTheOneThatStatesWereSavedWith) {
  // Golden values: a change makes every saved CountMin and HyperLogLog unreadable in silence.
  EXPECT_EQ(hash_number(core::number(0.0).bits, core::Kind::kNumber), 16657018200766289104u);
  EXPECT_EQ(hash_number(core::number(6.0654).bits, core::Kind::kNumber), 11923238369941374376u);
  EXPECT_EQ(hash_text("EURTRY"), 17702423402077377137u);
  EXPECT_EQ(seeded(0x0123456789abcdefu, 1), 13928984812495143611u);
}

TEST(Hash, EqualsItsScalarTwinOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> bits(100);
  for (auto& b : bits) b = random();
  on_every_target([&](const char* target) {
    for (std::size_t n = 0; n <= bits.size(); ++n) {
      std::vector<std::uint64_t> expected(n + 1, 42);
      std::vector<std::uint64_t> hashes(n + 1, 42);  // one more: nothing may be written past n
      hash_doubles_scalar(bits.data(), n, expected.data());
      hash_values(bits.data(), nullptr, nullptr, n, hashes.data());
      ASSERT_EQ(hashes, expected) << target << " n=" << n;
    }
  });
}

TEST(Hash, OfMixedKindsEqualsThatOfEachScalar) {
  Values values;
  values.add(1.5);
  values.add(std::string_view("abc"));
  values.add(core::integer(std::uint64_t{0xffffffffffffffff}));
  values.add(std::string_view(""));
  values.add(core::integer(std::numeric_limits<std::int64_t>::min() + 1));
  std::vector<std::uint64_t> bits;
  std::vector<core::Kind> kinds;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bits.push_back(values.value(i).bits);
    kinds.push_back(values.value(i).kind);
  }
  std::vector<std::uint64_t> hashes(bits.size());
  hash_values(bits.data(), kinds.data(), "abc", bits.size(), hashes.data());
  for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(hashes[i], values.scalar(i).hash()) << i;
}

TEST(Hash, SpreadsNearbyDoublesOverEveryBit) {
  // Each output bit of 20 000 prices a tick apart is set half of the time: 6σ = 424 of 10 000, so a
  // truly random hash would fail with probability below 2e-7 over the 64 bits.
  constexpr int kPrices = 20'000;
  std::vector<int> set(64);
  for (int i = 0; i < kPrices; ++i) {
    const std::uint64_t hash = seeded(Scalar{core::number(1.0 + 0.0001 * i)}.hash(), 1);
    for (int bit = 0; bit < 64; ++bit) set[static_cast<std::size_t>(bit)] += (hash >> bit) & 1;
  }
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NEAR(set[static_cast<std::size_t>(bit)], kPrices / 2, 424) << "bit " << bit;
  }
}

}  // namespace
}  // namespace weir::synopses
