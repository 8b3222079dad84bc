// `weir tree`: hierarchies for reading, and the newest results beside their groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/group_lines.h"
#include "tests/replay/subprocess.h"
#include "weir/group_result.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPlant =
    R"({"identifier":"plant","name":"Plant","children":[)"
    R"({"identifier":"hall_a","name":"Halle Süd","children":[{"identifier":"press"},)"
    R"({"identifier":"saw","name":"Saw"}]},)"
    R"({"identifier":"hall_b","children":[{"identifier":"oven"},)"
    R"({"identifier":"cell","children":[{"identifier":"robot"}]}]},)"
    R"({"identifier":"spare","children":[{"identifier":"cell","children":[)"
    R"({"identifier":"robot"}]}]}]})";

GroupResult result_of(const char* group, double sum, std::uint64_t seq, const char* field = "v") {
  GroupResult result;
  result.identifier = group;
  result.hierarchy = "plant";
  result.field = field;
  result.count = 1;
  result.members = 2;
  result.sensors = 2;
  result.missing = 1;
  result.sum = sum;
  result.min = result.max = sum;
  result.seq = RecordPosition{seq};
  return result;
}

std::string line_of(const GroupResult& result,
                    GroupResult::Words words = GroupResult::Words::kWeir) {
  std::string line;
  result.append_json(line, words);
  return line + "\n";
}

TEST(GroupLines, KeepTheNewestOfEachGroupAndField) {
  GroupLines lines;
  for (const GroupResult& result :
       {result_of("a", 1, 5), result_of("a", 2, 9), result_of("a", 3, 9), result_of("a", 4, 7),
        result_of("a", 5, 1, "w"), result_of("b\"\n", 6, 1)}) {
    const Status status = lines.add(line_of(result));
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines.fields(), testing::ElementsAre("\"v\"", "\"w\""));
  ASSERT_NE(lines.find("plant", "a", "\"v\""), nullptr);
  EXPECT_EQ(lines.find("plant", "a", "\"v\"")->sum, 3);  // the last of those of one place
  EXPECT_EQ(lines.find("plant", "a", "\"w\"")->sum, 5);
  EXPECT_EQ(lines.find("plant", "b\"\n", "\"v\"")->sum, 6);
  EXPECT_EQ(lines.find("grid", "a", "\"v\""), nullptr);
}

TEST(GroupLines, TakeTitansWordsAndWhatIsUndefined) {
  GroupLines lines;
  GroupResult empty = result_of("a", 0, 1);
  empty.count = 0;
  empty.min.reset();
  ASSERT_TRUE(lines.add(line_of(empty, GroupResult::Words::kTitan)).ok());
  const GroupLine* line = lines.find("plant", "a", "\"v\"");
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->sum, 0);
  EXPECT_EQ(line->average, std::nullopt);
  EXPECT_EQ(line->min, std::nullopt);
}

TEST(GroupLines, SayWhichLineIsNoResult) {
  const auto error = [](const std::string& text) {
    GroupLines lines;
    std::istringstream file(text);
    const Status status = lines.read(file, "r.ndjson");
    EXPECT_FALSE(status.ok()) << text;
    return status.message();
  };
  const std::string good = line_of(result_of("a", 1, 5));
  EXPECT_THAT(error(good + "\n{\"x\":1}\n"),
              HasSubstr("r.ndjson:3: this is no result of a group: hierarchy is missing"));
  const std::string part = good.substr(0, 40);
  EXPECT_THAT(error(good + part + "\n" + good), HasSubstr("r.ndjson:2: this is not JSON"));
  EXPECT_THAT(error(good + part + "\n"), HasSubstr("r.ndjson:2: this is not JSON"));
  EXPECT_THAT(error(good + "{}"), HasSubstr("r.ndjson:2: this is no result of a group"));
  EXPECT_THAT(error(good + "press"), HasSubstr("r.ndjson:2: this is not JSON"));
  EXPECT_THAT(error("[]"), HasSubstr("no result of a group"));
  EXPECT_THAT(error("7"), HasSubstr("no result of a group"));
  std::string text = good;
  text.replace(text.find("\"seq\":5"), 7, "\"seq\":\"5\"");
  EXPECT_THAT(error(text), HasSubstr("seq is missing or wrong"));
}

