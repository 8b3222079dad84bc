// The program's small commands, and what it says to a wrong command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "replay/table.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

long lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// A wrong use: one line on standard error, nothing on standard output.
void expect_error(const std::vector<std::string>& arguments, int status, const std::string& says) {
  const Finished ran = run_weir(arguments);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("weir: "));
  EXPECT_THAT(ran.err, HasSubstr(says));
  EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
}

TEST(Program, ShowsHelpWithExamplesForEveryCommand) {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"replay"},
                                                          {"generate"},
                                                          {"generate", "stocks"},
                                                          {"generate", "sensors"},
                                                          {"convert"},
                                                          {"validate"},
                                                          {"config"},
                                                          {"config", "show"},
                                                          {"tree"},
                                                          {"topology"},
                                                          {"state"},
                                                          {"inspect"},
                                                          {"query"},
                                                          {"merge"},
                                                          {"synopses"},
                                                          {"version"},
                                                          {"completion"},
                                                          {"help"}};
  for (std::vector<std::string> command : commands) {
    std::vector<std::string> through_help = command;
    through_help.insert(through_help.begin(), "help");
    command.emplace_back("--help");
    const Finished ran = run_weir(command);
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Example"));
    std::string usage = "Usage: weir ";
    for (std::size_t i = 0; i + 1 < command.size(); ++i) usage += command[i] + " ";
    EXPECT_THAT(ran.out, HasSubstr(usage));
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(run_weir(through_help).out, ran.out);
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 80u) << line;
  }
}

TEST(Program, SuggestsTheCommandOrOptionThatWasMeant) {
  expect_error({"repaly"}, 2, "unknown command 'repaly'; did you mean \"replay\"?");
  expect_error({"replay", "--thread", "2", "x"}, 2,
               "unknown option '--thread'; did you mean \"--threads\"?");
  expect_error({"generate", "stock"}, 2, "did you mean \"stocks\"?");
  expect_error({"topology", "extra"}, 2, "unexpected argument 'extra'");
  expect_error({"help", "toplogy"}, 2, "did you mean \"topology\"?");
}

TEST(Program, RefusesWrongOptionsWithWhatWouldBeRight) {
  expect_error({"replay"}, 2, "needs an INPUT");
  expect_error({"replay", "--threads"}, 2, "--threads");
  expect_error({"replay", "--threads", "two", "x"}, 2,
               "--threads: 'two' is wrong; expected a whole number");
  expect_error({"replay", "--threads", "-1", "x"}, 2, "--threads: '-1' is wrong");
  expect_error({"replay", "--block-size", "1K", "x"}, 2,
               "--block-size: '1K' is out of range; expected 4K to 8M");
  expect_error({"replay", "--layout", "xml", "x"}, 2, "expected one of auto, saams, titan, ticks");
  expect_error({"replay", "--emit", "60", "x"}, 2, "--emit");
  expect_error({"replay", "--speed", "fast", "x"}, 2, "--speed");
  expect_error({"replay", "--ingest-threads", "1", "x"}, 2, "shard");
  expect_error({"replay", "--summary", "-", "x"}, 2, "standard output");
  expect_error({"generate", "stocks", "--bad-share", "2"}, 2, "bad");
  expect_error({"generate", "stocks", "--skew", "much"}, 2, "--skew: 'much' is no number");
  expect_error({"convert"}, 2, "convert needs an INPUT");
  expect_error({"convert", "--merge", "name", "x"}, 2, "expected time");
  expect_error({"topology", "--synthetic", "nonsense"}, 2, "--synthetic");
  expect_error({"completion", "tcsh"}, 2, "expected bash, zsh or fish");
}

