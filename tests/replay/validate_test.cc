// What is found before a run: by `weir validate`, and by the commands that take settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/request_check.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

// The errors of one file with these requests.
std::vector<std::string> errors_of(const std::string& requests) {
  const auto file = read_requests(requests, "r");
  EXPECT_TRUE(file.ok());
  std::vector<std::string> texts;
  for (const RequestError& error : check_requests({&*file, 1})) texts.push_back(error.text);
  return texts;
}

std::string count_min(const std::string& more) {
  return R"({"synopsis":"CountMin","dataset":"D","stream":"A","field":"price",)" + more + "}\n";
}
std::string build(const std::string& epsilon, const std::string& more = "") {
  return count_min(R"("op":"build","params":{"epsilon":)" + epsilon + R"(,"confidence":0.9})" +
                   more);
}

TEST(RequestCheck, FindsAQueryThatItsSynopsisAlwaysRefuses) {
  const auto errors = errors_of(build("0.1") + count_min(R"("op":"query")"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0], HasSubstr("r: request 2 (query CountMin of D/A price): "));
  EXPECT_THAT(errors_of(build("0.1") + kQuery), testing::IsEmpty());
}

TEST(RequestCheck, FindsASecondBuildWithOtherParameters) {
  const auto errors = errors_of(build("0.1") + build("0.2") + build("0.1"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0], HasSubstr("r: request 2 (build CountMin of D/A price): it stands with"));
  // The first of them is the one that comes first in the input.
  const auto placed = errors_of(build("0.1", R"(,"at":{"record":5})") + build("0.2"));
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_THAT(placed[0], HasSubstr("request 1 "));
  EXPECT_THAT(errors_of(build("0.1") + build("0.10")), testing::IsEmpty());
  EXPECT_THAT(errors_of(build("0.1") + count_min(R"("op":"delete","at":{"record":5})") +
                        build("0.2", R"(,"at":{"record":6})")),
              testing::IsEmpty());
}

TEST(Validate, FindsWhatReplayRefuses) {
  const Scratch scratch;
  expect_refusal({"validate", "--requests",
                  scratch.write("q.json", build("0.1") + count_min(R"("op":"query")"))},
                 78, "q.json: request 2");
}

TEST(Validate, ListsAFileOnceWithItsErrors) {
  const Scratch scratch;
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
  const Scratch scratch;
  const std::string config = scratch.write("c.toml", "speed = \"fast\"\n");
  const std::string says = "c.toml:1:9: speed: \"fast\" is no speed; write max";
  expect_refusal({"replay", "--config", config, "x"}, 78, says);
  expect_refusal({"validate", "--config", config}, 78, says);
  expect_refusal({"config", "show", "--config", config}, 78, says);
  expect_refusal({"replay", "--speed", "fast", "x"}, 2, "--speed: \"fast\" is no speed");
}

TEST(Settings, BlameWhoeverIsAtFault) {
  const Scratch scratch;
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
  const Scratch scratch;
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
  const Scratch scratch;
  const std::string data = scratch.write("d", saams_records(10));
  const std::string note = "note      nothing was asked; --requests FILE";
  EXPECT_THAT(run_weir({"replay", data}).err, HasSubstr(note));
  const std::string requests = scratch.write("r", kBuild);
  EXPECT_THAT(run_weir({"replay", "--requests", requests, data}).err,
              Not(HasSubstr("nothing was")));
}

}  // namespace
}  // namespace weir::replay
