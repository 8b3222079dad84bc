#include "replay/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weir::replay {
namespace {

TEST(Units, ReadSizesInPowersOf1024) {
  EXPECT_EQ(*parse_size("65536"), 65536u);
  EXPECT_EQ(*parse_size("64K"), 65536u);
  EXPECT_EQ(*parse_size("64k"), 65536u);
  EXPECT_EQ(*parse_size("64 KiB"), 65536u);
  EXPECT_EQ(*parse_size("1M"), 1u << 20);
  EXPECT_EQ(*parse_size("2G"), 2ull << 30);
}

TEST(Units, SayWhatASizeIsWhenItIsNone) {
  for (const char* wrong : {"", "K", "-1", "64Q", "1.5M", "99999999999999999999",
                            "20000000000000000000G", "18446744073709551615K"}) {
    const auto size = parse_size(wrong);
    ASSERT_FALSE(size.ok()) << wrong;
    EXPECT_NE(size.status().message().find("64K"), std::string::npos);
  }
}

TEST(Units, WriteSizesThatReadBack) {
  for (const std::uint64_t size :
       {0ull, 1ull, 1023ull, 1024ull, 65536ull, 65537ull, 1ull << 20, 3ull << 30}) {
    EXPECT_EQ(*parse_size(size_text(size)), size);
  }
  EXPECT_EQ(size_text(256 << 10), "256K");
}

TEST(Units, WritePeriodsThatReadBack) {
  const Period periods[] = {{60 * kNanosPerSecond, 0}, {1'500'000'000, 0}, {250, 0}, {0, 100'000}};
  for (const Period& period : periods) {
    const auto back = Period::parse(period_text(period));
    ASSERT_TRUE(back.ok()) << period_text(period) << ": " << back.status().message();
    EXPECT_EQ(back->ns, period.ns);
    EXPECT_EQ(back->records, period.records);
  }
}

TEST(Units, CountsAreRefusedOutsideTheirRange) {
  EXPECT_EQ(*parse_count("8", 0, 8), 8u);
  for (const char* wrong : {"9", "-1", "", "3x", " 3", "0x3"}) {
    EXPECT_FALSE(parse_count(wrong, 0, 8).ok()) << wrong;
  }
}

TEST(Units, GroupThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Units, ShowThreeDigitsOfRatesAndBytes) {
  EXPECT_EQ(short_count(950), "950");
  EXPECT_EQ(short_count(999.6), "1.00 k");
  EXPECT_EQ(short_count(14'200'000), "14.2 M");
  EXPECT_EQ(short_count(3.2e9), "3.20 G");
  EXPECT_EQ(short_count(std::nan("")), "-");
  EXPECT_EQ(short_bytes(512), "512 B");
  EXPECT_EQ(short_bytes(65536), "64.0 KiB");
  EXPECT_EQ(short_bytes(1024.0 * 1024 * 1024), "1.00 GiB");
  EXPECT_EQ(short_seconds(0.38), "380 ms");
  EXPECT_EQ(short_seconds(12.34), "12.3 s");
  EXPECT_EQ(short_seconds(245), "4 min 05 s");
  EXPECT_EQ(short_seconds(7380), "2 h 03 min");
}

TEST(Units, ShowTimeLeftAsAClock) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(6.2), "0:07");
  EXPECT_EQ(clock_text(723), "12:03");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(4 * 86400 + 3 * 3600 + 12 * 60), "4d 03:12");
  EXPECT_EQ(clock_text(-1), "--:--");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::infinity()), "--:--");
  EXPECT_EQ(clock_text(std::nan("")), "--:--");
}

TEST(Units, ShowTimesAsIso) {
  EXPECT_EQ(time_text(Time{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_text(Time{1'546'387'201 * kNanosPerSecond}), "2019-01-02T00:00:01Z");
  EXPECT_EQ(time_text(Time{-1}), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(time_text(Time{951'782'400 * kNanosPerSecond + 250'000'000}),
            "2000-02-29T00:00:00.25Z");
  EXPECT_EQ(time_text(kNoTime), "-");
}

}  // namespace
}  // namespace weir::replay