TEST(GenerateCommand, MakesATreeOfLevelsAndItsRegistry) {
  const tests::TemporaryFolder folder;
  const std::string json = folder.path() + "/tree.json", csv = folder.path() + "/tree.csv";
  const Finished full = run_weir({"generate", "sensors", "--levels", "2", "--fan-out", "12",
                                  "--records", "144", "--registry", csv});
  EXPECT_EQ(full.status, 0) << full.err;
  EXPECT_THAT(full.out, HasSubstr("\"p.11.11\""));
  const Finished same = run_weir({"generate", "sensors", "--levels", "2", "--fan-out", "12",
                                  "--streams", "144", "--records", "144", "--registry", json});
  EXPECT_EQ(same.out, full.out);
  const Finished part = run_weir({"generate", "sensors", "--streams", "13", "--fan-out", "12",
                                  "--records", "13", "--registry", "-", "-o", json});
  EXPECT_THAT(part.out, HasSubstr("{\"identifier\":\"p.1\",\"name\":\"Group p.1\",\"children\":["
                                  "{\"identifier\":\"p.1.0\",\"name\":\"Sensor p.1.0\"}]}]}"));
  expect_error(
      {"generate", "sensors", "--levels", "2", "--streams", "65"}, 2,
      "--streams: 2 levels of 8 children each are 64 sensors, not 65; leave --streams out");
  expect_error({"generate", "sensors", "--levels", "0"}, 2, "levels is 0; it must be 1 to 23");
  expect_error({"generate", "sensors", "--fan-out", "1"}, 2, "fan-out is 1");
  expect_error({"generate", "sensors", "--levels", "many"}, 2, "--levels");
  expect_error({"generate", "sensors", "--registry", "-"}, 2, "standard output");
  expect_error({"generate", "sensors", "--registry", "/nowhere/at/all"}, 1, "/nowhere/at/all");
}

TEST(Program, SaysWhenStandardOutputIsFull) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full: a full disk is NOT tested";
  for (const std::string command :
       {"help", "--help", "replay --help", "version", "topology", "synopses", "config show",
        "completion bash", "generate stocks", "generate sensors --records 10"}) {
    const std::string line =
        std::string(WEIR_PROGRAM) + " " + command + " 2>&1 >/dev/full; echo \"exit $?\"";
    FILE* shell = popen(line.c_str(), "r");
    ASSERT_NE(shell, nullptr);
    char text[512] = {};
    const std::size_t size = fread(text, 1, sizeof text - 1, shell);
    pclose(shell);
    EXPECT_THAT(std::string(text, size),
                MatchesRegex("weir: .*standard output.*No space left on device.*\nexit 1\n"))
        << command;
  }
}

TEST(Program, WithoutACommandShowsHelpAsAMistake) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"generate"}, {"config"}}) {
    const Finished ran = run_weir(arguments);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("Example"));
  }
}

TEST(Version, NamesCompilerAndSimdTarget) {
  EXPECT_THAT(run_weir({"version"}).out, MatchesRegex("weir [0-9.]+ \\(.*; SIMD [A-Z0-9_]+\\)\n"));
  EXPECT_THAT(
      run_weir({"version", "--json"}).out,
      MatchesRegex("\\{\"version\":\"[0-9.]+\",\"compiler\":\".*\",\"simd\":\"[A-Z0-9_]+\"\\}\n"));
}

