// `weir replay` as a user runs it: what it prints, where, and with which exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

long lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

void expect_error(const std::vector<std::string>& arguments, int status, const std::string& says) {
  const Finished ran = run_weir(arguments);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("weir: "));
  EXPECT_THAT(ran.err, HasSubstr(says));
  EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
}

class Replay : public testing::Test {
 protected:
  const tests::TemporaryFolder scratch_;
  const std::string data_ = scratch_.write("data.ndjson", saams_records(1000));
  const std::string requests_ =
      scratch_.write("r.json", std::string(kBuild) + "\n" + kQuery + "\n");
};

TEST_F(Replay, WritesAnswersToStandardOutputAndTheSummaryToStandardError) {
  const Finished ran = run_weir({"replay", "--requests", requests_, data_});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(lines_of(ran.out), 2) << ran.out;  // one acknowledgement, one answer
  EXPECT_THAT(ran.out, HasSubstr(R"("estimate":100)"));
  EXPECT_THAT(ran.err,
              HasSubstr("records 1000 = tuples 1000 + rejected 0; tuples 1000 = applied 500 "
                        "+ late 0 + unrouted 500"));
}

TEST_F(Replay, GivesTheSameFromAFileAndFromStandardInput) {
  const Finished file = run_weir({"replay", "--requests", requests_, "--digest", data_});
  const Finished piped =
      run_weir({"replay", "--requests", requests_, "--digest", "-"}, saams_records(1000));
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, file.out);
  const auto digest = [](const std::string& text) {
    const std::size_t at = text.find("\ndigest ");
    return at == std::string::npos ? "none" : text.substr(at, 26);
  };
  EXPECT_NE(digest(file.err), "none") << file.err;
  EXPECT_EQ(digest(file.err), digest(piped.err));
}

TEST_F(Replay, WritesAnswersRejectsAndSummaryToFiles) {
  const std::string bad = scratch_.write(
      "bad.ndjson", saams("A", 1, 3) + "{\"broken\n" + saams("A", 2, 3) + "{\"x\":1}\n");
  const Finished ran =
      run_weir({"replay", "--requests", requests_, "--answers", scratch_.at("a"), "--rejects",
                scratch_.at("b"), "--summary", scratch_.at("s"), bad});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(lines_of(scratch_.read("a")), 2);
  EXPECT_EQ(lines_of(scratch_.read("b")), 2);
  EXPECT_THAT(scratch_.read("b"), HasSubstr(R"("line":2)"));
  EXPECT_THAT(scratch_.read("b"), HasSubstr("broken"));
  EXPECT_THAT(scratch_.read("s"), HasSubstr(R"("records":4)"));
  EXPECT_EQ(lines_of(scratch_.read("s")), 1);
  EXPECT_THAT(ran.err, HasSubstr("records 4 = tuples 2 + rejected 2"));
}

TEST_F(Replay, ExitsWith3WhenStrictAndRecordsWereRejected) {
  const std::string bad = scratch_.write("bad.ndjson", saams("A", 1, 3) + "{\"broken\n");
  EXPECT_EQ(run_weir({"replay", bad}).status, 0);
  EXPECT_EQ(run_weir({"replay", "--strict", bad}).status, 3);
  EXPECT_EQ(run_weir({"replay", "--strict", data_}).status, 0);
}

TEST_F(Replay, TakesAConfigurationThatTheCommandLineOverrides) {
  const std::string config =
      scratch_.write("run.toml", "inputs = \"" + data_ + "\"\nrequests = [\"" + requests_ +
                                     "\"]\nthreads = 1\nblock-size = \"4K\"\njson = true\n");
  const Finished one = run_weir({"replay", "--config", config});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.err, HasSubstr(R"("threads":1)"));
  const Finished two = run_weir({"replay", "--config", config, "--threads", "2"});
  EXPECT_THAT(two.err, HasSubstr(R"("threads":2)"));
  EXPECT_EQ(one.out, two.out);
}

