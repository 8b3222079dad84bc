// Lag: how far a run is behind the schedule of its input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/backlog.h"
#include "replay/paced_source.h"
#include "replay/progress.h"
#include "tests/support/memory_source.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;

PaceMoment moment(std::uint64_t offered, std::uint64_t released, bool ended = false) {
  return {.offered = offered, .released = released, .seconds_late = 0, .ended = ended};
}

TEST(Backlog, IsWhatWasOfferedAndNotApplied) {
  Backlog backlog;
  EXPECT_EQ(backlog.text(), "");
  backlog.add(moment(10'000, 9'000), 4'000, 1);
  EXPECT_EQ(backlog.text(), "lag 6,000 records");
  backlog.add(moment(20'000, 20'000), 19'999, 2);
  EXPECT_EQ(backlog.text(), "lag 1 record");
  backlog.add(moment(30'000, 30'000), 30'000, 3);
  EXPECT_EQ(backlog.text(), "lag 0 records");
  EXPECT_EQ(backlog.report().greatest, 6'000u);
  EXPECT_EQ(backlog.report().at_end, 0u);  // stopped here
}

TEST(Backlog, CountsOnlyRecordsThatThereAre) {
  Backlog backlog;
  backlog.add(moment(500, 200), 100, 1);
  backlog.add(moment(1'000, 400), 300, 2);  // the last one is due
  backlog.add(moment(2'000, 600), 500, 3);
  backlog.add(moment(9'000, 990), 900, 4);
  EXPECT_EQ(backlog.report().greatest, 8'100u);  // as far as anyone knows
  backlog.add(moment(1'000, 1'000, true), 1'000, 5);
  EXPECT_EQ(backlog.report().greatest, 700u);
  EXPECT_EQ(backlog.report().at_end, 700u);
}

TEST(Backlog, LeavesOutWhatWasAppliedBeforeTheRunBegan) {
  Backlog backlog(1'000'000);
  backlog.add(moment(0, 0), 1'000'500, 0);  // 500 more came from a journal
  backlog.add(moment(100, 50), 1'000'530, 1);
  EXPECT_EQ(backlog.text(), "lag 70 records");
}

TEST(Backlog, KeepsTheGreatestLagOfALongRun) {
  Backlog backlog;
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    backlog.add(moment(10 * i, 10 * i), 10 * i - (i == 54'321 ? 7 : 0), double(i));
  }
  EXPECT_EQ(backlog.report().greatest, 7u);
  EXPECT_EQ(backlog.report().at_end, 0u);
}

TEST(Backlog, AddsUpTheTimeThatARunWasMoreThanASecondLate) {
  Backlog backlog;
  for (const auto& [late, at] : {std::pair{0.5, 1.0}, {1.5, 2.0}, {2.5, 4.0}, {0.9, 5.0}, {0, 9}}) {
    backlog.add({.offered = {}, .released = 1, .seconds_late = late, .ended = false}, 1, at);
    if (at == 4.0) {
      EXPECT_EQ(backlog.text(), "behind 2.5 s");
    }
  }
  EXPECT_DOUBLE_EQ(backlog.report().late_seconds, 3);
  EXPECT_FALSE(backlog.report().greatest.has_value());
}

TEST(Backlog, IsInTheSummaryOfAPacedRun) {
  const Speed rate{.records_per_second = 100};
  const BacklogReport lag{.greatest = 12'345, .at_end = 7, .late_seconds = 2.5};
  EXPECT_THAT(pace_json(rate, {}, lag),
              HasSubstr(R"("lag":{"greatest":12345,"at_end":7,"late_seconds":2.5}})"));
  EXPECT_THAT(pace_line(rate, {}, lag),
              HasSubstr("; lag at most 12,345 records, 7 at the end; more than a second late for"));
  EXPECT_THAT(pace_json({.factor = 1}, {}),
              HasSubstr(R"("lag":{"greatest":null,"at_end":null,"late_seconds":0}})"));
}

struct TestClock {
  std::int64_t now = 1'000'000'000;
  PaceClock clock() {
    return {[this] { return now; }, [this](std::int64_t ns) { now += ns; }};
  }
};

std::string take(Source& source, std::size_t room = 4096) {
  std::string bytes(room, '\0');
  const ReadResult result = source.read({bytes.data(), room});
  return bytes.substr(0, result.bytes);
}

TEST(PaceMoment, TellsWhatWasOfferedThoughNobodyRead) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 10}, time.clock());
  PacedSource source(std::make_unique<tests::MemorySource>("a\nb\nc\n"), schedule, {});
  EXPECT_EQ(schedule->moment().offered, 0u);
  EXPECT_EQ(take(source), "a\n");
  EXPECT_EQ(schedule->moment().offered, 1u);
  time.now += 1'050'000'000;
  const PaceMoment behind = schedule->moment();
  EXPECT_EQ(behind.offered, 11u);
  EXPECT_EQ(behind.released, 1u);
  EXPECT_NEAR(behind.seconds_late, 0.95, 1e-9);
  EXPECT_FALSE(behind.ended);
  EXPECT_EQ(take(source), "b\nc\n");
  EXPECT_EQ(take(source), "");
  EXPECT_TRUE(schedule->moment().ended);
  EXPECT_EQ(schedule->moment().offered, 3u);
  EXPECT_EQ(schedule->moment().seconds_late, 0);
}

TEST(PaceMoment, TellsHowLateTheNewestRecordWasOfEventTime) {
  TestClock time;
  const auto schedule = std::make_shared<PaceSchedule>(Speed{.factor = 1}, time.clock());
  PacedRecords records;
  records.event_time = [](std::string_view record) {
    return std::optional<Time>(Time{(record[0] - '0') * kNanosPerSecond});
  };
  PacedSource source(std::make_unique<tests::MemorySource>("0\n1\n0\n9\n"), schedule, records);
  EXPECT_EQ(take(source), "0\n");
  time.now += 3'000'000'000;
  EXPECT_EQ(take(source, 4), "1\n0\n");  // one of old event time is due at once, and says nothing
  EXPECT_FALSE(schedule->moment().offered.has_value());
  EXPECT_EQ(schedule->moment().seconds_late, 2);
  EXPECT_EQ(take(source), "");  // the next one is to come
  EXPECT_EQ(schedule->moment().seconds_late, 0);
}

TEST(PaceMoment, KnowsThatSourcesWhichNobodyReadAreUsedUp) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 10}, time.clock());
  const auto made = [&](const char* text) {
    return std::make_unique<PacedSource>(std::make_unique<tests::MemorySource>(text), schedule,
                                         PacedRecords{});
  };
  auto first = made("a\n"), second = made("b\n");
  first.reset();
  EXPECT_EQ(take(*second), "b\n");
  second.reset();  // stopped before its end was seen
  EXPECT_FALSE(schedule->moment().ended);
}

TEST(PacedSource, SkipsToWhereARunIsResumed) {
  TestClock time;
  const auto schedule = std::make_shared<PaceSchedule>(Speed{.factor = 1}, time.clock());
  Config config;
  config.mapping_toml =
      "format = \"csv\"\nstream = \"s\"\ndataset_constant = \"D\"\ntime = \"t\"\ntime_unit = "
      "\"s\"\n";
  RecordTimes times(config);
  PacedSource source(
      std::make_unique<tests::MemorySource>("\xef\xbb\xbf\nt,s\n100,a\n103,a\n104,a\n"), schedule,
      times.of_source("x.csv"));
  ASSERT_TRUE(source.skip(14).ok());
  EXPECT_EQ(take(source), "103,a\n");  // paced from here on, by the header that was passed over
  EXPECT_EQ(take(source), "");
  time.now += 1'000'000'000;
  EXPECT_EQ(take(source), "104,a\n");
  EXPECT_EQ(schedule->report().records, 2u);
}

TEST(PacedSource, SaysWhenThereIsLessToSkipThanWasRead) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 1}, time.clock());
  PacedRecords records;
  records.header = true;
  PacedSource source(std::make_unique<tests::MemorySource>("h\na\n"), schedule, records);
  EXPECT_FALSE(source.skip(5).ok());
}

TEST(Progress, ShowsLagAndStalledWorkers) {
  RateMeter meter;
  Progress progress;
  progress.seconds = 12;
  progress.records = 1'200'000;
  EXPECT_EQ(progress_text(progress, meter, "lag 12,345 records"),
            "12.0 s: 1,200,000 records, 0 rejected, 0 records/s, lag 12,345 records");
  progress.workers = 4;
  progress.stalled = 1;
  EXPECT_THAT(progress_text(progress, meter), HasSubstr(", 1 of 4 workers stalled"));
  EXPECT_EQ(progress_bar(progress, meter, 120, "behind 1.2 s"),
            "0:12  1.20 M records  0/s  behind 1.2 s  1 of 4 workers stalled");
}

}  // namespace
}  // namespace weir::replay
