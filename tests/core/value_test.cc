#include "core/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/block.h"

namespace weir::core {
namespace {

constexpr std::uint64_t k2To53 = 1ull << 53;

TEST(Value, IsTheSameForSixHoweverItIsWritten) {
  EXPECT_EQ(integer(std::int64_t{6}), number(6.0));
  EXPECT_EQ(integer(std::uint64_t{6}), number(6.0));
  EXPECT_EQ(integer(std::int64_t{-6}), number(-6.0));
}

TEST(Value, HasOneZero) {
  EXPECT_EQ(number(-0.0), number(0.0));
  EXPECT_EQ(number(-0.0).bits, 0u);
  EXPECT_EQ(integer(std::int64_t{0}), number(0.0));
}

TEST(Value, KeepsIntegersExactThatNoDoubleHolds) {
  EXPECT_EQ(integer(k2To53), number(9007199254740992.0));
  EXPECT_EQ(integer(k2To53 + 1), (Value{k2To53 + 1, Kind::kUint64}));
  EXPECT_EQ(integer(k2To53 + 2), number(9007199254740994.0));
  const std::int64_t negative = -static_cast<std::int64_t>(k2To53) - 1;
  EXPECT_EQ(integer(negative), (Value{static_cast<std::uint64_t>(negative), Kind::kInt64}));
}

TEST(Value, HoldsTheEndsOfTheRange) {
  // INT64_MIN is a power of two, so a double holds it; the largest ones are not.
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()), number(-9223372036854775808.0));
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::max()).kind, Kind::kUint64);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(integer(most), (Value{most, Kind::kUint64}));
  EXPECT_EQ(integer(std::uint64_t{1} << 63), number(9223372036854775808.0));
}

TEST(Value, IsCanonicalSoEqualNumbersHaveEqualBits) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t raw_integer = random() >> (random() % 64);
    const Value value = integer(raw_integer);
    if (value.kind == Kind::kNumber) {
      ASSERT_EQ(static_cast<long double>(as_double(value.bits, value.kind)),
                static_cast<long double>(raw_integer));
    } else {
      ASSERT_EQ(value.kind, Kind::kUint64);
      ASSERT_EQ(value.bits, raw_integer);
      ASSERT_NE(static_cast<long double>(static_cast<double>(raw_integer)),
                static_cast<long double>(raw_integer));
    }
  }
}

TEST(Value, ReadsAsTheNearestDouble) {
  EXPECT_EQ(as_double(k2To53 + 1, Kind::kUint64), 9007199254740992.0);
  EXPECT_EQ(as_double(static_cast<std::uint64_t>(std::int64_t{-9007199254740993}), Kind::kInt64),
            -9007199254740992.0);
  EXPECT_EQ(as_double(number(1.5).bits, Kind::kNumber), 1.5);
}

TEST(Value, PointsIntoTheTextOfItsBatch) {
  const char bytes[] = "alphabeta";
  EXPECT_EQ(text_of(text(5, 4), bytes), "beta");
  EXPECT_EQ(text_of(text(0, 0), bytes), "");
  EXPECT_EQ(text(0xffffffff, 0xffffffff).bits, ~0ull);
}

TEST(Reason, HasAName) {
  EXPECT_STREQ(reason_name(Reason::kJson), "json");
  EXPECT_STREQ(reason_name(Reason::kCsv), "csv");
  EXPECT_STREQ(reason_name(Reason::kMissing), "missing");
  EXPECT_STREQ(reason_name(Reason::kType), "type");
  EXPECT_STREQ(reason_name(Reason::kTime), "time");
  EXPECT_STREQ(reason_name(Reason::kNumber), "number");
  EXPECT_STREQ(reason_name(Reason::kTooLong), "too_long");
  EXPECT_STREQ(reason_name(Reason::kEncoding), "encoding");
}

TEST(Columns, ResetEmptiesEverythingAndKeepsMemory) {
  Columns columns;
  columns.reset(2);
  columns.record.push_back(1);
  columns.fields[1].bits.push_back(7);
  columns.fields[1].kinds.push_back(Kind::kText);
  columns.rejects.emplace_back();
  columns.max_time = 5;
  const std::size_t capacity = columns.fields[1].bits.capacity();
  columns.reset(2);
  EXPECT_EQ(columns.tuples(), 0u);
  EXPECT_TRUE(columns.rejects.empty());
  EXPECT_EQ(columns.max_time, kNoTime.ns);
  EXPECT_TRUE(columns.fields[1].bits.empty());
  EXPECT_TRUE(columns.fields[1].kinds.empty());
  EXPECT_EQ(columns.fields[1].bits.capacity(), capacity);
}

}  // namespace
}  // namespace weir::core
