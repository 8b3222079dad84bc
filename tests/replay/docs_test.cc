// The commands that docs/cli.md shows are run as they stand there, in its order; the requests of
// the other pages and of examples/requests/ are answered as they say, and none with an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/json_text.h"
#include "tests/replay/saved_files.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

std::filesystem::path root() { return WEIR_SOURCE_DIR; }

// The lines of the ```sh blocks of a file.
std::string commands_of(const std::filesystem::path& file) {
  std::ifstream lines(file);
  std::string commands;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside) {
      commands += line + "\n";
    }
  }
  return commands;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

TEST(Docs, CommandsOfTheCliPageRun) {
  if (access("/bin/bash", X_OK) != 0) GTEST_SKIP() << "no bash here: docs/cli.md is NOT checked";
  std::string commands = commands_of(root() / "docs/cli.md");
  ASSERT_GT(std::count(commands.begin(), commands.end(), '\n'), 10);
  replace_all(commands, "1000000", "200000");  // as good, and sooner done
  const tests::TemporaryFolder scratch;
  const std::string tick = "01/02/2019,00:00:01,6.0654,1\n";
  std::filesystem::create_directory(scratch.at("ticks"));
  scratch.write("Forex·EURTRY·NoExpiry.txt", tick);
  scratch.write("ticks/Forex·EURTRY·NoExpiry.txt", tick);
  scratch.write("ticks/Forex·EURUSD·NoExpiry.txt", tick);
  const auto state = [&](const char* name, const std::string& stream) {
    scratch.write(name, synopses::save(*synopsis_of("CountMin", {0.002, 0.99, 1}, {6.05, 100.5}),
                                       {"Stocks", stream, "price", ""}));
  };
  state("monday.state", "S0000");
  state("tuesday.state", "S0000");
  state("east.state", "S0000");
  state("west.state", "S0001");
  std::filesystem::create_directory_symlink(root() / "examples", scratch.at("examples"));
  const std::string program = std::filesystem::path(WEIR_PROGRAM).parent_path();
  const std::string script = scratch.write(
      "run.sh", "set -eu\nPATH=" + program + ":$PATH\ncd " + scratch.at(".") + "\n" + commands);
  FILE* shell = popen(("/bin/bash " + script + " 2>&1").c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string shown;
  char chunk[4096];
  for (std::size_t n = 0; (n = fread(chunk, 1, sizeof chunk, shell)) > 0;) shown.append(chunk, n);
  EXPECT_EQ(pclose(shell), 0) << shown;
  EXPECT_THAT(shown, testing::Not(testing::HasSubstr("weir: ")));
  EXPECT_THAT(scratch.read("eurtry.ndjson"), testing::HasSubstr(R"("streamID":"EURTRY")"));
  EXPECT_THAT(scratch.read("all.ndjson"), testing::HasSubstr("EURUSD"));
  EXPECT_THAT(scratch.read("summary.json"), testing::HasSubstr("\"digest\":\""));
}

struct DocBlock {
  std::string info, text;
};
std::vector<DocBlock> blocks_of(const std::filesystem::path& file) {
  std::ifstream lines(file);
  std::vector<DocBlock> blocks;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), {}});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

// Requests are run on so many records of stocks, those of examples/ on more: they ask at record
// 100000.
constexpr const char* kRecords = "20000";
constexpr const char* kManyRecords = "120000";

class Requests {
 public:
  explicit Requests(const char* records) {
    EXPECT_EQ(run_weir({"generate", "stocks", "--records", records, "-o", input_}).status, 0);
  }
  // What a run answers, with a state directory of its own.
  Finished run(const std::string& requests) const {
    const tests::TemporaryFolder states;
    return run_weir({"replay", "--requests", scratch_.write("requests.json", requests), "--emit",
                     "5s", "--state-dir", states.at("states"), "--plugin-dir", plugins_, input_});
  }
  // The same when none may be an error; before it runs, nobody may find fault with it.
  std::string answers(const std::string& requests) const {
    const std::string file = scratch_.write("requests.json", requests);
    const Finished checked =
        run_weir({"validate", "--requests", file, "--emit", "5s", "--plugin-dir", plugins_});
    EXPECT_EQ(checked.status, 0) << checked.err << requests;
    const Finished ran = run(requests);
    EXPECT_EQ(ran.status, 0) << ran.err << requests;
    EXPECT_THAT(ran.out, testing::Not(testing::HasSubstr(R"("kind":"error")"))) << requests;
    return ran.out;
  }