TEST_F(Replay, RefusesInputsThatAreNotThere) {
  expect_error({"replay", scratch_.at("missing.ndjson")}, 1, "missing.ndjson");
  std::filesystem::create_directory(scratch_.at("nothing"));
  expect_error({"replay", scratch_.at("nothing")}, 1, "nothing");
  expect_error({"replay", scratch_.at("*.none")}, 1, "*.none");
}

TEST_F(Replay, RefusesInputsThatCannotBeRead) {
  const std::string loop = scratch_.at("loop");
  ASSERT_EQ(symlink(loop.c_str(), loop.c_str()), 0);
  expect_error({"replay", loop}, 1, "loop");
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(data_.c_str(), 0), 0);
    expect_error({"replay", data_}, 1, "data.ndjson");
  }
}

TEST_F(Replay, RefusesABinaryFileAndAnEmptyOne) {
  std::string binary =
      "\x7f"
      "ELF";
  binary += std::string(4000, '\0');
  expect_error({"replay", scratch_.write("program", binary)}, 1, "binary");
  expect_error({"replay", scratch_.write("empty", "")}, 1, "no records");
  expect_error({"replay", scratch_.write("blank", "\n\n\n")}, 1, "no records");
  expect_error({"replay", scratch_.write("prose", "Lorem ipsum\ndolor sit amet\n")}, 1, "layout");
}

TEST_F(Replay, RefusesWrongConfigurationMappingAndRequestsFiles) {
  expect_error({"replay", "--config", scratch_.write("c.toml", "thread = 1\n"), data_}, 78,
               "c.toml:1:1: unknown key 'thread'; did you mean \"threads\"?");
  expect_error({"replay", "--config", scratch_.write("i.toml", "ingest-threads = 1\n"), data_}, 78,
               "shard");
  expect_error({"replay", "--mapping", scratch_.write("m.toml", "streem = \"a\"\n"), data_}, 78,
               "m.toml:1:1");
  expect_error({"replay", "--requests", scratch_.write("r.txt", "{\"op\":"), data_}, 78, "r.txt");
  expect_error({"replay", "--requests", scratch_.at("none.json"), data_}, 78, "none.json");
}

TEST_F(Replay, NeverOverwritesItsInputs) {
  expect_error({"replay", "--answers", data_, data_}, 2, "would overwrite the input");
  EXPECT_EQ(scratch_.read("data.ndjson"), saams_records(1000));
  expect_error({"replay", "--rejects", scratch_.at("x"), "--answers", scratch_.at("x"), data_}, 2,
               "both write");
}

