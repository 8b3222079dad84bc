#include "weir/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/config_check.h"

namespace weir {
namespace {

using testing::HasSubstr;

TEST(Durations, AreANumberAndAUnit) {
  const std::pair<const char*, std::int64_t> kRight[] = {
      {"1ns", 1},
      {"5us", 5'000},
      {"5\xc2\xb5s", 5'000},
      {"500ms", 500'000'000},
      {"60s", 60 * kNanosPerSecond},
      {"60 s", 60 * kNanosPerSecond},
      {"5m", 300 * kNanosPerSecond},
      {"1h", 3600 * kNanosPerSecond},
      {"1d", 86'400 * kNanosPerSecond},
      {"1.5s", 1'500'000'000},
      {"0.25m", 15 * kNanosPerSecond},
      {"0.000000001s", 1},
      {"0s", 0},
      {"106751d", 106'751 * (86'400 * kNanosPerSecond)}};
  for (const auto& [text, ns] : kRight) {
    const auto duration = parse_duration(text);
    ASSERT_TRUE(duration.ok()) << text << ": " << duration.status().message();
    EXPECT_EQ(*duration, ns) << text;
  }
}

TEST(Durations, ThatAreWrongSayWhatWouldBeRight) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"", "is no duration; write a number and a unit"},
      {"60", "has no unit; for seconds write \"60s\""},
      {"60sec", "is no duration"},
      {"S", "is no duration"},
      {"-5s", "is no duration"},
      {"1.s", "is no duration"},
      {".5s", "is no duration"},
      {"1e3s", "is no duration"},
      {"60  s", "is no duration"},
      {"60S", "is no duration"},
      {"1h30m", "is no duration"},
      {"106752d", "is too long"},
      {"99999999999999999999s", "is too long"},
      {"0.0000000001s", "finer than a nanosecond"},
      {"0.5ns", "finer than a nanosecond"}};
  for (const auto& [text, message] : kWrong) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_THAT(duration.status().message(), HasSubstr(message));
  }
}

TEST(Periods, AreADurationOrANumberOfRecords) {
  EXPECT_EQ(Period::parse("60s")->ns, 60 * kNanosPerSecond);
  EXPECT_EQ(Period::parse("60s")->records, 0u);
  EXPECT_EQ(Period::parse("100000 records")->records, 100'000u);
  EXPECT_EQ(Period::parse("100000records")->records, 100'000u);
  EXPECT_EQ(Period::parse("1 record")->records, 1u);
  EXPECT_EQ(Period::parse("1 record")->ns, 0);
  const std::pair<const char*, const char*> kWrong[] = {
      {"60", "write \"60s\" for seconds, or \"60 records\""},
      {"0s", "longer than 0"},
      {"0 records", "a whole number above 0"},
      {"1.5 records", "a whole number above 0"},
      {"1e6 records", "or a number of records such as \"100000 records\""},
      {"99999999999999999999 records", "a whole number above 0"},
      {"often", "is no period"},
      {"", "is no period"}};
  for (const auto& [text, message] : kWrong) {
    const auto period = Period::parse(text);
    ASSERT_FALSE(period.ok()) << text;
    EXPECT_THAT(period.status().message(), HasSubstr(message)) << text;
  }
}

template <class Change>
std::string error_of(Change change) {
  Config config;
  change(config);
  const Status status = engine::check_config(config);
  EXPECT_EQ(status.code(), status.ok() ? Code::kOk : Code::kConfig);
  return status.message();
}

TEST(ConfigCheck, TakesTheDefaultsAndTheLimits) {
  EXPECT_EQ(error_of([](Config&) {}), "");
  EXPECT_EQ(error_of([](Config& c) { c.block_size = 4096; }), "");
  EXPECT_EQ(error_of([](Config& c) { c.block_size = 8 << 20; }), "");
  EXPECT_EQ(error_of([](Config& c) { c.ring_entries = 2; }), "");
  EXPECT_EQ(error_of([](Config& c) { c.ring_entries = 0; }), "");
  EXPECT_EQ(error_of([](Config& c) { c.threads = 1024; }), "");
  EXPECT_EQ(error_of([](Config& c) { c.ingest_threads = c.shard_threads = 1; }), "");
  EXPECT_EQ(error_of([](Config& c) { c.emit = {0, 5}; }), "");
  for (const char* layout : {"saams", "titan", "ticks"}) {
    EXPECT_EQ(error_of([&](Config& c) { c.layout = layout; }), "");
  }
  // A mapping replaces the layout.
  EXPECT_EQ(error_of([](Config& c) { c.layout = "", c.mapping_toml = "x"; }), "");
}

TEST(ConfigCheck, NamesTheKeyTheValueAndWhatWouldBeRight) {
  EXPECT_EQ(error_of([](Config& c) { c.block_size = 1000; }),
            "block-size: 1000 is wrong; it is 4096 to 8388608 bytes");
  EXPECT_THAT(error_of([](Config& c) { c.block_size = (8 << 20) + 1; }), HasSubstr("block-size"));
  for (const std::size_t entries : {1u, 3u, 2048u}) {
    EXPECT_EQ(
        error_of([&](Config& c) { c.ring_entries = entries; }),
        "ring-entries: " + std::to_string(entries) +
            " is wrong; it is a power of two from 2 to 1024, or 0 (by the number of threads)");
  }
  EXPECT_EQ(error_of([](Config& c) { c.threads = 1025; }),
            "threads: 1025 is wrong; it is at most 1024");
  EXPECT_THAT(error_of([](Config& c) { c.ingest_threads = 2; }),
              HasSubstr("shard-threads: 0 is wrong; with ingest-threads = 2 it is 1 or more"));
  EXPECT_THAT(error_of([](Config& c) { c.shard_threads = 2; }),
              HasSubstr("ingest-threads: 0 is wrong; with shard-threads = 2 it is 1 or more"));
  EXPECT_EQ(error_of([](Config& c) { c.placement = "spraed"; }),
            "placement: \"spraed\" is wrong; did you mean \"spread\"?");
  EXPECT_EQ(error_of([](Config& c) { c.placement = "elsewhere"; }),
            "placement: \"elsewhere\" is wrong; it is auto, spread, none");
  EXPECT_EQ(error_of([](Config& c) { c.layout = "saam"; }),
            "layout: \"saam\" is wrong; did you mean \"saams\"?");
  EXPECT_THAT(error_of([](Config& c) { c.max_record_bytes = 63; }),
              HasSubstr("max-record-bytes: 63"));
  EXPECT_THAT(error_of([](Config& c) { c.max_record_bytes = (64 << 20) + 1; }),
              HasSubstr("it is 64 to 67108864 bytes"));
  EXPECT_THAT(error_of([](Config& c) { c.emit = {0, 0}; }), HasSubstr("emit: "));
  EXPECT_THAT(error_of([](Config& c) { c.emit = {-5, 0}; }), HasSubstr("emit: "));
  EXPECT_THAT(error_of([](Config& c) { c.emit = {5, 5}; }), HasSubstr("emit: "));
  EXPECT_EQ(error_of([](Config& c) { c.max_jump = -1; }),
            "max-jump: -1 ns is wrong; it is a duration such as \"1d\", or 0 for no limit");
  EXPECT_EQ(error_of([](Config& c) { c.max_jump = 1; }), "");
}

}  // namespace
}  // namespace weir
