// Options of snapshots and resuming: what goes together, and what is said about where a run goes
// on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "replay/config_file.h"
#include "replay/resuming.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ResumeOptions, AreSettingsLikeAllOthers) {
  ReplayOptions options;
  const Status read = parse_config(
      "state-dir = \"s\"\nsnapshot-every = \"30s\"\njournal = true\nresume = true\n"
      "faults = \"f.toml\"\n",
      "c.toml", process_environment, options);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_TRUE(check_together(options).ok());
  EXPECT_EQ(options.engine.snapshot_every, (Period{30 * kNanosPerSecond, 0}));
  EXPECT_TRUE(options.engine.journal && options.engine.resume);
  const std::string shown = options_as_toml(options);
  EXPECT_THAT(shown, HasSubstr("snapshot-every = \"30s\""));
  EXPECT_THAT(shown, HasSubstr("resume = true"));
  EXPECT_THAT(shown, HasSubstr("faults = \"f.toml\""));
  EXPECT_THAT(options_as_toml({}), HasSubstr("# snapshot-every = \"PERIOD\"  # unset"));
  const Setting& every = *find_setting("snapshot-every");
  const std::vector<std::string> records = {"1000000 records"}, bare = {"30"};
  EXPECT_TRUE(every.set(options, records).ok());
  EXPECT_EQ(options.engine.snapshot_every, (Period{0, 1'000'000}));
  EXPECT_THAT(every.set(options, bare).message(), HasSubstr("\"30s\""));
}

TEST(ResumeOptions, NeedAStateDirectory) {
  for (const char* option : {"snapshot-every = \"30s\"", "journal = true", "resume = true"}) {
    ReplayOptions options;
    ASSERT_TRUE(parse_config(option, "c.toml", process_environment, options).ok());
    const Status together = check_together(options);
    EXPECT_EQ(together.code(), Code::kConfig);
    EXPECT_THAT(together.message(), HasSubstr("needs state-dir DIR"));
    EXPECT_THAT(together.message(),
                HasSubstr(std::string(option).substr(0, std::string(option).find(' '))));
  }
  Config both;
  both.state_directory = "s";
  both.snapshot_every = {1, 1};
  EXPECT_THAT(Engine::create(both).status().message(), HasSubstr("snapshot-every"));
}

TEST(ResumeOptions, NeedAJournalWhereAnInputCannotBeReadAgain) {
  const tests::TemporaryFolder folder;
  const std::string pipe = folder.at("pipe"), file = folder.write("a.ndjson", saams_records(3));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string states = folder.at("states");
  expect_refusal({"replay", "--state-dir", states, "--resume", "-"}, 2,
                 "--resume needs --journal: standard input is no file");
  expect_refusal({"replay", "--state-dir", states, "--snapshot-every", "1s", "-"}, 2,
                 "--snapshot-every needs --journal");
  ReplayOptions options;
  options.engine.resume = true;
  EXPECT_TRUE(inputs_can_come_again(options, {{"the input", file}}).ok());
  const Status refused = inputs_can_come_again(options, {{"", file}, {"", pipe}});
  EXPECT_THAT(refused.message(), HasSubstr(pipe + " is no file"));
  options.engine.journal = true;
  EXPECT_TRUE(inputs_can_come_again(options, {{"the input", pipe}}).ok());
  options.engine.resume = options.engine.journal = false;
  EXPECT_TRUE(inputs_can_come_again(options, {{"the input", pipe}}).ok());
}

TEST(ResumeOptions, SayWhereTheRunGoesOn) {
  ReplayOptions options;
  options.engine.state_directory = "states";
  options.engine.resume = true;
  EXPECT_EQ(resumed_text(options, std::nullopt, {"a"}),
            "no snapshot in states: starting at the beginning");
  Resumed resumed;
  resumed.records = RecordPosition{1'234'567};
  resumed.source = 1;
  resumed.offset = 987'654;
  EXPECT_EQ(resumed_text(options, resumed, {"a.ndjson", "b.ndjson"}),
            "resumed at record 1234567 of b.ndjson (byte 987654)");
  resumed.source = 2;  // all were read
  EXPECT_THAT(resumed_text(options, resumed, {"a.ndjson", "b.ndjson"}), HasSubstr("the input"));
  options.engine.journal = true;
  EXPECT_THAT(resumed_text(options, resumed, {"stdin"}),
              HasSubstr("; the sender goes on from byte 987654"));
}

TEST(ResumeOptions, RefuseAFaultPlanThatIsWrong) {
  const tests::TemporaryFolder folder;
  const std::string input = folder.write("a.ndjson", saams_records(3));
  const std::string plan = folder.write("f.toml", "[[fault]]\nkind = \"boom\"\n");
  expect_refusal({"replay", "--faults", plan, input}, 78, "f.toml:2:8: unknown kind 'boom'");
}

TEST(ResumeOptions, SayInTheSummaryThatNothingWasResumed) {
  const tests::TemporaryFolder folder;
  const std::string input = folder.write("a.ndjson", saams_records(3));
  const Finished ran = run_weir({"replay", "--summary", folder.at("s.json"), input});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(folder.read("s.json"), HasSubstr("\"resumed_from\":null"));
  EXPECT_THAT(ran.err, Not(HasSubstr("snapshots")));
}

}  // namespace
}  // namespace weir::replay
