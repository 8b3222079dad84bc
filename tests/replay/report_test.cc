#include "replay/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

Summary summary() {
  Summary s;
  s.records = 1000;
  s.tuples = 990;
  s.applied = 980;
  s.unrouted = 10;
  s.rejected = {{"json", 8}, {"time", 2}, {"csv", 0}};
  s.bytes = 107'000;
  s.streams = 100;
  s.datasets = 1;
  s.seconds = 0.5;
  s.threads = 2;
  s.placement = "2 threads on cores 0-1";
  s.state_bytes = 3 << 20;
  s.layout = "saams";
  return s;
}

TEST(Report, ShowsThatRecordsAreConserved) {
  EXPECT_EQ(
      conservation_line(summary()),
      "records 1000 = tuples 990 + rejected 10; tuples 990 = applied 980 + late 0 + unrouted 10");
  Summary wrong = summary();
  wrong.applied -= 1;
  EXPECT_THAT(conservation_line(wrong), HasSubstr("DOES NOT HOLD"));
}

TEST(Report, GivesRateRejectsAndAnswers) {
  ReportContext context;
  context.inputs = {"stocks.ndjson"};
  context.answers_to = "a.ndjson";
  context.rejects_to = "bad.ndjson";
  context.counts = {.acks = 3, .errors = 1, .ad_hoc = 2, .continuous = 1200, .rejects_written = 10};
  const std::string text = readable_summary(summary(), context);
  EXPECT_THAT(text, HasSubstr("replayed  stocks.ndjson as saams\n"));
  EXPECT_THAT(text, HasSubstr("2.00 k records/s, 209 KiB/s: 1,000 records, 104 KiB in 500 ms\n"));
  EXPECT_THAT(text, HasSubstr("rejected  json 8, time 2 -> bad.ndjson\n"));
  EXPECT_THAT(text,
              HasSubstr("2 ad-hoc, 1,200 continuous, 3 acknowledgements, 1 error -> a.ndjson\n"));
  EXPECT_THAT(text, HasSubstr("100 in 1 dataset; state 3.00 MiB\n"));
  EXPECT_THAT(text, Not(HasSubstr("digest")));
}

TEST(Report, NamesTheMappingAndSaysWhenNothingWasAsked) {
  Summary s = summary();
  s.layout = "mapping";
  ReportContext context;
  context.inputs = {"orders.csv"};
  context.mapping = "orders.toml";
  EXPECT_THAT(readable_summary(s, context), HasSubstr("orders.csv as mapping orders.toml\n"));
  EXPECT_THAT(readable_summary(s, context), Not(HasSubstr("nothing was asked")));
  context.asked = false;
  EXPECT_THAT(readable_summary(s, context), HasSubstr("note      nothing was asked; --requests"));
}

TEST(Report, SaysThatAStoppedRunWasStoppedAndWhichBuildsSawNothing) {
  Summary s = summary();
  s.builds_without_tuples = {"D/S/price CountMin"};
  ReportContext context;
  context.interrupted = true;
  const std::string text = readable_summary(s, context);
  EXPECT_THAT(text, HasSubstr("stopped"));
  EXPECT_THAT(text, HasSubstr("1 build saw no tuple: D/S/price CountMin"));
}

TEST(Report, AsksWhetherTheLayoutIsRightWhenNoRecordFitsIt) {
  Summary s = summary();
  EXPECT_THAT(readable_summary(s, {}), Not(HasSubstr("layout right")));
  s.tuples = s.applied = s.unrouted = 0;
  EXPECT_THAT(readable_summary(s, {}), HasSubstr("no record could be read as saams"));
}