TEST(TopologyCommand, ShowsEachThreadWithItsReason) {
  const Finished ran =
      run_weir({"topology", "--synthetic", "numa:2 core:2 pu:2", "--threads", "5"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 NUMA groups, 4 cores, 8 processing units"));
  EXPECT_THAT(ran.out, HasSubstr("fused"));
  EXPECT_THAT(ran.out, HasSubstr("smt"));
}

TEST(TopologyCommand, GivesJson) {
  const Finished ran = run_weir({"topology", "--synthetic", "core:2 pu:1", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("{\"summary\":"));
  EXPECT_EQ(lines_of(ran.out), 1);
}

TEST(GenerateCommand, GivesTheSameBytesToAFileAndToStandardOutput) {
  const tests::TemporaryFolder scratch;
  const std::vector<std::string> base = {"generate",  "stocks", "--records", "1000",
                                         "--streams", "10",     "--seed",    "7"};
  std::vector<std::string> to_file = base;
  to_file.insert(to_file.end(), {"-o", scratch.at("s.ndjson")});
  const Finished ran = run_weir(to_file);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("generated 1,000 records (0 bad, 0 whose time goes back)"));
  const Finished piped = run_weir(base);
  EXPECT_EQ(piped.out, scratch.read("s.ndjson"));
  EXPECT_EQ(lines_of(piped.out), 1000);
}

TEST(GenerateCommand, EndsQuietlyWhenTheReaderGoesAway) {
  Subprocess process({"generate", "stocks", "--records", "10000000"});
  std::string line;
  ASSERT_TRUE(process.read_line(line));
  process.close_output();
  EXPECT_EQ(process.finish().status, 0);
}

TEST(GenerateCommand, NamesTheFileThatCannotBeWritten) {
  expect_error({"generate", "stocks", "-o", "/nowhere/at/all"}, 1, "/nowhere/at/all");
  if (access("/dev/full", W_OK) == 0) {
    expect_error({"generate", "stocks", "--records", "100000", "-o", "/dev/full"}, 1, "/dev/full");
  }
}

TEST(ConvertCommand, TurnsTicksIntoRecordsThatReplayTakes) {
  const tests::TemporaryFolder scratch;
  const std::string name = scratch.write("Forex·EURTRY·NoExpiry.txt",
                                         "01/02/2019,00:00:01,6.0654,1\n"
                                         "01/02/2019,00:00:02,oops,1\n"
                                         "01/02/2019,00:00:03,6.0655,2\n");
  const Finished ran = run_weir({"convert", name, "--rejects", scratch.at("bad")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(R"("streamID":"EURTRY")"));
  EXPECT_EQ(lines_of(ran.out), 2);
  EXPECT_THAT(ran.err, HasSubstr("records 3 = written 2 + rejected 1"));
  EXPECT_THAT(scratch.read("bad"), HasSubstr("oops"));
  EXPECT_EQ(run_weir({"convert", "--strict", name}).status, 3);
  expect_error({"convert", name, "-o", name}, 2, "overwrite");
}

TEST(Completion, KnowsEveryCommandAndOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Finished ran = run_weir({"completion", shell});
    EXPECT_EQ(ran.status, 0);
    for (const char* word :
         {"replay", "generate", "sensors", "block-size", "bad-share", "synthetic"}) {
      EXPECT_THAT(ran.out, HasSubstr(word)) << shell;
    }
  }
}

// What bash offers behind these words; "files" if it is names of files.
std::string offered(const std::string& script, const std::string& words) {
  const std::string check = "source " + script + "; COMP_WORDS=(" + words +
                            "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); "
                            "compgen() { if [ $1 = -f ]; then echo files; else builtin compgen "
                            "\"$@\"; fi; }; _weir; echo ${COMPREPLY[@]}";
  return run_shell("/", "/bin/bash -c '" + check + "'").out;
}

TEST(Completion, OffersWhatMayFollowInBash) {
  if (access("/bin/bash", X_OK) != 0) GTEST_SKIP() << "no bash here: its script is NOT checked";
  const tests::TemporaryFolder scratch;
  const std::string script = scratch.write("weir.bash", run_weir({"completion", "bash"}).out);
  EXPECT_EQ(offered(script, "weir generate stocks --st"), "--streams\n");
  EXPECT_EQ(offered(script, "weir rep"), "replay\n");
  EXPECT_EQ(offered(script, "weir generate \"\""), "stocks sensors\n");
  EXPECT_EQ(offered(script, "weir help gen"), "generate\n");
  EXPECT_EQ(offered(script, "weir help generate \"\""), "stocks sensors\n");
  EXPECT_EQ(offered(script, "weir completion \"\""), "bash zsh fish\n");
  EXPECT_EQ(offered(script, "weir replay --placement \"\""), "auto spread none\n");
  EXPECT_EQ(offered(script, "weir replay --layout = t"), "titan ticks\n");
  EXPECT_EQ(offered(script, "weir topology --placement s"), "spread\n");
  EXPECT_EQ(offered(script, "weir replay --requests \"\""), "files\n");
  EXPECT_EQ(offered(script, "weir replay x"), "files\n");
}

TEST(ConfigShow, GivesAConfigurationThatReadsBackTheSame) {
  const tests::TemporaryFolder scratch;
  const Finished shown =
      run_weir({"config", "show", "--threads", "3", "--emit", "5m", "data.ndjson"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("threads = 3 "));
  const std::string file = scratch.write("run.toml", shown.out);
  EXPECT_EQ(run_weir({"config", "show", "--config", file}).out, shown.out);
  EXPECT_THAT(run_weir({"config", "show", "--config", file, "--threads", "4"}).out,
              HasSubstr("threads = 4 "));
}

TEST(Validate, SaysOkForGoodFiles) {
  const tests::TemporaryFolder scratch;
  const std::string requests = scratch.write("r.json", std::string(kBuild) + "\n" + kQuery);
  const std::string config =
      scratch.write("c.toml", "requests = \"" + requests + "\"\nthreads = 2\n");
  const std::string mapping = scratch.write(
      "m.toml", "format = \"csv\"\nstream = \"id\"\ndataset_constant = \"D\"\ntime = \"t\"\n");
  const Finished ran = run_weir({"validate", "--config", config, "--mapping", mapping});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(lines_of(ran.out), 3);
  EXPECT_THAT(ran.out, HasSubstr("r.json: 2 requests"));
  EXPECT_EQ(ran.err, "");
}

TEST(Validate, NeverSaysOkForWhatIsWrong) {
  const tests::TemporaryFolder scratch;
  const std::string wrong = scratch.write("wrong", "This is [a] wrong\n");
  for (const char* kind : {"--config", "--mapping", "--requests"}) {
    const Finished ran = run_weir({"validate", kind, wrong});
    EXPECT_EQ(ran.status, 78) << kind;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(wrong));
    EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
    for (const char* blank : {"", "\n \n"}) {
      const Finished empty = run_weir({"validate", kind, scratch.write("empty", blank)});
      EXPECT_EQ(empty.status, 78) << kind;
      EXPECT_EQ(empty.out, "");
    }
    EXPECT_EQ(run_weir({"validate", kind, scratch.at("missing")}).status, 78);
  }
  expect_error({"validate"}, 2, "validate needs");
}

TEST(Validate, FindsAQueryWithoutItsSynopsisAndABuildWithABadParameter) {
  const tests::TemporaryFolder scratch;
  const std::string query = scratch.write("q.json", kQuery);
  expect_error({"validate", "--requests", query}, 78, "no request builds this synopsis");
  const std::string build = scratch.write(
      "b.json",
      R"({"op":"build","synopsis":"CountMin","dataset":"D","field":"price","params":{"epsilon":7,"confidence":0.99}})");
  expect_error({"validate", "--requests", build}, 78, "epsilon");
  const std::string good = scratch.write("g.json", kBuild);
  const Finished together = run_weir({"validate", "--requests", query, "--requests", good});
  EXPECT_EQ(together.status, 0) << together.err;
}

TEST(Validate, GivesJson) {
  const tests::TemporaryFolder scratch;
  const Finished ran =
      run_weir({"validate", "--json", "--config", scratch.write("c", "thread = 1\n")});
  EXPECT_EQ(ran.status, 78);
  EXPECT_THAT(ran.out, HasSubstr(R"("ok":false,"errors":[")"));
  EXPECT_THAT(ran.out, HasSubstr(R"(did you mean \"threads\"?)"));
}

}  // namespace
}  // namespace weir::replay
