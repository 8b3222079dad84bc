// Requests that come from standard input while a run goes on, and changes in a control file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/control_input.h"
#include "tests/replay/running.h"

namespace weir::replay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using tests::TemporaryFolder;

std::string change(const std::string& parts, const std::string& before = "") {
  return "{" + before + R"("change":[)" + parts + "]}\n";
}

std::vector<std::string> lines_of(const std::vector<std::string>& pieces, std::size_t most) {
  std::vector<std::string> lines;
  LineFeed feed(
      [&](std::uint64_t number, std::string_view line) {
        lines.push_back(std::to_string(number) + ":" + std::string(line));
      },
      [&](std::uint64_t number) { lines.push_back(std::to_string(number) + " is too long"); },
      most);
  for (const std::string& piece : pieces) feed.add(piece);
  feed.finish();
  return lines;
}

TEST(LineFeed, PutsPiecesTogetherAndPassesOverBlankLines) {
  EXPECT_THAT(lines_of({"a", "b\n\n  \nc", "", "\n", "d"}, 10), ElementsAre("1:ab", "4:c", "5:d"));
  EXPECT_THAT(lines_of({}, 10), ElementsAre());
}

TEST(LineFeed, PassesOverALineThatIsTooLong) {
  EXPECT_THAT(lines_of({"abc\nde", "fg", "h\ni\njklmn"}, 4),
              ElementsAre("1:abc", "2 is too long", "3:i", "4 is too long"));
}

TEST(Control, TakesRequestsFromStandardInputWhileItRuns) {
  const TemporaryFolder folder;
  NamedPipe records(folder);
  Subprocess weir({"replay", "--control", "-", "--layout", "saams", records.path()});
  records.send(saams_records(10));
  weir.send(change(kBuild, R"("requestID":"c1",)"));
  EXPECT_THAT(answer_with(weir, "c1"),
              AllOf(HasSubstr(R"("kind":"ack")"),
                    HasSubstr(R"("estimate":{"added":["D/A/price CountMin"],"removed":[])")));
  weir.send("\n{\"op\":\n{\"requestID\":\"l\",\"op\":\"list\"}\n");
  EXPECT_THAT(answer_with(weir, "\"l\""), HasSubstr(R"("n":1)"));
  // The end of standard input is not that of the run.
  weir.close_input();
  records.send(saams_records(10));
  records.end();
  const Finished ran = weir.finish();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("weir: standard input:3: column 7: this is not JSON"));
  EXPECT_THAT(ran.err, HasSubstr("records 20 = tuples 20"));
}

TEST(Control, AnswersAChangeThatIsWrongAndLeavesEverythingAsItWas) {
  const TemporaryFolder folder;
  NamedPipe records(folder);
  Subprocess weir({"replay", "--control", "-", "--layout", "saams", records.path()});
  weir.send(change(std::string(kBuild) + R"(,{"op":"delete","synopsis":"CountMin","dataset":"D",)"
                                         R"("stream":"B","field":"price"})",
                   R"("requestID":"c1",)"));
  EXPECT_THAT(answer_with(weir, "c1"), HasSubstr("change[1]: no CountMin stands on D/B/price"));
  weir.send("{\"requestID\":\"l\",\"op\":\"list\"}\n");
  EXPECT_THAT(answer_with(weir, "\"l\""), HasSubstr(R"("n":0,"estimate":[])"));
  records.send(saams_records(1));
  records.end();
  EXPECT_EQ(weir.finish().status, 1);  // a request was answered with an error
}

TEST(Control, GoesOnWithPacedRecordsAndNeverHoldsUpTheEnd) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in.ndjson", saams_records(40));
  // Standard input stays open: nobody waits for its end.
  Subprocess weir({"replay", "--control", "-", "--speed", "100/s", input});
  weir.send(change(kBuild, R"("requestID":"c1",)"));
  EXPECT_THAT(answer_with(weir, "c1"), HasSubstr(R"("kind":"ack")"));
  std::string line;
  while (weir.read_line(line)) {
  }
  EXPECT_EQ(weir.finish().status, 0);
}

TEST(Control, StopsAtASignalThoughItsInputIsOpen) {
  const TemporaryFolder folder;
  const NamedPipe records(folder);
  Subprocess weir({"replay", "--control", "-", "--layout", "saams", records.path()});
  records.send(saams_records(1));
  weir.send("{\"requestID\":\"l\",\"op\":\"list\"}\n");
  answer_with(weir, "\"l\"");
  weir.signal(SIGTERM);
  std::string line;
  while (weir.read_line(line)) {
  }
  EXPECT_EQ(weir.finish().status, 143);
}

TEST(Control, IsRefusedWhereStandardInputIsReadAlready) {
  expect_refusal({"replay", "--control", "-", "-"}, 2,
                 "control - and inputs - both read standard input");
  expect_refusal({"replay", "--control", "-", "--requests", "-", "x"}, 2,
                 "control - and requests - both read standard input");
}

TEST(Control, FilesMayHoldChangesAndWorkersToo) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in.ndjson", saams_records(40));
  const std::string control =
      folder.write("control.ndjson",
                   change(kBuild, R"("requestID":"c1","at":{"record":10},)") +
                       change(std::string(kContinuous), R"("requestID":"c2","at":{"record":20},)"));
  const Finished ran = run_weir({"replay", "--control", control, input});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(R"("requestID":"c1")"), HasSubstr(R"("seq":10,)")));
  EXPECT_THAT(ran.out, HasSubstr(R"("queries":{"added":1,"removed":0})"));
  EXPECT_THAT(ran.out, Not(HasSubstr(R"("kind":"error")")));
  const std::string wrong = folder.write("wrong.ndjson", std::string(kBuild) + "\n");
  expect_refusal({"replay", "--control", wrong, input}, 78, "a requests file");
  const Finished checked = run_weir({"validate", "--control", control});
  EXPECT_EQ(checked.out, "ok: " + control + ": 2 changes\n");
  const std::string bad = folder.write("bad.ndjson", R"({"workers":0})"
                                                     "\n"
                                                     R"({"change":[{"op":"list"}]})"
                                                     "\n");
  const Finished refused = run_weir({"validate", "--control", bad});
  EXPECT_EQ(refused.status, 78);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(bad + ":1: workers is a whole number from 1 to 256"),
                                 HasSubstr(bad + ":2: change[0]: a list does not belong")));
}

}  // namespace
}  // namespace weir::replay
