#include "ingest/times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "ingest/time_format.h"
#include "weir/types.h"

namespace weir::ingest {
namespace {

constexpr std::int64_t kDay = 86'400 * kNanosPerSecond;

// Every date of the calendar, counted up day by day.
struct Civil {
  unsigned year = 1900, month = 1, day = 1;
  std::int64_t days = -25'567;
  unsigned length() const {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month == 2) return leap ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  }
  void next() {
    ++days;
    if (++day <= length()) return;
    day = 1;
    if (++month <= 12) return;
    month = 1;
    ++year;
  }
};

TEST(Times, EveryDateOfTheCalendarIsReadBothWays) {
  for (Civil civil; civil.year <= 2200; civil.next()) {
    std::int64_t days = 0, nanos = 0;
    const std::string us = fmt::format("{:02}/{:02}/{}", civil.month, civil.day, civil.year);
    ASSERT_TRUE(parse_us_date(us, days)) << us;
    ASSERT_EQ(days, civil.days) << us;
    const std::string iso = fmt::format("{}-{:02}-{:02}", civil.year, civil.month, civil.day);
    ASSERT_TRUE(parse_iso(iso, nanos)) << iso;
    ASSERT_EQ(nanos, civil.days * kDay) << iso;
  }
}

TEST(Times, DatesThatTheCalendarLacksAreRefused) {
  std::int64_t days = 0;
  for (const char* date : {"02/29/2019", "02/30/2020", "02/29/1900", "00/01/2019", "13/01/2019",
                           "01/00/2019", "04/31/2019", "01/32/2019", "01/01/1899", "01/01/2201"}) {
    EXPECT_FALSE(parse_us_date(date, days)) << date;
  }
  EXPECT_TRUE(parse_us_date("02/29/2000", days));
}

TEST(Times, EverySecondOfTheDayIsRead) {
  for (int s = 0; s < 86'400; ++s) {
    const std::string clock = fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    std::int64_t nanos = 0;
    ASSERT_TRUE(parse_clock(clock, nanos)) << clock;
    ASSERT_EQ(nanos, s * kNanosPerSecond) << clock;
  }
}

TEST(Times, ClocksThatDoNotExistAreRefused) {
  std::int64_t nanos = 0;
  for (const char* clock : {"24:00:00", "23:60:00", "23:59:60", "", "1:02:03", "01:02", "01:02:3",
                            "01-02-03", "01:02:03.", "01:02:03.1234567890", "01:02:03x",
                            "01:02:03 ", " 01:02:03", "-1:02:03", "01:02:03,5"}) {
    EXPECT_FALSE(parse_clock(clock, nanos)) << clock;
  }
}

TEST(Times, FractionsOfOneToNineDigitsAreExact) {
  std::string digits;
  std::int64_t expected = 0, unit = kNanosPerSecond;
  for (int n = 1; n <= 9; ++n) {
    digits += static_cast<char>('0' + n);
    unit /= 10;
    expected += n * unit;
    std::int64_t nanos = 0;
    ASSERT_TRUE(parse_clock("00:00:01." + digits, nanos));
    EXPECT_EQ(nanos, kNanosPerSecond + expected);
  }
}

// Every byte at every place of the shapes: what is accepted has digits where digits belong.
TEST(Times, OneWrongByteAnywhereIsRefused) {
  const std::string date = "11/11/2011", clock = "11:11:11", iso = "2011-11-11 11:11:11";
  std::int64_t value = 0;
  for (int c = 0; c < 256; ++c) {
    const auto ok = [&](const std::string& text, std::size_t i) {
      return std::isdigit(static_cast<unsigned char>(text[i])) != 0
                 ? c >= '0' && c <= '9'
                 : c == static_cast<unsigned char>(text[i]);
    };
    for (std::size_t i = 0; i < date.size(); ++i) {
      std::string bad = date;
      bad[i] = static_cast<char>(c);
      EXPECT_FALSE(parse_us_date(bad, value) && !ok(date, i)) << bad;
    }
    for (std::size_t i = 0; i < clock.size(); ++i) {
      std::string bad = clock;
      bad[i] = static_cast<char>(c);
      EXPECT_FALSE(parse_clock(bad, value) && !ok(clock, i)) << bad;
    }
    for (std::size_t i = 0; i < iso.size(); ++i) {
      std::string bad = iso;
      bad[i] = static_cast<char>(c);
      const bool also = i == 10 && (c == 'T' || c == 't');
      const bool cut = i == 16 && (c == ' ' || c == '+' || c == '-');  // "11:11" and then a zone
      EXPECT_FALSE(parse_iso(bad, value) && !ok(iso, i) && !also && !cut) << bad;
    }
  }
}

TEST(Times, IsoTakesItsZones) {
  std::int64_t utc = 0, nanos = 0;
  ASSERT_TRUE(parse_iso("2018-08-31 09:30:00", utc));
  EXPECT_EQ(utc, 1'535'707'800 * kNanosPerSecond);
  for (const char* same :
       {"2018-08-31T09:30:00", "2018-08-31T09:30:00Z", "2018-08-31t09:30z", "2018-08-31 09:30",
        "2018-08-31 11:30:00+02:00", "2018-08-31 11:30:00+0200", "2018-08-31 11:30:00 +02",
        "2018-08-31 00:00:00.000-09:30", "2018-08-31 09:30:00 UTC", "2018-08-31 09:30:00,0"}) {
    ASSERT_TRUE(parse_iso(same, nanos)) << same;
    EXPECT_EQ(nanos, utc) << same;
  }
  for (const char* bad :
       {"2018-08-31T", "2018-08-31 ", "2018-08-31T09", "2018-08-31T09:30:00+", "2018-8-31",
        "2018-08-31T09:30:00+2", "2018-08-31T09:30:00+02:", "2018-08-31T09:30:00+19:00",
        "2018-08-31T09:30:00+02:60", "2018-08-31T09:30:00Zx", "bla", "20180831T093000Z",
        "1900-01-01 00:00:00+01:00"}) {
    EXPECT_FALSE(parse_iso(bad, nanos)) << bad;
  }
}

TEST(Times, EpochUnitIsFoundByMagnitude) {
  const std::int64_t expected = 1'772'452'800 * kNanosPerSecond;  // 2026-03-02T12:00:00Z
  for (const char* text : {"1772452800", "1772452800000", "1772452800000000", "1772452800000000000",
                           "1772452800.0", "1772452800000.000"}) {
    std::int64_t nanos = 0;
    ASSERT_TRUE(parse_epoch(text, EpochUnit::kAuto, nanos)) << text;
    EXPECT_EQ(nanos, expected) << text;
  }
  std::int64_t nanos = 0;
  EXPECT_TRUE(epoch_to_nanos(1'772'452'800'000, EpochUnit::kAuto, nanos));
  EXPECT_EQ(nanos, expected);
  EXPECT_TRUE(epoch_to_nanos(1'772'452'800, EpochUnit::kMillis, nanos)) << "a declared unit holds";
  EXPECT_EQ(nanos, 1'772'452'800'000'000);
  EXPECT_TRUE(epoch_to_nanos(-1, EpochUnit::kAuto, nanos));
  EXPECT_EQ(nanos, -kNanosPerSecond);
}

TEST(Times, ImplausibleEpochsAreRefused) {
  std::int64_t nanos = 0;
  for (const std::int64_t value : {INT64_MAX, INT64_MIN, std::int64_t{99'999'999'999}}) {
    EXPECT_FALSE(epoch_to_nanos(value, EpochUnit::kAuto, nanos)) << value;
    EXPECT_FALSE(epoch_to_nanos(value, EpochUnit::kSeconds, nanos)) << value;
  }
  EXPECT_FALSE(epoch_to_nanos(1'772'452'800'000, EpochUnit::kSeconds, nanos)) << "year 58136";
  for (const char* text : {"", "-", ".5", "1.", "1e9", "+1", "0x10", "1 ", "99999999999999999999",
                           "9223372036854775808", "1.5.5", "NaN", "--1"}) {
    EXPECT_FALSE(parse_epoch(text, EpochUnit::kSeconds, nanos)) << text;
  }
}

TEST(Times, FractionalEpochsAreExactToTheNanosecond) {
  std::int64_t nanos = 0;
  ASSERT_TRUE(parse_epoch("1377986401.25", EpochUnit::kAuto, nanos));
  EXPECT_EQ(nanos, 1'377'986'401'250'000'000);
  ASSERT_TRUE(parse_epoch("1377986401.123456789999", EpochUnit::kSeconds, nanos));
  EXPECT_EQ(nanos, 1'377'986'401'123'456'789) << "finer digits are cut off";
  ASSERT_TRUE(parse_epoch("-1.5", EpochUnit::kSeconds, nanos));
  EXPECT_EQ(nanos, -1'500'000'000);
  ASSERT_TRUE(parse_epoch("1377986401000.000001", EpochUnit::kMillis, nanos));
  EXPECT_EQ(nanos, 1'377'986'401'000'000'001);
}

std::int64_t local(TimeFormat& format, const char* text) {
  std::int64_t nanos = 0;
  EXPECT_TRUE(format.parse(text, nanos)) << text;
  return nanos / kNanosPerSecond;
}

TEST(TimeFormat, PatternsReadWhatStrftimeWrites) {
  auto format = TimeFormat::make("%d %b %Y, %H:%M:%S.%f %z (%y%%)", "UTC");
  ASSERT_TRUE(format.ok());
  std::int64_t nanos = 0;
  EXPECT_TRUE(format->parse("31 aug 2018, 9:30:00.25 +0200 (18%)", nanos));
  EXPECT_EQ(nanos, (1'535'707'800 - 7200) * kNanosPerSecond + 250'000'000);
  std::mt19937 random(7);
  auto plain = TimeFormat::make("%Y%m%d%H%M%S", "UTC");
  ASSERT_TRUE(plain.ok());
  for (int i = 0; i < 2000; ++i) {
    const auto seconds = static_cast<std::time_t>(random());
    std::tm tm{};
    gmtime_r(&seconds, &tm);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &tm);
    ASSERT_EQ(local(*plain, text), seconds) << text;
  }
  for (const char* bad : {"", "2018083109300", "20180831093000x", "20181331093000"}) {
    EXPECT_FALSE(plain->parse(bad, nanos)) << bad;
  }
}

TEST(TimeFormat, BadUnitsAndZonesSayWhatWouldBeRight) {
  EXPECT_NE(TimeFormat::make("%Y-%m-%d %Q", "UTC").status().message().find("%Q"),
            std::string::npos);
  EXPECT_NE(TimeFormat::make("%Y-%m-%d%", "UTC").status().message().find("lone"),
            std::string::npos);
  EXPECT_NE(TimeFormat::make("seconds", "UTC").status().message().find("auto, s, ms"),
            std::string::npos);
  EXPECT_NE(TimeFormat::make("iso", "Europe/Berlim").status().message().find("IANA"),
            std::string::npos);
}

TEST(TimeFormat, LocalTimesFollowTheRulesOfTheirZone) {
  auto format = TimeFormat::make("auto", "Europe/Berlin");
  if (!format.ok()) GTEST_SKIP() << "no tzdata here: " << format.status().message();
  EXPECT_EQ(local(*format, "2018-08-31 11:30:00"), 1'535'707'800);
  EXPECT_EQ(local(*format, "2018-01-15 10:30:00"), 1'516'008'600);
  EXPECT_EQ(local(*format, "2018-08-31 09:30:00Z"), 1'535'707'800) << "the text's own zone wins";
  EXPECT_EQ(local(*format, "1535707800"), 1'535'707'800) << "an epoch has no zone";
}

TEST(TimeFormat, SkippedAndRepeatedLocalTimesAreRefused) {
  auto format = TimeFormat::make("iso", "Europe/Berlin");
  if (!format.ok()) GTEST_SKIP() << "no tzdata here: " << format.status().message();
  std::int64_t nanos = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the second with a rule remembered
    EXPECT_FALSE(format->parse("2018-03-25 02:30:00", nanos)) << "clocks went from 2 to 3";
    EXPECT_FALSE(format->parse("2018-10-28 02:30:00", nanos)) << "clocks went from 3 to 2";
    EXPECT_EQ(local(*format, "2018-03-25 01:59:59"), 1'521'939'599);
    EXPECT_EQ(local(*format, "2018-03-25 03:00:00"), 1'521'939'600);
    EXPECT_EQ(local(*format, "2018-10-28 03:00:00"), 1'540'692'000);
    EXPECT_EQ(local(*format, "2018-07-01 12:00:00"), 1'530'439'200);
  }
}

// The remembered rule never changes an answer: a fresh format agrees at every time.
TEST(TimeFormat, TheRememberedRuleChangesNothing) {
  auto kept = TimeFormat::make("iso", "America/New_York");
  if (!kept.ok()) GTEST_SKIP() << "no tzdata here: " << kept.status().message();
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    const std::string text =
        fmt::format("{}-{:02}-{:02} {:02}:{:02}:00", 1950 + random() % 100, 1 + random() % 12,
                    1 + random() % 28, random() % 24, random() % 60);
    auto fresh = TimeFormat::make("iso", "America/New_York");
    std::int64_t a = 0, b = 0;
    const bool ok = kept->parse(text, a);
    ASSERT_EQ(ok, fresh->parse(text, b)) << text;
    if (ok) {
      ASSERT_EQ(a, b) << text;
    }
  }
}

TEST(TimeFormat, DateAndTimeMayStandApart) {
  auto format = TimeFormat::make("%m/%d/%Y %H:%M:%S", "UTC");
  ASSERT_TRUE(format.ok());
  std::int64_t nanos = 0;
  EXPECT_TRUE(format->parse("08/31/2018", "09:30:00", nanos));
  EXPECT_EQ(nanos, 1'535'707'800 * kNanosPerSecond);
  EXPECT_FALSE(format->parse(std::string(300, '1'), "09:30:00", nanos));
}

}  // namespace
}  // namespace weir::ingest