TEST(GroupLines, PassOverALastLineThatBreaksOff) {
  const std::string good = line_of(result_of("a", 1, 5));
  const std::string last = line_of(result_of("b", 2, 6));
  for (std::size_t length = 0; length < last.size(); ++length) {
    GroupLines lines;
    std::istringstream file(good + "\n" + last.substr(0, length));
    const Status status = lines.read(file, "r.ndjson");
    EXPECT_TRUE(status.ok()) << status.message();
    const bool whole = length == last.size() - 1;  // but for its newline
    EXPECT_EQ(lines.size(), whole ? 2u : 1u) << length;
    EXPECT_EQ(lines.unfinished(), whole || length == 0 ? 0u : 3u) << length;
  }
}

TEST(GroupLines, NeverFailOtherwiseOnLinesThatAreCutOrDamaged) {
  const std::string line = line_of(result_of("a", 1.5, 5));
  for (std::size_t length = 0; length < line.size() - 2; ++length) {
    GroupLines lines;
    EXPECT_FALSE(lines.add(line.substr(0, length)).ok()) << length;
  }
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::string damaged = line;
    damaged[at] = '\x01';
    GroupLines lines;
    (void)lines.add(damaged);
  }
}

class TreeProgram : public testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments, const char* locale = "C.UTF-8") const {
    setenv("LC_ALL", locale, 1);
    arguments.insert(arguments.begin(), {"tree", "--registry", plant_});
    Finished ran = run_weir(arguments);
    unsetenv("LC_ALL");
    return ran;
  }
  const tests::TemporaryFolder scratch_;
  const std::string plant_ = scratch_.write("plant.json", kPlant);
};

TEST_F(TreeProgram, ShowsGroupsWithTheirNamesAndASecondPlaceOnce) {
  const Finished ran = run({});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "group                   members  sensors\n"
            "Plant (plant)                 3        4\n"
            "├─ Halle Süd (hall_a)         2        2\n"
            "│  ├─ press\n"
            "│  └─ Saw (saw)\n"
            "├─ hall_b                     2        2\n"
            "│  ├─ cell                    1        1\n"
            "│  │  └─ robot\n"
            "│  └─ oven\n"
            "└─ spare                      1        1\n"
            "   └─ cell (see above)        1        1\n");
}

TEST_F(TreeProgram, DrawsWithAsciiWhereTheLocaleIsNotUtf8) {
  const Finished ran = run({}, "C");
  EXPECT_THAT(ran.out, HasSubstr("|  |- press\n|  `- Saw (saw)\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("├")));
}

TEST_F(TreeProgram, PutsTheNewestResultsBesideTheGroups) {
  const std::string results = scratch_.write(
      "r.ndjson", line_of(result_of("hall_a", 1, 5)) + line_of(result_of("hall_a", 12.25, 17)));
  const Finished ran = run({"--results", results});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("group                     sum  average    min    max  count  "
                                 "missing  record\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("├─ Halle Süd (hall_a)   12.25    12.25  12.25  12.25    1/2        "
                        "1      17\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("├─ hall_b                   -        -      -      -      -        "
                        "-       -\n"));
}

TEST_F(TreeProgram, ShowsWhatARunLeftThatWasKilledInTheMiddleOfALine) {
  const std::string line = line_of(result_of("hall_a", 1.5, 5));
  const std::string results = scratch_.write("r.ndjson", line + line.substr(0, 30));
  const Finished ran = run({"--results", results});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("1.5"));
  EXPECT_EQ(ran.err, "weir: " + results + ":2: the unfinished last line was passed over\n");
}

