// What is found before a run: by `weir validate`, and by the commands that take settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Validate, FindsWhatReplayRefuses) {
  const tests::TemporaryFolder scratch;
  const std::string wrong = R"({"op":"query","synopsis":"CountMin","dataset":"D","stream":"A",)"
                            R"("field":"price"})";
  expect_refusal({"validate", "--requests", scratch.write("q.json", kBuild + wrong)}, 78,
                 "q.json: request 2");
}

TEST(Validate, KnowsTheEmitPeriodThatARunWillHave) {
  const tests::TemporaryFolder scratch;
  const std::string windows =
      R"({"op":"build","synopsis":"CountMin","dataset":"D","stream":"A","field":"price",)"
      R"("params":{"epsilon":0.01,"confidence":0.99},"window":{"size":"10s"}})";
  const std::string requests = scratch.write("r", windows + std::string(kContinuous));
  const std::string says = "answers come every 60 s, but the windows slide every 10 s; set --emit";
  // Nothing is said of a period that is not known.
  EXPECT_EQ(run_weir({"validate", "--requests", requests}).status, 0);
  expect_refusal({"validate", "--requests", requests, "--emit", "60s"}, 78, says);
  EXPECT_EQ(run_weir({"validate", "--requests", requests, "--emit", "10s"}).status, 0);
  EXPECT_EQ(run_weir({"validate", "--requests", requests, "--emit", "10 records"}).status, 0);
  expect_refusal({"validate", "--requests", requests, "--emit", "often"}, 2, "--emit: ");
  const std::string config = scratch.write("c.toml", "requests = \"" + requests + "\"\n");
  EXPECT_THAT(run_weir({"validate", "--config", config}).err, HasSubstr(says));
  EXPECT_EQ(run_weir({"validate", "--config", config, "--emit", "5s"}).status, 0);
}

TEST(Validate, LoadsPlugInsFromTheDirectoryOfTheRun) {
  const tests::TemporaryFolder scratch;
  const std::string directory = std::filesystem::path(WEIR_TOP_K).parent_path();
  const std::string file = std::filesystem::path(WEIR_TOP_K).filename();
  const std::string plugin = R"({"op":"plugin","path":")" + file + "\"}\n";
  const std::string build =
      R"({"op":"build","synopsis":"TopK","dataset":"D","stream":"A","field":"price",)"
      R"("params":{"k":10}})";
  const std::string query =
      R"({"op":"query","synopsis":"TopK","dataset":"D","stream":"A","field":"price",)";
  const std::string requests = scratch.write("r", plugin + build + query + "\"query\":5}");
  const Finished alone = run_weir({"validate", "--requests", requests});
  EXPECT_EQ(alone.status, 78);
  EXPECT_THAT(alone.err, HasSubstr("request 1 (plugin): no plug-in directory is set; give "));
  EXPECT_EQ(run_weir({"validate", "--requests", requests, "--plugin-dir", directory}).out,
            "ok: " + requests + ": 3 requests\n");
  const std::string config = scratch.write(
      "c.toml", "plugin-dir = \"" + directory + "\"\nrequests = \"" + requests + "\"\n");
  EXPECT_EQ(run_weir({"validate", "--config", config}).status, 0);
  const std::string wrong = scratch.write("w", plugin + build + query + R"("query":[1,2]})");
  expect_refusal({"validate", "--requests", wrong, "--plugin-dir", directory}, 78,
                 "request 3 (query TopK of D/A price): ");
}

