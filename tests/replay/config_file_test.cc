#include "replay/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace weir::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::optional<std::string> environment(const std::string& name) {
  const std::map<std::string, std::string> set = {{"HOME", "/home/ada"}, {"EMPTY", ""}};
  const auto found = set.find(name);
  if (found == set.end()) return std::nullopt;
  return found->second;
}

std::string error_of(const std::string& toml) {
  ReplayOptions options;
  const Status status = parse_config(toml, "run.toml", environment, options);
  EXPECT_EQ(status.code(), Code::kConfig) << toml;
  return status.message();
}

TEST(ConfigFile, SetsWhatItNames) {
  ReplayOptions options;
  const Status status = parse_config(R"(
    inputs = ["a.ndjson", "b.ndjson"]
    requests = "${HOME}/r.json"
    threads = 3
    block-size = "64K"
    max-record-bytes = 4096
    digest = true
    emit = "100000 records"
    placement = "none"
  )",
                                     "run.toml", environment, options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(options.inputs, ElementsAre("a.ndjson", "b.ndjson"));
  EXPECT_THAT(options.requests, ElementsAre("/home/ada/r.json"));
  EXPECT_EQ(options.engine.threads, 3u);
  EXPECT_EQ(options.engine.block_size, 65536u);
  EXPECT_EQ(options.engine.max_record_bytes, 4096u);
  EXPECT_TRUE(options.engine.digest);
  EXPECT_EQ(options.engine.emit.records, 100'000u);
  EXPECT_EQ(options.engine.placement, "none");
}

TEST(ConfigFile, PointsAtAnUnknownKeyAndSuggestsTheRightOne) {
  EXPECT_EQ(error_of("threads = 1\n  thread = 2\n"),
            "run.toml:2:3: unknown key 'thread'; did you mean \"threads\"?");
  EXPECT_THAT(error_of("colour = 2\n"), StartsWith("run.toml:1:1: unknown key 'colour'; "));
  EXPECT_THAT(error_of("[replay]\nthreads = 1\n"), HasSubstr("unknown key 'replay'"));
}

TEST(ConfigFile, SaysWhatTypeWasExpected) {
  EXPECT_EQ(error_of("threads = \"two\"\n"),
            "run.toml:1:11: threads must be an integer, not a string");
  EXPECT_EQ(error_of("digest = 1\n"),
            "run.toml:1:10: digest must be true or false, not an integer");
  EXPECT_EQ(error_of("inputs = [1]\n"),
            "run.toml:1:11: inputs must be a string or an array of strings, not an integer");
  EXPECT_THAT(error_of("layout = [\"saams\"]\n"),
              HasSubstr("layout must be a string, not an array"));
}

TEST(ConfigFile, SaysWhichValuesAreRight) {
  EXPECT_THAT(error_of("threads = -1\n"), StartsWith("run.toml:1:11: threads: '-1' is wrong"));
  EXPECT_THAT(error_of("block-size = \"1K\"\n"), HasSubstr("expected 4K to 8M"));
  EXPECT_THAT(error_of("layout = \"xml\"\n"),
              HasSubstr("expected one of auto, saams, titan, ticks"));
}

TEST(ConfigFile, PointsAtWhatIsNoToml) {
  EXPECT_THAT(error_of("This is [a] wrong\n"), StartsWith("run.toml:1:"));
  EXPECT_THAT(error_of("threads = 1\nthreads = 2\n"), StartsWith("run.toml:2:"));
}

TEST(ConfigFile, ExpandsVariablesAndNamesThoseThatAreNotSet) {
  EXPECT_EQ(*expand_variables("${HOME}/x", environment), "/home/ada/x");
  EXPECT_EQ(*expand_variables("${NOPE:-d}${EMPTY:-e}${EMPTY}", environment), "de");
  EXPECT_EQ(*expand_variables("$$HOME costs 5$", environment), "$HOME costs 5$");
  EXPECT_THAT(error_of("answers = \"${NOPE}\"\n"),
              HasSubstr("run.toml:1:11: answers: environment variable NOPE is not set"));
  EXPECT_FALSE(expand_variables("${HOME", environment).ok());
}

TEST(ConfigFile, ReadsBackTheEffectiveConfigurationThatItIsShownAs) {
  ReplayOptions options;
  options.inputs = {"a \"quoted\" name", "${NOT_A_VARIABLE}", "tab\there"};
  options.answers = "-";
  options.engine.threads = 7;
  options.engine.emit = {0, 500};
  options.strict = true;
  const std::string shown = options_as_toml(options);
  ReplayOptions back;
  const Status status = parse_config(shown, "shown", environment, back);
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << shown;
  EXPECT_EQ(options_as_toml(back), shown);
  EXPECT_EQ(back.inputs, options.inputs);
}

TEST(Settings, HaveTheDefaultsOfTheEngine) {
  // Every setting must take what it shows, or a configuration that was shown cannot be used.
  const ReplayOptions defaults;
  for (const Setting& setting : replay_settings()) {
    const std::vector<std::string> values = setting.show(defaults);
    if (values.empty()) continue;
    ReplayOptions options;
    const Status status = setting.set(options, values);
    EXPECT_TRUE(status.ok()) << setting.name << ": " << status.message();
    EXPECT_EQ(setting.show(options), values) << setting.name;
  }
}

}  // namespace
}  // namespace weir::replay
