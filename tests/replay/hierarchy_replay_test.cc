// `weir replay` with hierarchies, as a user runs it: results, the summary about them, what is
// refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPair =
    R"({"identifier":"R","children":[{"identifier":"x"},{"identifier":"y"}]})";

std::string titan(const char* sensor, long second, double value) {
  std::ostringstream line;
  line << R"({"identifier":")" << sensor << R"(","timestamp":)" << second * 1000
       << R"(,"valueInW":)" << value << "}\n";
  return line.str();
}

class HierarchyReplay : public testing::Test {
 protected:
  const tests::TemporaryFolder scratch_;
  const std::string registry_ = scratch_.write("pair.json", kPair);
  const std::string data_ =
      scratch_.write("data.ndjson", titan("x", 1, 7.5) + titan("y", 2, 2.5) + titan("x", 3, 9.5));
};

TEST_F(HierarchyReplay, WritesAResultALineToItsFileAndNothingElseThere) {
  const Finished ran = run_weir({"replay", "--registry", registry_, "--mode", "changelog",
                                 "--results", scratch_.at("r"), data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(scratch_.read("r"),
            R"({"identifier":"R","hierarchy":"R","field":"valueInW","timestamp":1000,)"
            R"("windowStart":null,"windowEnd":null,"count":1,"sum":7.5,"average":7.5,"min":7.5,)"
            R"("max":7.5,"members":2,"sensors":2,"missing":1,"complete":false,"epoch":1,"seq":1})"
            "\n"
            R"({"identifier":"R","hierarchy":"R","field":"valueInW","timestamp":2000,)"
            R"("windowStart":null,"windowEnd":null,"count":2,"sum":10,"average":5,"min":2.5,)"
            R"("max":7.5,"members":2,"sensors":2,"missing":0,"complete":true,"epoch":1,"seq":2})"
            "\n"
            R"({"identifier":"R","hierarchy":"R","field":"valueInW","timestamp":3000,)"
            R"("windowStart":null,"windowEnd":null,"count":2,"sum":12,"average":6,"min":2.5,)"
            R"("max":9.5,"members":2,"sensors":2,"missing":0,"complete":true,"epoch":1,"seq":3})"
            "\n");
  EXPECT_THAT(ran.err, HasSubstr("results   3 -> " + scratch_.at("r") + "\n"));
  EXPECT_THAT(ran.err, HasSubstr("hierarchy R: 3 results of 1 group, 2 sensors; applied 3 + late "
                                 "0 + unrouted 0\n"));
}

TEST_F(HierarchyReplay, SendsResultsToStandardOutputWhereNothingIsAsked) {
  const Finished ran = run_weir({"replay", "--registry", registry_, "--mode", "changelog",
                                 "--titan-names", "--results", "-", data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 3);
  EXPECT_THAT(ran.out, HasSubstr(R"("sumInW":12,"averageInW":6,"minInW":2.5,"maxInW":9.5)"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\"sum\"")));
  const std::string requests = scratch_.write("r.json", R"({"op":"list"})");
  expect_refusal(
      {"replay", "--registry", registry_, "--results", "-", "--requests", requests, data_}, 2,
      "both write standard output");
}

TEST_F(HierarchyReplay, SaysHowManyResultsThereAreAndHowToSeeThem) {
  const Finished ran =
      run_weir({"replay", "--registry", registry_, "--summary", scratch_.at("s"), data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("results   1; --results FILE writes them\n"));
  EXPECT_THAT(ran.err, Not(HasSubstr("nothing was asked")));
  EXPECT_THAT(scratch_.read("s"),
              HasSubstr(R"("hierarchies":{"R":{"applied":3,"late":0,"unrouted":0,)"
                        R"("without_time":0,"results":1,"groups":1,"sensors":2,"silent":0}},)"
                        R"("results":1)"));
}

TEST_F(HierarchyReplay, ChangesAHierarchyWhereTheControlFileSays) {
  const std::string control = scratch_.write(
      "control.ndjson",
      R"({"at":{"record":2},"registry":{"identifier":"R","children":[{"identifier":"x"}]}})");
  const Finished ran = run_weir({"replay", "--registry", registry_, "--control", control, "--mode",
                                 "changelog", "--results", scratch_.at("r"), data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"kind\":\"ack\""));
  EXPECT_THAT(scratch_.read("r"),
              HasSubstr(R"("count":1,"sum":7.5,"average":7.5,"min":7.5,"max":7.5,"members":1,)"
                        R"("sensors":1,"missing":0,"complete":true,"epoch":2,"seq":2})"));
}

// As through --requests: the old registry stands on, and the run goes on.
TEST_F(HierarchyReplay, AnswersAWrongRegistryOfTheControlFileAtItsPlace) {
  for (const auto& [registry, says] : std::vector<std::pair<std::string, std::string>>{
           {R"({"identifier":"R","children":[{"identifier":"R","children":[]}]})",
            "R/R: cycle: R stands above itself"},
           {R"({"identifier":"R","children":[{"identifier":"x"},)"
            R"({"identifier":"x","children":[]}]})",
            "x"},
           {"7", "a registry is an object such as"}}) {
    const std::string control = scratch_.write(
        "control.ndjson", R"({"at":{"record":1},"registry":)" + registry + "}\n" +
                              R"({"at":{"record":2},"registry":{"identifier":"R","children":[)"
                              R"({"identifier":"x"}]}})");
    std::string results;
    for (const char* option : {"--requests", "--control"}) {
      const Finished ran = run_weir({"replay", "--registry", registry_, option, control, "--mode",
                                     "changelog", "--results", scratch_.at("r"), data_});
      EXPECT_EQ(ran.status, 1) << option;
      EXPECT_THAT(ran.out, HasSubstr("\"kind\":\"error\"")) << option;
      EXPECT_THAT(ran.out, HasSubstr("\"seq\":1")) << option;
      EXPECT_THAT(ran.out, HasSubstr("\"kind\":\"ack\"")) << option;
      EXPECT_THAT(ran.err, HasSubstr(says)) << option;
      const std::string written = scratch_.read("r");
      EXPECT_TRUE(results.empty() || results == written);
      results = written;
    }
    EXPECT_FALSE(results.empty());
    const Finished validated = run_weir({"validate", "--control", control});
    EXPECT_EQ(validated.status, 78);
    EXPECT_THAT(validated.err, HasSubstr(control + ":1: "));
    EXPECT_THAT(validated.err, HasSubstr(says));
  }
}

TEST_F(HierarchyReplay, KeepsTheDatasetOfResultsToResults) {
  const auto record = [](const char* dataset, const char* stream, const char* field) {
    return fmt::format(R"({{"dataSetKey":"{}","streamID":"{}","timestamp":1000,"{}":3}})"
                       "\n",
                       dataset, stream, field);
  };
  const std::string data = scratch_.write(
      "groups.ndjson", record("D", "x", "v") + record("groups", "R", "sum") +
                           record("groups", "R", "sum") + record("groups", "y", "v"));
  const std::string requests = scratch_.write(
      "r.ndjson",
      R"({"op":"build","synopsis":"GKQuantiles","dataset":"groups","stream":"R","field":"sum",)"
      R"("params":{"epsilon":0.1}})"
      "\n"
      R"({"op":"query","synopsis":"GKQuantiles","dataset":"groups","stream":"R","field":"sum",)"
      R"("query":0.9})");
  const Finished without = run_weir({"replay", "--requests", requests, data});
  EXPECT_THAT(without.out, HasSubstr("\"n\":2,\"estimate\":3,")) << without.err;
  // The results of x and of y, which is a sensor whatever its dataset.
  const Finished with = run_weir({"replay", "--registry", registry_, "--field", "v", "--mode",
                                  "changelog", "--requests", requests, data});
  EXPECT_THAT(with.out, HasSubstr("\"n\":2,\"estimate\":6,")) << with.err;
  EXPECT_THAT(with.err, HasSubstr("applied 2 + late 0 + unrouted 2"));
}

TEST_F(HierarchyReplay, GivesEachHierarchyTheOptionsOfItsTable) {
  const std::string other =
      scratch_.write("other.json", R"({"identifier":"Q","children":[{"identifier":"x"}]})");
  const std::string config =
      scratch_.write("run.toml", "emit = \"10s\"\nresults = \"" + scratch_.at("r") +
                                     "\"\n[[hierarchy]]\nregistry = \"" + registry_ +
                                     "\"\nmode = \"tumbling\"\n[[hierarchy]]\nregistry = \"" +
                                     other + "\"\nmode = \"changelog\"\n");
  const Finished ran = run_weir({"replay", "--config", config, data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const std::string results = scratch_.read("r");
  EXPECT_EQ(std::count(results.begin(), results.end(), '\n'), 3) << results;
  EXPECT_THAT(results, HasSubstr(R"("hierarchy":"Q","field":"valueInW","timestamp":3000,)"
                                 R"("windowStart":null)"));
  EXPECT_THAT(results, HasSubstr(R"("hierarchy":"R","field":"valueInW","timestamp":3000,)"
                                 R"("windowStart":0,"windowEnd":10000,"count":2,"sum":12,)"));
}

TEST_F(HierarchyReplay, HintsWhenNoRecordIsOfASensor) {
  const std::string data =
      scratch_.write("other.ndjson", titan("plant/x", 1, 1) + titan("plant/y", 2, 2));
  const Finished ran = run_weir({"replay", "--registry", registry_, data});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("note      no record was of a sensor of R with a number to "
                                 "aggregate; identifiers of records look like plant/x, plant/y; "
                                 "its registry has x, y\n"));
}

TEST_F(HierarchyReplay, HintsAtAFieldThatNoSensorHas) {
  const Finished ran = run_weir({"replay", "--registry", registry_, "--field", "nope", data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              HasSubstr("note      no record of a sensor of R had a number in field \"nope\"\n"));
  EXPECT_THAT(ran.err, Not(HasSubstr("identifiers of records")));
  const std::string config =
      scratch_.write("run.toml", "field = [\"valueInW\"]\n[[hierarchy]]\nregistry = \"" +
                                     registry_ + "\"\nfield = [\"power\"]\n");
  EXPECT_THAT(run_weir({"replay", "--config", config, data_}).err,
              HasSubstr("had a number in field \"power\"\n"));
}

TEST_F(HierarchyReplay, HintsAtNoIdentifiersWhereEveryMeasurementWasLate) {
  const std::string data =
      scratch_.write("late.ndjson", titan("z", 100, 1) + titan("x", 1, 1) + titan("y", 2, 2));
  const Finished ran =
      run_weir({"replay", "--registry", registry_, "--mode", "tumbling", "--emit", "10s", data});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("late 2"));
  EXPECT_THAT(ran.err, Not(HasSubstr("no record ")));
}

TEST_F(HierarchyReplay, HintsWhenStreamTimeLeaps) {
  const std::string data =
      scratch_.write("leap.ndjson", titan("x", 1, 1) + titan("y", 273'601, 2) + titan("x", 2, 3));
  const Finished ran = run_weir({"replay", "--registry", registry_, data});
  EXPECT_THAT(ran.err, HasSubstr("note      stream time leapt by 3d 4h at record "));
  EXPECT_THAT(ran.err, HasSubstr("; --max-jump 1d would reject such records\n"));
  const Finished bounded = run_weir({"replay", "--registry", registry_, "--max-jump", "1d", data});
  EXPECT_THAT(bounded.err, HasSubstr("rejected  future 1"));
  EXPECT_THAT(bounded.err, Not(HasSubstr("leapt")));
}

TEST_F(HierarchyReplay, EndsWhenTheReaderOfItsResultsGoesAway) {
  std::string data;
  for (int i = 0; i < 200'000; ++i) data += titan(i % 2 == 0 ? "x" : "y", i, i);
  const std::string file = scratch_.write("long.ndjson", data);
  const Finished ran =
      run_shell(scratch_.at("."), "weir replay --registry pair.json --mode changelog --results - " +
                                      file + " --progress none 2>err | head -1 | wc -l");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("1"));
}

TEST_F(HierarchyReplay, RefusesRegistriesAndControlFilesThatAreWrong) {
  const auto refuse = [&](const std::vector<std::string>& options, int status,
                          const std::string& says) {
    std::vector<std::string> arguments = {"replay"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(data_);
    expect_refusal(arguments, status, says);
  };
  refuse({"--registry", scratch_.at("none.json")}, 78, "registry: cannot read ");
  refuse({"--registry", scratch_.write("bad.json", "{\"identifier\":\n7}")}, 78, "bad.json");
  const std::string cycle = scratch_.write("cycle.csv", "a,b\nb,a\n");
  refuse({"--registry", cycle}, 78, "cycle.csv");
  refuse({"--registry", registry_, "--registry", registry_}, 78, "stands already");
  refuse({"--control", scratch_.at("none")}, 78, "--control: cannot read ");
  const std::string control =
      scratch_.write("c", std::string("{\"registry\":") + kPair + "}\n{}\n");
  refuse({"--control", control}, 78, control + ":2: this is no change of a hierarchy");
  refuse({"--mode", "changelog"}, 2, "mode has no effect without hierarchies");
  refuse({"--registry", registry_, "--mode", "sliding"}, 2, "window");
  refuse({"--registry", registry_, "--grace", "5s"}, 2, "grace has no effect with mode latest");
}

TEST_F(HierarchyReplay, NeverOverwritesRegistriesOrControlFiles) {
  const std::string control = scratch_.write("c", std::string("{\"registry\":") + kPair + "}\n");
  expect_refusal({"replay", "--registry", registry_, "--results", registry_, data_}, 2,
                 "--results " + registry_ + " would overwrite the registry");
  expect_refusal(
      {"replay", "--registry", registry_, "--control", control, "--answers", control, data_}, 2,
      "would overwrite the control file");
  expect_refusal({"replay", "--registry", registry_, "--results", data_, data_}, 2,
                 "would overwrite the input");
  expect_refusal({"replay", "--registry", registry_, "--results", scratch_.at("o"), "--answers",
                  scratch_.at("o"), data_},
                 2, "both write");
  EXPECT_EQ(scratch_.read("pair.json"), kPair);
}

TEST_F(HierarchyReplay, AndValidateRefuseARegistryThatIsGivenTwiceAlike) {
  const std::string table = "[[hierarchy]]\nregistry = \"" + registry_ + "\"\n";
  const std::string twice = scratch_.write("twice.toml", table + table);
  const std::string once = scratch_.write("once.toml", table);
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{"--registry", registry_, "--registry", registry_},
        std::vector<std::string>{"--config", twice}}) {
    std::vector<std::string> arguments = {"validate"};
    arguments.insert(arguments.end(), given.begin(), given.end());
    const Finished validated = run_weir(arguments);
    arguments[0] = "replay";
    arguments.push_back(data_);
    const Finished ran = run_weir(arguments);
    EXPECT_EQ(validated.status, 78);
    EXPECT_EQ(ran.status, 78);
    EXPECT_EQ(ran.err,
              "weir: " + registry_ + ": hierarchy R stands already; give its registry once\n");
    EXPECT_EQ(validated.err, ran.err);
  }
  // One that a configuration has is looked at once, as other files are.
  EXPECT_EQ(run_weir({"validate", "--config", once, "--registry", registry_}).status, 0);
}

TEST_F(HierarchyReplay, IsCheckedByValidateBeforehand) {
  const std::string control =
      scratch_.write("c", std::string("{\"at\":{\"record\":1},\"registry\":") + kPair + "}\n");
  const Finished good = run_weir({"validate", "--registry", registry_, "--control", control});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(good.out, "ok: " + registry_ + ": 1 hierarchy, 1 group, 2 sensors\nok: " + control +
                          ": 1 change\n");
  const std::string bad =
      scratch_.write("bad", std::string("{\"at\":{\"recrod\":1},\"registry\":") + kPair + "}\n");
  const Finished wrong = run_weir({"validate", "--control", bad, "--registry", registry_,
                                   "--registry", scratch_.write("same.json", kPair)});
  EXPECT_EQ(wrong.status, 78);
  EXPECT_THAT(wrong.err, HasSubstr(bad + ":1: "));
  EXPECT_THAT(wrong.err, HasSubstr("same.json: hierarchy R stands already"));
  const std::string config =
      scratch_.write("run.toml", "[[hierarchy]]\nregistry = \"" + scratch_.at("none") + "\"\n");
  const Finished missing = run_weir({"validate", "--config", config});
  EXPECT_EQ(missing.status, 78);
  EXPECT_THAT(missing.err, HasSubstr("cannot read " + scratch_.at("none")));
}

}  // namespace
}  // namespace weir::replay
