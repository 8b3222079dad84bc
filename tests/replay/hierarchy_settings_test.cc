// What can be said about hierarchies, in options and in configuration files, and what it comes to.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/config_file.h"
#include "replay/registry_files.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Mode = GroupOptions::Mode;

Status read(const std::string& toml, ReplayOptions& options) {
  return parse_config(toml, "run.toml", process_environment, options);
}

std::string error_of(const std::string& toml) {
  ReplayOptions options;
  const Status status = read(toml, options);
  EXPECT_EQ(status.code(), Code::kConfig) << toml;
  return status.message();
}

std::string together(const std::string& toml) {
  ReplayOptions options;
  EXPECT_TRUE(read(toml, options).ok()) << toml;
  const Status status = check_together(options);
  EXPECT_TRUE(status.ok() || status.code() == Code::kConfig);
  return status.message();
}

constexpr const char* kTwo = R"(
  emit = "10s"
  grace = "5s"
  late = "arrival"
  field = ["a", "b"]
  [[hierarchy]]
  registry = "plant.json"
  mode = "tumbling"
  [[hierarchy]]
  registry = "grid.csv"
  mode = "changelog"
  dataset = "Meters"
  field = "c"
)";

TEST(HierarchySettings, OfOneHierarchyStandOverThoseOfAll) {
  ReplayOptions options;
  ASSERT_TRUE(read(kTwo, options).ok());
  ASSERT_TRUE(check_together(options).ok()) << check_together(options).message();
  ASSERT_EQ(options.hierarchies.size(), 2u);
  const GroupOptions plant = group_options(options.groups, options.hierarchies[0].groups);
  EXPECT_EQ(plant.mode, Mode::kTumbling);
  EXPECT_EQ(plant.grace, 5 * kNanosPerSecond);
  EXPECT_EQ(plant.late, GroupOptions::Late::kReject);  // windows know nothing of it
  EXPECT_THAT(plant.fields, testing::ElementsAre("a", "b"));
  const GroupOptions grid = group_options(options.groups, options.hierarchies[1].groups);
  EXPECT_EQ(grid.mode, Mode::kChangelog);
  EXPECT_EQ(grid.grace, 0);
  EXPECT_EQ(grid.late, GroupOptions::Late::kArrival);
  EXPECT_EQ(grid.dataset, "Meters");
  EXPECT_THAT(grid.fields, testing::ElementsAre("c"));
}

TEST(HierarchySettings, ReadBackAsTheyAreShown) {
  ReplayOptions options;
  ASSERT_TRUE(read(std::string("registry = [\"x.json\", \"a $$ \\\" b\"]\nmax-jump = \"1d\"\n"
                               "results = \"r\"\ntitan-names = true\ncontrol = \"c\"\n") +
                       kTwo,
                   options)
                  .ok());
  const std::string shown = options_as_toml(options);
  ReplayOptions back;
  const Status status = read(shown, back);
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << shown;
  EXPECT_EQ(back.hierarchies, options.hierarchies);
  EXPECT_EQ(back.groups, options.groups);
  EXPECT_EQ(back.registries, options.registries);
  EXPECT_EQ(back.engine.max_jump, 86'400 * kNanosPerSecond);
  EXPECT_TRUE(back.titan_names);
  EXPECT_EQ(options_as_toml(back), shown);
}

TEST(HierarchySettings, EachReadBackAsTheyAreShown) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> said = {
      {"mode", {"sliding"}},  {"emit", {"1500ms"}}, {"grace", {"0s"}},
      {"window", {"60s"}},    {"advance", {"1ns"}}, {"late", {"reject"}},
      {"max-age", {"3600s"}}, {"dataset", {"D"}},   {"field", {"a", "b"}}};
  ASSERT_EQ(said.size(), group_settings().size());
  for (const auto& [name, values] : said) {
    const GroupSetting* setting = find_group_setting(name);
    ASSERT_NE(setting, nullptr) << name;
    GroupSettings settings;
    EXPECT_TRUE(setting->show(settings).empty()) << name;
    const Status status = setting->set(settings, values);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
    EXPECT_EQ(setting->show(settings), values) << name;
  }
}

TEST(HierarchySettings, PointAtWhatIsWrongInATable) {
  EXPECT_EQ(error_of("[[hierarchy]]\nregistry = \"a\"\n  graec = \"1s\"\n"),
            "run.toml:3:3: unknown key 'graec' of [[hierarchy]]; did you mean \"grace\"?");
  EXPECT_THAT(error_of("[[hierarchy]]\nregistry = \"a\"\ncolour = 1\n"),
              HasSubstr("unknown key 'colour' of [[hierarchy]]; there are registry, mode, emit"));
  EXPECT_EQ(error_of("[[hierarchy]]\nregistry = \"a\"\nmode = 7\n"),
            "run.toml:3:8: mode must be a string, not an integer");
  EXPECT_THAT(error_of("[[hierarchy]]\nregistry = \"a\"\nmode = \"slid\"\n"),
              HasSubstr("expected one of changelog, tumbling, sliding, latest"));
  EXPECT_THAT(error_of("[[hierarchy]]\nregistry = \"a\"\ngrace = \"5\"\n"),
              HasSubstr("run.toml:3:9: grace: \"5\" has no unit"));
  EXPECT_EQ(error_of("[[hierarchy]]\nmode = \"latest\"\n"),
            "run.toml:1:1: [[hierarchy]] needs registry = \"FILE\"");
  EXPECT_THAT(error_of("[hierarchy]\nregistry = \"a\"\n"),
              HasSubstr("hierarchy must be a table in double brackets, [[hierarchy]]"));
  EXPECT_THAT(error_of("hierarchy = [1]\n"), HasSubstr("[[hierarchy]]"));
  EXPECT_THAT(error_of("hierarchies = []\n"), HasSubstr("; did you mean \"hierarchy\"?"));
}

