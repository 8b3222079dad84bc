#include "replay/paced_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/memory_source.h"

namespace weir::replay {
namespace {

// A clock that a test moves; naps move it, too.
struct TestClock {
  std::int64_t now = 1'000;
  std::uint64_t naps = 0;
  PaceClock clock() {
    return {[this] { return now; },
            [this](std::int64_t ns) {
              now += ns;
              ++naps;
            }};
  }
};

// "<seconds>\n": the event time of a test record.
std::optional<Time> seconds_of(std::string_view record) {
  return Time{std::stoll(std::string(record)) * kNanosPerSecond};
}

std::unique_ptr<PacedSource> paced(const std::string& text, std::shared_ptr<PaceSchedule> schedule,
                                   EventTime event_time = seconds_of, std::size_t piece = 0) {
  return std::make_unique<PacedSource>(std::make_unique<tests::MemorySource>(text, piece),
                                       std::move(schedule),
                                       PacedRecords{.event_time = std::move(event_time)});
}
// CSV with a header.
std::unique_ptr<PacedSource> paced_csv(const std::string& text,
                                       std::shared_ptr<PaceSchedule> schedule,
                                       std::size_t max_record_bytes, std::size_t piece = 0) {
  PacedRecords records{.event_time = nullptr, .header = true, .quotes = true};
  records.max_record_bytes = max_record_bytes;
  return std::make_unique<PacedSource>(std::make_unique<tests::MemorySource>(text, piece),
                                       std::move(schedule), std::move(records));
}

// What is due now; "" = idle, "$" = the end.
std::string take(Source& source, std::size_t room = 1000) {
  std::string bytes(room, '\0');
  const ReadResult result = source.read(bytes);
  if (result.state == ReadResult::State::kIdle) return "";
  if (result.state == ReadResult::State::kEnd) return "$";
  return bytes.substr(0, result.bytes);
}

TEST(PacedSource, HandsOutSoManyRecordsASecond) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 10}, time.clock());
  const auto source = paced("a\nb\n\nc\nd", schedule, nullptr);
  EXPECT_EQ(take(*source), "a\n");
  EXPECT_EQ(take(*source), "");
  time.now += 100'000'000;
  EXPECT_EQ(take(*source), "b\n\n");  // a blank line is no record
  time.now += 250'000'000;
  EXPECT_EQ(take(*source), "c\nd");
  EXPECT_EQ(take(*source), "$");
}

TEST(PacedSource, CountsRecordsOfCsvAndNeitherHeaderNorLinesInQuotes) {
  const std::string text = "\n\"a\nb\",c\n1,2\n\"3\n\"\"\n\",4\n5,6";
  for (const std::size_t piece : {0, 1, 3}) {
    TestClock time;
    const auto schedule =
        std::make_shared<PaceSchedule>(Speed{.records_per_second = 10}, time.clock());
    const auto source = paced_csv(text, schedule, 100, piece);
    std::vector<std::string> got;
    for (std::string bytes; bytes != "$";) {
      std::string due;
      for (int tries = 0; tries < 200 && bytes != "$"; ++tries) {  // pieces come with pauses
        bytes = take(*source);
        if (bytes != "$") due += bytes;
      }
      got.push_back(due);
      time.now += 100'000'000;
    }
    // The header comes with the first record; the last ends with its source.
    EXPECT_THAT(got, testing::ElementsAre("\n\"a\nb\",c\n1,2\n", "\"3\n\"\"\n\",4\n", "5,6"));
    EXPECT_EQ(schedule->report().records, 3u);
  }
}