TEST(Report, TellsWhatCameLateWhatWasRefusedAndWhichPlugInsFailed) {
  Summary s = summary();
  const std::string well = readable_summary(s, {});
  for (const char* title : {"late ", "refused", "fault"}) {
    EXPECT_THAT(well, Not(HasSubstr("\n" + std::string(title)))) << title;
  }
  s.applied = 900;
  s.late = 80;
  s.refused = {{"D/*/price AMS", {0, 0, 7}},
               {"D/A/price CountMin", {1234, 2, 0}},
               {"D/B/price CountMin", {1, 0, 0}},
               {"D/C/price CountMin", {1, 0, 0}}};
  s.faults = {"D/A/price TopK: one", "D/B/price TopK: two", "D/C/price TopK: three",
              "D/D/price TopK: four"};
  const std::string text = readable_summary(s, {});
  EXPECT_THAT(text, HasSubstr("late      80 tuples came when each window or interval for them was "
                              "over, or a newer value was there\n"));
  EXPECT_THAT(text, HasSubstr("refused   values: D/*/price AMS 7 without a weight; D/A/price "
                              "CountMin 1,234 late, 2 without a time; D/B/price CountMin 1 late "
                              "and 1 more\n"));
  EXPECT_THAT(text, HasSubstr("fault     D/A/price TopK: one\n"));
  EXPECT_THAT(text, HasSubstr("fault     D/C/price TopK: three\nfault     and 1 more\n"));
}

Answer answer(std::string estimate) {
  Answer a;
  a.kind = Answer::Kind::kAdHoc;
  a.dataset = "Forex";
  a.stream = "EURTRY";
  a.field = "price";
  a.synopsis = "CountMin";
  a.query = "6.0654";
  a.n = 1000;
  a.estimate = std::move(estimate);
  a.seq = RecordPosition{1000};
  return a;
}

TEST(AnswerTable, ShowsEstimateAndBounds) {
  AnswerTable table;
  Answer a = answer("12");
  a.lower = 10;
  a.upper = 12;
  a.confidence = 0.99;
  table.add(a);
  const std::string text = table.render(0);
  EXPECT_THAT(text, HasSubstr("estimate"));
  EXPECT_THAT(text, HasSubstr("  12  [10, 12] 99 %  1,000\n"));
}

TEST(AnswerTable, ShowsCountsAsTheyAre) {
  AnswerTable table;
  Answer a = answer("1e+07");
  a.lower = 9'999'999;
  a.upper = 12'345'678;
  table.add(a);
  a.lower = 9007199254740991.0;
  a.upper = 1e16;
  table.add(a);
  a.lower = 0.12345678;
  a.upper = 12345678.25;
  table.add(a);
  const std::string text = table.render(0);
  EXPECT_THAT(text, HasSubstr("  10000000  [9999999, 12345678] "));
  EXPECT_THAT(text, HasSubstr("[9007199254740991, 1e+16]"));
  EXPECT_THAT(text, HasSubstr("[0.1234568, 12345678]"));
}

TEST(AnswerTable, SaysOnceWhatAllAnswersHaveInCommon) {
  AnswerTable table;
  Answer a = answer("12");
  a.as_of = Time{1546421401 * kNanosPerSecond};
  table.add(a);
  a.field = "volume";
  a.query.clear();
  table.add(a);
  EXPECT_EQ(table.render(0),
            "record 1,000, day 2019-01-02, time 09:30:01Z, dataset Forex, stream EURTRY, synopsis "
            "CountMin:\n"
            "field   query   estimate      n\n"
            "price   6.0654        12  1,000\n"
            "volume                12  1,000\n");
}

TEST(AnswerTable, ShortensArraysForReading) {
  const auto shown = [](const char* estimate) {
    AnswerTable table;
    table.add(answer(estimate));
    const std::string text = table.render(0);
    return text.substr(text.rfind("6.0654") + 8, text.rfind("  1,000") - text.rfind("6.0654") - 8);
  };
  EXPECT_EQ(shown("[]"), "      []");
  EXPECT_EQ(shown("[true,\"a]\\\"\",1e3]"), R"([true, "a]\"", 1000])");
  EXPECT_EQ(shown("[[0.36882140668,0],[-0.123456,1.23456e-7],[3.33333333,1],[4,4],[5,5]]"),
            "[[0.3688,0], [-0.1235,1.235e-07], … 5]");
}