// The run goes on; each error is in the answers and on standard error; the status is 1.
TEST_F(Replay, AnswersWrongRequestsWithErrors) {
  const std::string wrong = scratch_.write(
      "wrong.json",
      std::string(kQuery) + "\n" +
          R"({"op":"build","synopsis":"CountMin","dataset":"D","field":"price","requestID":"b7","params":{"epsilon":7,"confidence":0.99}})");
  const Finished ran = run_weir({"replay", "--requests", wrong, data_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(lines_of(ran.out), 2) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr(R"("kind":"error")"));
  EXPECT_THAT(ran.err, HasSubstr("records 1000 = tuples 1000"));
  EXPECT_THAT(ran.err, HasSubstr("\nweir: request"));
  EXPECT_THAT(ran.err, HasSubstr("b7"));
  EXPECT_THAT(ran.err, HasSubstr("epsilon"));
}

TEST_F(Replay, ShowsTheFirstErrorsAndCountsTheRest) {
  std::string queries;
  for (int i = 0; i < 25; ++i) queries += std::string(kQuery) + "\n";
  const Finished ran = run_weir({"replay", "--requests", scratch_.write("q", queries), data_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(lines_of(ran.out), 25);
  EXPECT_THAT(ran.err, HasSubstr("15 more requests were answered with an error"));
}

TEST_F(Replay, NamesTheFileThatCannotBeWritten) {
  expect_error({"replay", "--answers", "/nowhere/a", data_}, 1, "/nowhere/a");
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full: a full disk is NOT tested";
  const Finished ran =
      run_weir({"replay", "--requests", requests_, "--answers", "/dev/full", data_});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("cannot write /dev/full"));
}

TEST_F(Replay, EndsWithTheSummarySoFarOnCtrlC) {
  for (const auto& [number, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    const std::string continuous =
        scratch_.write("c.json", std::string(kBuild) + "\n" + kContinuous + "\n");
    Subprocess process({"replay", "--requests", continuous, "--emit", "5 records", "-"});
    process.send(saams_records(1000));
    // An answer at a cut after the start: the run is on its way, and its input stays open.
    std::string line;
    while (process.read_line(line) && line.find("\"continuous\"") == std::string::npos) {
    }
    process.signal(number);
    std::string rest;
    const Finished ran = process.finish();
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("stopped"));
    EXPECT_THAT(ran.err, HasSubstr("records "));
  }
}

TEST_F(Replay, EndsWithTheSummarySoFarOnCtrlCInAPacedRun) {
  const std::string continuous =
      scratch_.write("c.json", std::string(kBuild) + "\n" + kContinuous + "\n");
  Subprocess process(
      {"replay", "--requests", continuous, "--emit", "1 records", "--speed", "20/s", data_});
  std::string line;
  while (process.read_line(line) && line.find("\"continuous\"") == std::string::npos) {
  }
  process.signal(SIGINT);
  const Finished ran = process.finish();
  EXPECT_EQ(ran.status, 130) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("stopped"));
  EXPECT_THAT(ran.err, Not(HasSubstr("records 1000 =")));
}

TEST_F(Replay, EndsCleanlyWhenTheReaderOfAnswersGoesAway) {
  std::string late = kQuery;
  late.insert(late.size() - 1, R"(,"at":{"record":1000000})");  // never reached
  const std::string continuous =
      scratch_.write("c.json", std::string(kBuild) + "\n" + kContinuous + "\n" + late + "\n");
  Subprocess process({"replay", "--requests", continuous, "--emit", "1 records", "-"});
  process.send(saams_records(1000));
  std::string line;
  ASSERT_TRUE(process.read_line(line));
  process.close_output();
  process.send(saams_records(1000));
  const Finished ran = process.finish();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("weir: ")));
}

TEST_F(Replay, ReadsWhatItRejectedOnceItIsRepaired) {
  const std::string bad = scratch_.write("bad.ndjson", saams("A", 1, 3) + "{\"x\":1}\n");
  ASSERT_EQ(run_weir({"replay", "--rejects", scratch_.at("rejects"), bad}).status, 0);
  // docs/cli.md: the raw bytes of a reject are its `raw`.
  EXPECT_THAT(scratch_.read("rejects"), HasSubstr(R"("raw":"{\"x\":1}")"));
}

// A terminal of unknown size (0 columns), of one column, and of a usual one.
TEST_F(Replay, ShowsATableOnATerminalOfAnyWidth) {
  for (const unsigned short columns : {0, 1, 20, 120}) {
    int master = -1;
    winsize size{};
    size.ws_col = columns;
    const pid_t pid = forkpty(&master, nullptr, nullptr, &size);
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      setenv("TERM", "xterm", 1);
      execl(WEIR_PROGRAM, WEIR_PROGRAM, "replay", "--requests", requests_.c_str(), data_.c_str(),
            static_cast<char*>(nullptr));
      _exit(127);
    }
    std::string shown;
    char chunk[4096];
    for (ssize_t n; (n = read(master, chunk, sizeof chunk)) > 0;) {
      shown.append(chunk, static_cast<std::size_t>(n));
    }
    close(master);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << shown;
    EXPECT_THAT(shown, HasSubstr("records 1000 = tuples 1000")) << columns;
    EXPECT_THAT(shown, Not(HasSubstr("{\"")));
    if (columns == 120) {
      EXPECT_THAT(shown, HasSubstr("estimate"));
    }
  }
}

}  // namespace
}  // namespace weir::replay