// As the engine frames it: the record is its first line, and the next line starts another.
TEST(PacedSource, SkipsWithoutPacingAndShowsAHeaderAllTheSame) {
  const std::string start = "\xef\xbb\xbf\n\nkey,\"a\nb\"\n";
  const std::string text = start + "1,1\n2,2\n3,3\n";
  for (const std::size_t piece : {0, 1, 5}) {
    for (std::size_t skipped = start.size(); skipped < text.size(); skipped += 4) {
      TestClock time;
      const auto schedule =
          std::make_shared<PaceSchedule>(Speed{.records_per_second = 10}, time.clock());
      std::vector<std::string> asked;
      PacedRecords records{.event_time =
                               [&](std::string_view record) {
                                 asked.emplace_back(record);
                                 return std::optional<Time>();
                               },
                           .header = true,
                           .quotes = true};
      PacedSource source(std::make_unique<tests::MemorySource>(text, piece), schedule,
                         std::move(records));
      ASSERT_TRUE(source.skip(skipped).ok());
      EXPECT_EQ(schedule->report().records, 0u);
      EXPECT_EQ(asked, std::vector<std::string>{"key,\"a\nb\"\n"});
      std::string rest;
      for (std::string bytes; (bytes = take(source)) != "$"; time.now += 100'000'000) rest += bytes;
      EXPECT_EQ(rest, text.substr(skipped));
      EXPECT_EQ(schedule->report().records, rest.size() / 4);
    }
  }
  TestClock time;
  const auto schedule = std::make_shared<PaceSchedule>(Speed{}, time.clock());
  EXPECT_EQ(paced_csv(text, schedule, 100)->skip(99).message(),
            "memory: has only 27 bytes, but the run had read 99");
  EXPECT_EQ(paced(text, schedule)->skip(99).message(),
            "memory: has only 27 bytes, but the run had read 99");
  // The mark alone: the header is still to come.
  const auto source = paced_csv(text, schedule, 100);
  ASSERT_TRUE(source->skip(3).ok());
  EXPECT_EQ(take(*source), text.substr(3));
}

TEST(PacedSource, TakesAQuoteThatStaysOpenForAStrayOne) {
  std::string text = "h\n\"1\n";
  for (int i = 0; i < 30; ++i) text += "2,3\n";
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 1e6}, time.clock());
  const auto source = paced_csv(text, schedule, 20);
  std::string got;
  for (std::string bytes; bytes != "$"; bytes = take(*source)) {
    got += bytes;
    time.now += 1'000'000;
  }
  EXPECT_EQ(got, text);
  EXPECT_EQ(schedule->report().records, 31u);
}

TEST(PacedSource, PassesOverAByteOrderMark) {
  TestClock time;
  const auto schedule = std::make_shared<PaceSchedule>(Speed{.factor = 1}, time.clock());
  Config config;
  config.mapping_toml =
      "format = \"csv\"\nstream = \"s\"\ndataset_constant = \"D\"\ntime = \"t\"\ntime_unit = "
      "\"s\"\n";
  RecordTimes times(config);
  PacedSource source(std::make_unique<tests::MemorySource>("\xef\xbb\xbft,s\n100,a\n103,a\n"),
                     schedule, times.of_source("x.csv"));
  EXPECT_EQ(take(source), "\xef\xbb\xbft,s\n100,a\n");
  time.now += 2'000'000'000;
  EXPECT_EQ(take(source), "");
  time.now += 1'000'000'000;
  EXPECT_EQ(take(source), "103,a\n");
  EXPECT_EQ(schedule->report().records, 2u);
}

TEST(PacedSource, A28NeverAddsDelaysUp) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 1000}, time.clock());
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "r\n";
  const auto source = paced(text, schedule, nullptr);
  std::size_t records = 0;
  for (std::string got; got != "$"; got = take(*source)) {
    records += got == "$" ? 0 : got.size() / 2;
    time.now += 700'000;  // whoever reads is slow, at every step
  }
  EXPECT_EQ(records, 10'000u);
  EXPECT_NEAR(schedule->report().seconds, 9.999, 0.01);
  EXPECT_LT(schedule->report().worst_lateness, 0.003);
  EXPECT_NEAR(schedule->report().achieved_rate(), 1000, 1.5);
  EXPECT_DOUBLE_EQ(schedule->report().offered_rate(), 1000);
}