TEST(HierarchySettings, ThatDoNothingAreAnError) {
  EXPECT_THAT(together("mode = \"latest\"\n"), StartsWith("mode has no effect without hierarch"));
  EXPECT_THAT(together("max-age = \"1s\"\n"), StartsWith("max-age has no effect without"));
  EXPECT_THAT(together("results = \"r\"\n"), HasSubstr("would stay empty without hierarchies"));
  EXPECT_THAT(together("registry = \"a\"\ntitan-names = true\n"),
              HasSubstr("titan-names has no effect without results"));
  EXPECT_EQ(together("registry = \"a\"\ngrace = \"1s\"\n"),
            "grace has no effect with mode latest; it is of tumbling and sliding");
  EXPECT_EQ(together("mode = \"tumbling\"\n[[hierarchy]]\nregistry = \"a\"\nmax-age = \"1s\"\n"),
            "a: max-age has no effect with mode tumbling; it is of changelog and latest");
  EXPECT_EQ(together("registry = \"a\"\nmode = \"changelog\"\nlate = \"arrival\"\n"), "");
  EXPECT_EQ(together("control = \"c\"\nmode = \"changelog\"\n"), "");
  EXPECT_EQ(together("max-jump = \"1d\"\n"), "");  // of every run
}

TEST(HierarchySettings, OfAllMayServeOneWithAnotherMode) {
  EXPECT_EQ(together("grace = \"1s\"\n[[hierarchy]]\nregistry = \"a\"\nmode = \"tumbling\"\n"), "");
}

std::string control_error(const std::string& text) {
  const auto lines = parse_control(text, "control.ndjson");
  EXPECT_FALSE(lines.ok()) << text;
  EXPECT_EQ(lines.status().code(), Code::kConfig);
  return lines.status().message();
}

TEST(ControlFile, NamesTheLineThatIsNoChange) {
  EXPECT_THAT(control_error("\n{\"at\":\n"), StartsWith("control.ndjson:2:7: this is not JSON: "));
  EXPECT_THAT(control_error("{\"op\":\"list\"}\n"),
              StartsWith("control.ndjson:1: this is no change of a hierarchy; a line is {"));
  EXPECT_THAT(control_error("[1]"), HasSubstr("control.ndjson:1: this is no change"));
  EXPECT_THAT(control_error("{\"op\":\"registry\",\"registry\":null}"),
              StartsWith("control.ndjson:1: this is no change of a hierarchy"));
  EXPECT_THAT(control_error("{} {}"), HasSubstr("expected the end of the line"));
  EXPECT_THAT(control_error("{\"a\":\"\xff\"}"), HasSubstr("a byte that is not UTF-8"));
  EXPECT_THAT(control_error(" \n\n"), HasSubstr("it holds no change of a hierarchy"));
}

TEST(ControlFile, LeavesWhatIsWrongWithARegistryToItsAnswer) {
  for (const char* registry : {"\"plant.json\"", "7", "[]", "{\"children\":[]}"}) {
    EXPECT_TRUE(parse_control(fmt::format("{{\"registry\":{}}}", registry), "c").ok()) << registry;
  }
}

TEST(ControlFile, MayBeginWithAByteOrderMark) {
  const std::string line = "{\"registry\":{\"identifier\":\"p\",\"children\":[]}}\n";
  const std::string text = "\xef\xbb\xbf" + line + line;
  const auto lines = parse_control(text, "control.ndjson");
  ASSERT_TRUE(lines.ok()) << lines.status().message();
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_THAT(std::string((*lines)[0].text), StartsWith("{\"registry\""));
  EXPECT_THAT(control_error("\xef\xbb\xbf"), HasSubstr("it holds no change of a hierarchy"));
}

TEST(ControlFile, HasAChangeALine) {
  const std::string text =
      "{\"at\":{\"record\":1},\"registry\":{\"identifier\":\"p\",\"children\":[]}}\r\n\n"
      "{\"registry\":{\"identifier\":\"p\",\"children\":[{\"identifier\":\"x\"}]}}";
  const auto lines = parse_control(text, "control.ndjson");
  ASSERT_TRUE(lines.ok()) << lines.status().message();
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[0].line, 1u);
  EXPECT_EQ((*lines)[1].line, 3u);
  EXPECT_THAT(std::string((*lines)[1].text), StartsWith("{\"registry\""));
}

}  // namespace
}  // namespace weir::replay