TEST(Validate, ListsAFileOnceWithItsErrors) {
  const tests::TemporaryFolder scratch;
  const std::string bad = scratch.write("q", kQuery);
  expect_refusal({"validate", "--requests", bad, "--requests", bad}, 78, "no request builds");
  // A file whose name begins another's message.
  const std::string longer = scratch.write("q: request", kBuild);
  const Finished ran = run_weir({"validate", "--requests", longer, "--requests", bad, "--json"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  const std::string good = scratch.write("g", kBuild);
  EXPECT_EQ(run_weir({"validate", "--requests", good, "--requests", good}).out,
            "ok: " + good + ": 1 requests\n");
}

TEST(Settings, WithAWrongSpeedAreRefusedAlikeByEveryCommand) {
  const tests::TemporaryFolder scratch;
  const std::string config = scratch.write("c.toml", "speed = \"fast\"\n");
  const std::string says = "c.toml:1:9: speed: \"fast\" is no speed; write max";
  expect_refusal({"replay", "--config", config, "x"}, 78, says);
  expect_refusal({"validate", "--config", config}, 78, says);
  expect_refusal({"config", "show", "--config", config}, 78, says);
  expect_refusal({"replay", "--speed", "fast", "x"}, 2, "--speed: \"fast\" is no speed");
}

TEST(Settings, BlameWhoeverIsAtFault) {
  const tests::TemporaryFolder scratch;
  const std::string good = scratch.write("ok.toml", "threads = 1\n");
  const std::string says = "shard-threads: 0 is wrong; with ingest-threads = 2 it is 1 or more";
  expect_refusal({"replay", "--config", good, "--ingest-threads", "2", "x"}, 2, says);
  expect_refusal({"config", "show", "--ingest-threads", "2"}, 2, says);
  const std::string bad = scratch.write("bad.toml", "ingest-threads = 2\n");
  expect_refusal({"replay", "--config", bad, "x"}, 78, "bad.toml: " + says);
  expect_refusal({"validate", "--config", bad}, 78, "bad.toml: " + says);
  // The command line puts it right.
  EXPECT_EQ(run_weir({"config", "show", "--config", bad, "--shard-threads", "1"}).status, 0);
}

TEST(Settings, TakeALayoutOrAMapping) {
  const tests::TemporaryFolder scratch;
  const std::string mapping = scratch.write(
      "orders.toml", "format = \"csv\"\nstream = \"id\"\ndataset_constant = \"D\"\ntime = \"t\"\n");
  expect_refusal({"replay", "--layout", "saams", "--mapping", mapping, "x"}, 2,
                 "layout saams and mapping " + mapping);
  const std::string config =
      scratch.write("c.toml", "layout = \"saams\"\nmapping = \"" + mapping + "\"\n");
  const Finished validated = run_weir({"validate", "--config", config});
  EXPECT_EQ(validated.status, 78);
  EXPECT_THAT(validated.err, HasSubstr("c.toml: layout saams and mapping"));
  const std::string data = scratch.write("d.csv", "id,t,price\nA,1,2\n");
  const Finished ran = run_weir({"replay", "--layout", "auto", "--mapping", mapping, data});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("d.csv as mapping " + mapping + "\n"));
}

TEST(Settings, ShowTheirDefaultsInHelp) {
  const std::string help = run_weir({"replay", "--help"}).out;
  // "=60s" or " [60s]", as the version of CLI11 has it.
  for (const char* shown : {"--emit PERIOD[ =[]+60s", "--speed SPEED[ =[]+max", "none[ =[]+auto",
                            "--threads N[ =[]+0", "--block-size SIZE[ =[]+512K"}) {
    EXPECT_THAT(help, testing::ContainsRegex(shown));
  }
}

TEST(Settings, WithoutRequestsGiveANote) {
  const tests::TemporaryFolder scratch;
  const std::string data = scratch.write("d", saams_records(10));
  const std::string note = "note      nothing was asked; --requests FILE";
  EXPECT_THAT(run_weir({"replay", data}).err, HasSubstr(note));
  const std::string requests = scratch.write("r", kBuild);
  EXPECT_THAT(run_weir({"replay", "--requests", requests, data}).err,
              Not(HasSubstr("nothing was")));
}

}  // namespace
}  // namespace weir::replay