TEST_F(TreeProgram, SaysOfWhatTheResultsAreWhenTheyAreOfAnotherRegistry) {
  GroupResult other = result_of("street", 1, 5);
  other.hierarchy = "town";
  const std::string results = scratch_.write("r.ndjson", line_of(other));
  const Finished ran = run({"--results", results});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("hall_b"));
  EXPECT_EQ(ran.err, "weir: " + results +
                         ": no result is of a group of the registry; there are results of "
                         "hierarchies \"town\"\n");
  // Some result is enough, and none at all is what a run may begin with.
  const std::string both =
      scratch_.write("both.ndjson", line_of(other) + line_of(result_of("cell", 1, 5)));
  EXPECT_EQ(run({"--results", both}).err, "");
  EXPECT_EQ(run({"--results", scratch_.write("none.ndjson", "")}).err, "");
}

TEST_F(TreeProgram, ShowsATreeForEachFieldOrTheOneThatIsWanted) {
  const std::string results = scratch_.write(
      "r.ndjson", line_of(result_of("plant", 1, 5, "v")) + line_of(result_of("plant", 2, 5, "w")));
  EXPECT_THAT(run({"--results", results}).out, HasSubstr("\n\n\"w\":\ngroup"));
  EXPECT_THAT(run({"--results", results, "--field", "w"}).out, testing::StartsWith("group"));
  const Finished wrong = run({"--results", results, "--field", "u"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no result is of \"u\"; there are \"v\", \"w\""));
}

TEST_F(TreeProgram, CountsTheSensorsOfALargeGroupInsteadOfShowingAll) {
  std::string csv;
  for (int i = 0; i < 500; ++i) csv += "s" + std::to_string(1000 + i) + ",big\n";
  const std::string file = scratch_.write("big.csv", csv);
  setenv("LC_ALL", "C.UTF-8", 1);
  const Finished ran = run_weir({"tree", "--registry", file});
  unsetenv("LC_ALL");
  EXPECT_THAT(ran.out, HasSubstr("├─ s1019\n└─ … and 480 more\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("s1020")));
}

TEST_F(TreeProgram, GivesEveryPlaceAsJson) {
  const std::string results = scratch_.write("r.ndjson", line_of(result_of("hall_a", 1.5, 5)));
  const Finished ran = run({"--results", results, "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 10);
  EXPECT_THAT(ran.out,
              HasSubstr(R"({"hierarchy":"plant","identifier":"plant","name":"Plant",)"
                        R"("kind":"group","depth":0,"parent":null,"members":3,"sensors":4,)"
                        R"("again":false,"results":[]})"));
  EXPECT_THAT(ran.out, HasSubstr(R"("results":[{"identifier":"hall_a","hierarchy":"plant",)"));
  EXPECT_THAT(ran.out, HasSubstr(R"({"hierarchy":"plant","identifier":"oven","name":null,)"
                                 R"("kind":"sensor","depth":2,"parent":"hall_b"})"));
  EXPECT_THAT(ran.out, HasSubstr(R"("parent":"spare","members":1,"sensors":1,"again":true)"));
}

TEST_F(TreeProgram, RefusesFilesThatAreWrong) {
  expect_refusal({"tree"}, 2, "tree needs --registry FILE");
  expect_refusal({"tree", "--registry", scratch_.at("none")}, 78, "cannot read");
  expect_refusal({"tree", "--registry", scratch_.write("bad.json", "{\"identifier\":7}")}, 78,
                 "bad.json");
  expect_refusal({"tree", "--registry", plant_, "--results", scratch_.at("none")}, 1,
                 "cannot read");
  expect_refusal({"tree", "--registry", plant_, "--results", plant_}, 1, "no result of a group");
}

TEST_F(TreeProgram, CannotBeSteeredByNames) {
  const std::string file =
      scratch_.write("hostile.json", R"({"identifier":"a\u001b[31m","name":"b\nc","children":[]})");
  const Finished ran = run_weir({"tree", "--registry", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2);
}

}  // namespace
}  // namespace weir::replay