 private:
  tests::TemporaryFolder scratch_;
  std::string input_ = scratch_.at("stocks.ndjson");
  std::string plugins_ = std::filesystem::path(WEIR_TOP_K).parent_path();
};

// Runs the ```json blocks of a page; those of ```json answer show a part of what the block before
// them is answered. Returns how many blocks of requests there are.
std::size_t run_page(const std::string& page) {
  const Requests requests(kRecords);
  std::size_t blocks = 0;
  std::string given;
  for (const DocBlock& block : blocks_of(root() / page)) {
    if (block.info == "json") {
      ++blocks;
      given = requests.answers(block.text);
    } else if (block.info == "json answer") {
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_THAT(given, testing::HasSubstr(line.substr(1, line.size() - 2))) << page;
      }
    }
  }
  return blocks;
}

TEST(Docs, RequestsOfTheSynopsesPageAreAnsweredAsItSays) {
  EXPECT_GE(run_page("docs/synopses.md"), synopses::types().size());
}

TEST(Docs, RequestsOfTheRequestsPageAreAnsweredAsItSays) {
  EXPECT_GE(run_page("docs/requests.md"), 12u);
}

TEST(Docs, RequestsOfThePlugInsPageAreAnsweredAsItSays) {
  EXPECT_GE(run_page("docs/plugins.md"), 1u);
}

TEST(Docs, RequestsThatAreWrongWhereTheyStandAreToldWhatThePageSays) {
  const Requests requests(kRecords);
  std::size_t checked = 0;
  for (const DocBlock& block : blocks_of(root() / "docs/requests.md")) {
    if (block.info != "json run") continue;
    std::istringstream lines(block.text);
    for (std::string asked, reason; std::getline(lines, asked) && std::getline(lines, reason);) {
      const Finished ran = requests.run(asked);
      EXPECT_EQ(ran.status, 1) << asked;
      EXPECT_THAT(ran.out, testing::HasSubstr("\"kind\":\"error\"")) << asked;
      EXPECT_THAT(ran.out, testing::HasSubstr(engine::json_text(reason))) << asked;
      ++checked;
    }
  }
  EXPECT_GE(checked, 3u);
}

// Every ```sh block that a ```text block follows: what it prints is what stands there.
TEST(Docs, CommandsOfTheHierarchiesPageGiveWhatItShows) {
  if (access("/bin/bash", X_OK) != 0) GTEST_SKIP() << "no bash here: the page is NOT checked";
  const tests::TemporaryFolder scratch;
  std::filesystem::create_directory_symlink(root() / "examples", scratch.at("examples"));
  const std::string program = std::filesystem::path(WEIR_PROGRAM).parent_path();
  const std::vector<DocBlock> blocks = blocks_of(root() / "docs/hierarchies.md");
  std::size_t checked = 0;
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    if (blocks[i].info != "sh" || blocks[i + 1].info != "text") continue;
    const std::string script = scratch.write(
        "run.sh", "set -eu\nexport LC_ALL=C.UTF-8 PATH=" + program + ":$PATH\n" + blocks[i].text);
    const Finished ran = run_shell(scratch.at("."), "/bin/bash run.sh 2>errors");
    EXPECT_EQ(ran.status, 0) << blocks[i].text << scratch.read("errors");
    EXPECT_EQ(ran.out, blocks[i + 1].text) << blocks[i].text << scratch.read("errors");
    ++checked;
  }
  EXPECT_GE(checked, 9u);
}

TEST(Docs, ExamplesOfRequestsAreAnsweredWithoutErrors) {
  const Requests requests(kManyRecords);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(root() / "examples/requests")) {
    SCOPED_TRACE(file.path());
    std::ifstream text(file.path());
    std::stringstream all;
    all << text.rdbuf();
    EXPECT_THAT(requests.answers(all.str()), testing::HasSubstr("\"kind\":\"ad-hoc\""));
    ++files;
  }
  EXPECT_GE(files, 5u);
}

}  // namespace
}  // namespace weir::replay