TEST(AnswerTable, ShowsTheWindowOfAnAnswer) {
  const auto at = [](int second) { return Time{(1546421400 + second) * kNanosPerSecond}; };
  AnswerTable table;
  Answer a = answer("12");
  a.as_of = at(400);
  a.window_start = at(0);
  a.window_end = at(300);
  table.add(a);
  EXPECT_THAT(table.render(0), HasSubstr("window 09:30:00Z to 09:35:00Z"));
  a.window_start = at(-86'400);
  table.add(a);
  const std::string text = table.render(0);
  EXPECT_THAT(text, HasSubstr("\n09:30:00Z to 09:35:00Z                     "));
  EXPECT_THAT(text, HasSubstr("\n2019-01-01T09:30:00Z to 2019-01-02T09:35:00Z "));
}

TEST(AnswerTable, ShowsListsAndPairsInShort) {
  const auto shown = [](const char* estimate) {
    AnswerTable table;
    table.add(answer(estimate));
    std::string text = table.render(0);
    text = text.substr(text.rfind("6.0654") + 8);
    text.erase(text.find("  1,000"));
    return text.substr(text.find_first_not_of(' '));
  };
  EXPECT_EQ(shown(R"([{"item":6.05,"estimate":12,"lower":10,"upper":12}])"), "6.05: 12");
  EXPECT_EQ(shown(R"([{"item":6.0511,"estimate":12000},{"item":"a, b","estimate":1100},)"
                  R"({"item":3,"estimate":900},{"item":4,"estimate":8}])"),
            R"(6.0511: 12000, "a, b": 1100, 3: 900, … 4)");
  EXPECT_EQ(shown(R"({"pairs":[],"compared":0,"possible":45,"streams":10,"left_out":0})"),
            "0 of 45 pairs, 0 compared");
  EXPECT_EQ(shown(R"({"pairs":[{"streams":["A","B"],"correlation":0.981234567},)"
                  R"({"streams":["A","C"],"correlation":1}],)"
                  R"("compared":7,"possible":28,"streams":10,"left_out":2})"),
            "2 of 28 pairs, 7 compared, 2 streams left out: A-B 0.9812, A-C 1");
  EXPECT_EQ(shown(("\"" + std::string(100, '1') + "\"").c_str()),
            "\"" + std::string(38, '1') + "…");
}

TEST(AnswerTable, DoesWithoutTheLeastColumnsWhereThereIsNoRoom) {
  AnswerTable table;
  for (int i = 0; i < 3; ++i) {
    Answer a = answer("123456.78901");
    a.stream = "S" + std::to_string(i);
    a.synopsis = i == 0 ? "HyperLogLog" : "DFT";
    a.as_of = Time{(1546421401 + i * 86'400) * kNanosPerSecond};
    a.seq = RecordPosition{1'000'000u + static_cast<unsigned>(i)};
    a.lower = 123'450;
    a.upper = 123'460;
    a.confidence = 0.95;
    table.add(a);
  }
  EXPECT_THAT(table.render(120), HasSubstr("2019-01-03"));
  EXPECT_THAT(table.render(80), Not(HasSubstr("2019-01-03")));
  EXPECT_THAT(table.render(80), HasSubstr("  1,000\n"));
  const std::string narrow = table.render(75);
  EXPECT_THAT(narrow, Not(HasSubstr("1,000\n")));
  EXPECT_THAT(narrow, Not(HasSubstr("…")));
  EXPECT_THAT(narrow, HasSubstr("1,000,002  S2      DFT          6.0654  123456.8"));
}

TEST(AnswerTable, ShowsWhyAnEstimateIsUndefined) {
  AnswerTable table;
  Answer a = answer("null");
  a.reason = "no values yet";
  table.add(a);
  EXPECT_THAT(table.render(0), HasSubstr("undefined: no values yet"));
}

TEST(AnswerTable, KeepsTheLastAnswersAndSaysHowManyItDoesNotShow) {
  AnswerTable table;
  for (std::size_t i = 0; i < AnswerTable::kRows + 7; ++i) table.add(answer(std::to_string(i)));
  EXPECT_THAT(table.render(0), HasSubstr("7 earlier answers are not shown"));
}

TEST(Report, TellsWhatEachHierarchyTook) {
  Summary s = summary();
  s.hierarchies["grid"] = {.results = 1, .groups = 1, .sensors = 1};
  s.hierarchies["plant"] = {.applied = 980,
                            .late = 4,
                            .unrouted = 6,
                            .without_time = 2,
                            .results = 1200,
                            .groups = 12,
                            .sensors = 512,
                            .silent = 3};
  s.results = 1201;
  ReportContext context;
  EXPECT_THAT(readable_summary(s, context),
              HasSubstr("results   1,201; --results FILE writes them\n"
                        "hierarchy grid: 1 result of 1 group, 1 sensor; applied 0 + late 0 + "
                        "unrouted 0\n"
                        "hierarchy plant: 1,200 results of 12 groups, 512 sensors (3 silent); "
                        "applied 980 + late 4 + unrouted 6 (2 without a time)\n"));
  context.results_to = "r.ndjson";
  EXPECT_THAT(readable_summary(s, context), HasSubstr("results   1,201 -> r.ndjson\n"));
  for (int i = 0; i < 20; ++i) s.hierarchies["h" + std::to_string(i)] = {};
  EXPECT_THAT(readable_summary(s, context), HasSubstr("hierarchy and 12 more"));
}

TEST(Report, HoldsTheStreamsThereAreAgainstARegistryThatNoRecordIsOf) {
  Summary s = summary();
  s.some_streams = {"p.0.1", "p.0.2", "p.0.3"};
  s.hierarchies["plant"] = {.sensors = 2, .silent = 2};
  ReportContext context;
  context.sensors["plant"] = {"x", "y"};
  EXPECT_THAT(readable_summary(s, context),
              HasSubstr("note      no record was of a sensor of plant with a number to aggregate; "
                        "identifiers of records look like p.0.1, p.0.2, p.0.3, …; its registry "
                        "has x, y\n"));
  s.hierarchies["plant"].silent = 1;
  EXPECT_THAT(readable_summary(s, context), Not(HasSubstr("no record was of")));
}

TEST(Report, ComparesNoIdentifiersWhereTheFieldIsWhatIsWrong) {
  Summary s = summary();
  s.some_streams = {"x", "y"};
  s.hierarchies["plant"] = {.sensors = 2, .silent = 2, .met = 2};
  ReportContext context;
  context.sensors["plant"] = {"x", "y"};
  context.fields["plant"] = {"nope", "none"};
  EXPECT_THAT(
      readable_summary(s, context),
      HasSubstr("note      no record of a sensor of plant had a number in field \"nope\" or "
                "\"none\"\n"));
  EXPECT_THAT(readable_summary(s, context), Not(HasSubstr("its registry has")));
  context.fields.clear();
  EXPECT_THAT(readable_summary(s, context),
              HasSubstr("no record of a sensor of plant had a number in the field that is "
                        "aggregated; --field NAME says which\n"));
}

TEST(Report, HintsAtNothingWhereMeasurementsWereLateOrWithoutATime) {
  Summary s = summary();
  ReportContext context;
  for (const Summary::Hierarchy& plant :
       {Summary::Hierarchy{.late = 4, .sensors = 2, .silent = 2, .met = 1},
        Summary::Hierarchy{.without_time = 4, .sensors = 2, .silent = 2, .met = 1}}) {
    s.hierarchies["plant"] = plant;
    EXPECT_THAT(readable_summary(s, context), Not(HasSubstr("note ")));
  }
}

TEST(Report, SaysWhereStreamTimeLeaptUnlessThatIsBounded) {
  Summary s = summary();
  s.leap = {(3 * 24 + 4) * 3600 * kNanosPerSecond, RecordPosition{12'345}};
  ReportContext context;
  EXPECT_THAT(
      readable_summary(s, context),
      HasSubstr("note      stream time leapt by 3d 4h at record 12,345; --max-jump 1d would "
                "reject such records\n"));
  EXPECT_THAT(s.to_json(), HasSubstr(R"("leap":{"seconds":273600,"record":12345})"));
  context.max_jump = 1;
  EXPECT_THAT(readable_summary(s, context), Not(HasSubstr("leapt")));
}

TEST(AnswerTable, LeavesOutAcknowledgementsAndErrors) {
  AnswerTable table;
  Answer ack;
  ack.kind = Answer::Kind::kAck;
  table.add(ack);
  EXPECT_TRUE(table.empty());
}

}  // namespace
}  // namespace weir::replay