TEST(PacedSource, FollowsEventTimeAtAMultipleOfIt) {
  TestClock time;
  const auto schedule = std::make_shared<PaceSchedule>(Speed{.factor = 60}, time.clock());
  const auto source = paced("1000\n1060\n1030\n1180\n", schedule);
  EXPECT_EQ(take(*source), "1000\n");
  time.now += 990'000'000;
  EXPECT_EQ(take(*source), "");
  time.now += 10'000'000;
  EXPECT_EQ(take(*source), "1060\n1030\n");  // the late one at once
  time.now += 2'500'000'000;
  EXPECT_EQ(take(*source), "1180\n");
  const PaceReport report = schedule->report();
  EXPECT_DOUBLE_EQ(report.offered_rate(), 1);  // three after the first, over 180 s / 60
  EXPECT_DOUBLE_EQ(report.achieved_rate(), 3 / 3.5);
  EXPECT_DOUBLE_EQ(report.worst_lateness, 0.5);
  EXPECT_EQ(pace_line(schedule->speed(), report),
            "60x: 1 records/s offered, 0.857 achieved, at most 500 ms late");
  EXPECT_THAT(pace_json(schedule->speed(), report),
              testing::StartsWith(R"({"speed":"60x","offered_per_second":1,)"));
}

TEST(PaceReport, GivesNoRateOfOneRecord) {
  TestClock time;
  PaceSchedule schedule(Speed{.factor = 1}, time.clock());
  EXPECT_EQ(schedule.report().achieved_rate(), 0);
  (void)schedule.wait_for(Time{0});
  schedule.released();
  EXPECT_EQ(schedule.report().offered_rate(), 0);
  EXPECT_EQ(schedule.report().achieved_rate(), 0);
}

TEST(PacedSource, NapsTheLastBitSoThatRecordsAreOnTime) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 1000}, time.clock());
  const auto source = paced("a\nb\nc\n", schedule, nullptr);
  EXPECT_EQ(take(*source), "a\n");
  EXPECT_EQ(take(*source), "b\n");
  EXPECT_EQ(time.naps, 1u);
  EXPECT_EQ(schedule->report().worst_lateness, 0);
}

TEST(PacedSource, ChangesNoByteHoweverTheyCome) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += std::to_string(i) + (i % 7 == 0 ? "\r\n\n" : "\n");
  text += "500";
  for (const std::size_t room : {1, 3, 64, 100'000}) {
    TestClock time;
    const auto schedule = std::make_shared<PaceSchedule>(Speed{.factor = 1e6}, time.clock());
    const auto source = paced(text, schedule, seconds_of, 5);
    std::string got;
    for (std::string piece; piece != "$"; piece = take(*source, room)) {
      got += piece;
      time.now += 1000;
    }
    EXPECT_EQ(got, text) << room;
    EXPECT_EQ(schedule->report().records, 501u);
  }
}

TEST(PacedSource, KeepsNoMoreOfALineThanItsBound) {
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.records_per_second = 10}, time.clock());
  const std::string text = "a\n" + std::string(3 * kMaxPacedLine, 'x') + "\nb\n";
  const auto source = paced(text, schedule, nullptr);
  const std::size_t room = text.size();
  EXPECT_EQ(take(*source, room), "a\n");
  EXPECT_EQ(take(*source, room), "");  // the long line is due like any other
  time.now += 100'000'000;
  std::string got = take(*source, room);
  EXPECT_LE(got.size(), text.size());
  EXPECT_EQ(take(*source, room), "");
  time.now += 100'000'000;
  got += take(*source, room);
  EXPECT_EQ("a\n" + got, text);
  EXPECT_EQ(take(*source), "$");
  EXPECT_EQ(schedule->report().records, 3u);
}

