// The commands that docs/cli.md shows are run as they stand there, in its order; the requests of
// docs/synopses.md are answered as it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/request.h"
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
  const Scratch scratch;
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

// Whether this version has the kinds that `requests` name; else the page is ahead of it.
bool all_kinds_exist(const std::string& requests) {
  const auto parsed = engine::parse_requests(requests);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << requests;
  return parsed.ok() && std::none_of(parsed->begin(), parsed->end(), [](const auto& request) {
           return request.error.find("is not in this version") != std::string::npos;
         });
}

TEST(Docs, RequestsOfTheSynopsesPageAreAnsweredAsItSays) {
  const Scratch scratch;
  const std::string input = scratch.at("stocks.ndjson");
  ASSERT_EQ(run_weir({"generate", "stocks", "--records", "20000", "-o", input}).status, 0);
  std::size_t answered = 0, kinds = 0;
  std::string given;  // answers to the last block of requests; empty: this version has none
  for (const DocBlock& block : blocks_of(root() / "docs/synopses.md")) {
    if (block.info == "json") {
      ++kinds;
      given.clear();
      if (!all_kinds_exist(block.text)) continue;
      ++answered;
      const std::string requests = scratch.write("requests.json", block.text);
      const Finished ran = run_weir({"replay", "--requests", requests, input});
      EXPECT_EQ(ran.status, 0) << ran.err;
      EXPECT_THAT(ran.out, testing::Not(testing::HasSubstr(R"("kind":"error")"))) << block.text;
      given = ran.out;
    } else if (block.info == "json answer" && !given.empty()) {
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_THAT(given, testing::HasSubstr(line.substr(1, line.size() - 2)));
      }
    }
  }
  EXPECT_GE(kinds, 10u);
  EXPECT_GE(answered, synopses::types().size());
}

}  // namespace
}  // namespace weir::replay