TEST(PaceSchedule, TakesTimesThatAreCenturiesApart) {
  TestClock time;
  PaceSchedule schedule(Speed{.factor = 1e-6}, time.clock());
  constexpr std::int64_t kYear = 365LL * 86'400 * kNanosPerSecond;
  EXPECT_LE(schedule.wait_for(Time{-70 * kYear}), 0);  // 1900
  schedule.released();
  EXPECT_GT(schedule.wait_for(Time{229 * kYear}), 100 * kYear);  // 2199
}

TEST(PaceSchedule, DoesNotWaitForWhatTheEngineWillReject) {
  constexpr std::int64_t kDay = 86'400;
  TestClock time;
  const auto schedule =
      std::make_shared<PaceSchedule>(Speed{.factor = 1}, time.clock(), kDay * kNanosPerSecond);
  const std::string far = std::to_string(1'000 * kDay) + "\n";
  std::string text = "100\n" + far + "101\n";
  for (int i = 0; i < 64; ++i) text += far;
  const auto source = paced(text, schedule);
  EXPECT_EQ(take(*source), "100\n" + far);
  time.now += kNanosPerSecond;
  std::string got;
  for (std::string piece; !(piece = take(*source)).empty();) got += piece;
  // The 64th in a row is real time, and is waited for.
  std::string due = "101\n";
  for (int i = 0; i < 63; ++i) due += far;
  EXPECT_EQ(got, due);
  time.now += 1'000 * kDay * kNanosPerSecond;
  EXPECT_EQ(take(*source), far);
  EXPECT_EQ(take(*source), "$");
}

TEST(PacedSource, OneScheduleServesSeveralSources) {
  TestClock time;
  const auto schedule = std::make_shared<PaceSchedule>(Speed{.factor = 1}, time.clock());
  const auto first = paced("100\n", schedule);
  const auto second = paced("103\n", schedule);
  EXPECT_EQ(take(*first), "100\n");
  EXPECT_EQ(take(*first), "$");
  time.now += 2'000'000'000;
  EXPECT_EQ(take(*second), "");
  time.now += 1'000'000'000;
  EXPECT_EQ(take(*second), "103\n");
}

TEST(Speeds, AreMaxAMultipleOrARate) {
  EXPECT_FALSE(parse_speed("max")->paced());
  EXPECT_EQ(parse_speed("60x")->factor, 60);
  EXPECT_EQ(parse_speed("0.5x")->factor, 0.5);
  EXPECT_EQ(parse_speed("50000/s")->records_per_second, 50'000);
  EXPECT_EQ(parse_speed("2500/s")->text(), "2500/s");
  for (const char* wrong :
       {"", "x", "/s", "fast", "0x", "-1x", "1", "1xx", "nanx", "1e99x", " 1x"}) {
    const auto speed = parse_speed(wrong);
    ASSERT_FALSE(speed.ok()) << wrong;
    EXPECT_THAT(speed.status().message(), testing::HasSubstr("50000/s"));
  }
}

TEST(RecordTimes, AreReadByEveryLayout) {
  Config config;
  RecordTimes detected(config);
  const EventTime saams = detected.of_source("x.ndjson").event_time;
  const auto time =
      saams(R"({"streamID":"A","dataSetKey":"D","date":"01/01/1970","time":"00:01:00","price":1})"
            "\n");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->ns, 60 * kNanosPerSecond);
  EXPECT_FALSE(saams("broken\n").has_value());
  config.mapping_toml =
      "format = \"csv\"\nstream = \"s\"\ndataset_constant = \"D\"\ntime = \"t\"\ntime_unit = "
      "\"s\"\n";
  RecordTimes mapped(config);
  const PacedRecords records = mapped.of_source("x.csv");
  EXPECT_TRUE(records.header && records.quotes);
  const EventTime csv = records.event_time;
  EXPECT_FALSE(csv("s,t\r\n").has_value());
  ASSERT_TRUE(csv("a,90\r\n").has_value());
  EXPECT_EQ(csv("a,90\r\n")->ns, 90 * kNanosPerSecond);
}

}  // namespace
}  // namespace weir::replay
