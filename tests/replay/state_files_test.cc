// The commands that work on state files: inspect, query, merge, and the list of kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/replay/saved_files.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using synopses::Identity;
using synopses::save;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Identity kPrice = {"Stocks", "S0000", "price", ""};

std::string count_min(const std::vector<double>& values, const Identity& identity = kPrice,
                      double seed = 1) {
  return save(*synopsis_of("CountMin", {0.01, 0.99, seed}, values), identity);
}

// A wrong use: one line on standard error, nothing on standard output.
void expect_error(const std::vector<std::string>& arguments, int status, const std::string& says) {
  const Finished ran = run_weir(arguments);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("weir: "));
  EXPECT_THAT(ran.err, HasSubstr(says));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

std::size_t entries(const tests::TemporaryFolder& scratch) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.at("."))) {
    count += entry.exists() ? 1 : 0;
  }
  return count;
}

TEST(Inspect, ShowsWhatIsInAFile) {
  const tests::TemporaryFolder scratch;
  const std::string file = scratch.write("price.state", count_min(counting(0, 2500, 7)));
  const Finished ran = run_weir({"inspect", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith(file + "\n"));
  for (const char* row :
       {"synopsis    CountMin (id 1)\n", "of          Stocks/S0000/price\n",
        "parameters  epsilon=0.01, confidence=0.99\n", "seed        1\n", "window      none",
        "values      2,500\n", "memory ", "format version 1, checksum "}) {
    EXPECT_THAT(ran.out, HasSubstr(row));
  }
}

TEST(Inspect, GivesOneJsonObjectALine) {
  const tests::TemporaryFolder scratch;
  const std::string one = scratch.write("a", count_min({1, 2, 3}));
  const std::string two = scratch.write(
      "b", save(*synopsis_of("HyperLogLog", {0.26, 4}, {1}), {"D \"q\"", "", "f", "volume"}));
  const Finished ran = run_weir({"inspect", "--json", one, two});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr(R"("synopsis":"CountMin","synopsisID":1,"dataSetKey":"Stocks","streamID":)"
                        R"("S0000","field":"price","weight":null,"params":{"epsilon":0.01,)"
                        R"("confidence":0.99,"seed":1},"window":null,"n":3,)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("dataSetKey":"D \"q\"","streamID":"","field":"f","weight":)"
                                 R"("volume","params":{"rsd":0.26,"seed":4})"));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2);
}

TEST(Inspect, ShowsTheOthersWhenAFileIsDamaged) {
  const tests::TemporaryFolder scratch;
  std::string bytes = count_min({1, 2, 3});
  const std::string good = scratch.write("good", bytes);
  const std::string cut = scratch.write("cut", bytes.substr(0, bytes.size() / 2));
  bytes[70] = static_cast<char>(bytes[70] ^ 1);
  const std::string bad = scratch.write("bad", bytes);
  const Finished ran = run_weir({"inspect", bad, cut, scratch.at("none"), good});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, StartsWith(good));
  EXPECT_THAT(ran.err, HasSubstr(bad + ": not a saved synopsis: its checksum is wrong"));
  EXPECT_THAT(ran.err, HasSubstr(cut + ": not a saved synopsis: it is damaged, or cut short"));
  EXPECT_THAT(ran.err,
              HasSubstr("cannot read " + scratch.at("none") + ": No such file or directory"));
  EXPECT_THAT(run_weir({"inspect", "--json", bad}).out, HasSubstr(R"("error":")"));
  expect_error({"inspect"}, 2, "inspect needs a FILE");
  expect_error({"inspect", scratch.at(".")}, 1, "it is no regular file");
}

TEST(QueryFile, AnswersNumbersTextsAndArrays) {
  const tests::TemporaryFolder scratch;
  const auto synopsis = synopsis_of("CountMin", {0.01, 0.99, 1}, {6, 6, -5, 0.5});
  feed_text(*synopsis, "EURTRY");
  feed_text(*synopsis, "6");
  feed_text(*synopsis, "true story");
  const std::string file = scratch.write("a.state", save(*synopsis, kPrice));
  const auto estimate = [&](const std::string& query) {
    const Finished ran = run_weir({"query", file, "--json", query});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::size_t at = ran.out.find("\"estimate\":");
    return at == std::string::npos ? ran.out : ran.out.substr(at + 11, 1);
  };
  EXPECT_EQ(estimate("6"), "2");
  EXPECT_EQ(estimate("6.0"), "2");
  EXPECT_EQ(estimate("\"6\""), "1");
  EXPECT_EQ(estimate("-5"), "1");
  EXPECT_EQ(estimate("EURTRY"), "1");
  EXPECT_EQ(estimate("\"EURTRY\""), "1");
  EXPECT_EQ(estimate("[6]"), "2");
  EXPECT_EQ(estimate("true story"), "1");
  EXPECT_EQ(estimate("GBPUSD"), "0");
  EXPECT_EQ(estimate("006"), "0") << "a text: a name with leading zeros";
  EXPECT_EQ(run_weir({"query", file, "--", "-x"}).status, 0);
  EXPECT_EQ(run_weir({"inspect", "--", file}).status, 0);
}

TEST(QueryFile, AnswersAsDocumentedForRequests) {
  const tests::TemporaryFolder scratch;
  const std::string file = scratch.write("a.state", count_min({1, 1, 2}));
  const Finished ran = run_weir({"query", file, "--json", "1"});
  EXPECT_THAT(
      ran.out,
      StartsWith(R"({"requestID":null,"uid":null,"dataSetKey":"Stocks","streamID":"S0000",)"
                 R"("field":"price","synopsisID":1,"synopsis":"CountMin","query":1,)"
                 R"("kind":"ad-hoc","n":3,"estimate":2,"lower":2,"upper":2,"confidence":0.99,)"
                 R"("exact":false,"memory_bytes":)"));
}

TEST(QueryFile, WithoutAQueryAsksWhatNeedsNoValue) {
  const tests::TemporaryFolder scratch;
  const std::string file = scratch.write(
      "a.state", save(*synopsis_of("HyperLogLog", {0.02, 1}, counting(0, 5000, 100)), kPrice));
  const Finished ran = run_weir({"query", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("HyperLogLog of Stocks/S0000/price, 5000 values:\n"));
  EXPECT_THAT(ran.out, HasSubstr("95 %"));
  EXPECT_THAT(run_weir({"query", file, "--json"}).out, HasSubstr(R"("query":null)"));
}

TEST(QueryFile, ShowsATableWithBounds) {
  const tests::TemporaryFolder scratch;
  const std::string file = scratch.write("a.state", count_min({1, 1, 2}));
  const Finished ran = run_weir({"query", file, "1", "2"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("query  estimate  bounds"));
  EXPECT_THAT(ran.out, HasSubstr("[2, 2] 99 %"));
}

TEST(QueryFile, SaysWhatIsWrong) {
  const tests::TemporaryFolder scratch;
  const std::string file = scratch.write("a.state", count_min({1, 1, 2}));
  expect_error({"query"}, 2, "query needs a FILE");
  expect_error({"query", scratch.at("none"), "1"}, 1, "No such file or directory");
  expect_error({"query", file, R"([x,"CountEstimation"])"}, 2, "is no JSON: expected a value");
  expect_error({"query", file, "[1"}, 2, "is no JSON");
  expect_error({"query", file, "{\"a\":1}"}, 2, "a query value is a number, a text");
  expect_error({"query", file, "1", "--jsn"}, 2, "did you mean \"--json\"?");
  expect_error({"query", file, ".5"}, 2, "the query .5 is neither a number as JSON has them");
  expect_error({"query", file, "+5"}, 2, "the query +5 is neither");
  expect_error({"query", file, "1e999"}, 2, "the query 1e999 cannot be read: a number in it");
  expect_error({"query", file, "\xff"}, 2, "is not UTF-8");
  expect_error({"query", file}, 1, file + ": a query of CountMin takes one item");
  // One bad query harms no other.
  const Finished ran = run_weir({"query", file, "1", "[1,2]"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("[2, 2]"));
  EXPECT_THAT(ran.err, HasSubstr("takes one item"));
  const Finished json = run_weir({"query", file, "--json", "1", "[1,2]"});
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(json.out, HasSubstr(R"("kind":"error")"));
}

TEST(MergeFiles, OfHalvesIsTheFileOverAllBitForBit) {
  const tests::TemporaryFolder scratch;
  const auto halves = [&](const char* name, const std::vector<double>& params) {
    const std::vector<double> values = counting(0, 90'000, 1000);
    const auto at = [&](std::size_t part) {
      return values.begin() + static_cast<std::ptrdiff_t>(values.size() * part / 3);
    };
    std::vector<std::string> arguments = {"merge", "--force", "-o", scratch.at("merged")};
    for (std::size_t part = 0; part < 3; ++part) {
      const std::vector<double> some(at(part), at(part + 1));
      arguments.push_back(scratch.write("part" + std::to_string(part),
                                        save(*synopsis_of(name, params, some), kPrice)));
    }
    const Finished ran = run_weir(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, scratch.at("merged") + ": " + name +
                           " of Stocks/S0000/price, 90,000 values of 3 files\n");
    EXPECT_TRUE(scratch.read("merged") == save(*synopsis_of(name, params, values), kPrice)) << name;
  };
  halves("CountMin", {0.01, 0.99, 1});
  halves("HyperLogLog", {0.02, 1});
}

TEST(MergeFiles, OverSeveralStreamsIsOverAllUnlessNamed) {
  const tests::TemporaryFolder scratch;
  const std::string a = scratch.write("a", count_min({1, 2}));
  const std::string b = scratch.write("b", count_min({3}, {"Stocks", "S0001", "price", ""}));
  const std::string c = scratch.at("c");
  EXPECT_EQ(run_weir({"merge", a, b, "-o", c}).status, 0);
  EXPECT_EQ(scratch.read("c"), count_min({1, 2, 3}, {"Stocks", "", "price", ""}));
  EXPECT_EQ(run_weir({"merge", a, b, "-o", c, "--force", "--stream", "both"}).status, 0);
  EXPECT_EQ(scratch.read("c"), count_min({1, 2, 3}, {"Stocks", "both", "price", ""}));
}

TEST(MergeFiles, RefusesWhatDoesNotBelongTogether) {
  const tests::TemporaryFolder scratch;
  const std::string a = scratch.write("a", count_min({1, 2}));
  const std::string out = scratch.at("out");
  const auto refused = [&](const std::string& bytes, const std::string& says) {
    expect_error({"merge", a, scratch.write("b", bytes), "-o", out}, 1, says);
  };
  refused(count_min({1}, kPrice, 2),
          "cannot merge CountMin(epsilon=0.01, confidence=0.99, seed=2) into "
          "CountMin(epsilon=0.01, confidence=0.99, seed=1)");
  refused(save(*synopsis_of("HyperLogLog", {0.02, 1}, {1}), kPrice), "of different kinds");
  refused(count_min({1}, {"Forex", "S0000", "price", ""}),
          "their datasets differ, \"Forex\" and \"Stocks\"");
  refused(count_min({1}, {"Stocks", "S0000", "volume", ""}), "their fields differ");
  refused(count_min({1}, {"Stocks", "S0000", "price", "volume"}), "their weights differ");
  refused("nonsense", "not a saved synopsis");
  const std::string dft = save(*synopsis_of("DFT", {6, 4, 2}, {1}), kPrice);
  scratch.write("c", dft);
  scratch.write("d", dft);
  expect_error({"merge", scratch.at("c"), scratch.at("d"), "-o", out}, 1, "cannot merge DFT");
  EXPECT_FALSE(std::filesystem::exists(out));
  expect_error({"merge", a, "-o", out}, 2, "two or more");
  expect_error({"merge", a, scratch.at("b")}, 2, "needs -o FILE");
  expect_error({"merge", a, scratch.at("./a"), "-o", out}, 2, "would count twice");
  expect_error({"merge", a, scratch.at("none"), "-o", out}, 1, "No such file");
}

TEST(MergeFiles, ReplacesAFileOnlyWhenForced) {
  const tests::TemporaryFolder scratch;
  const std::string a = scratch.write("a", count_min({1, 2}));
  const std::string b = scratch.write("b", count_min({3}));
  expect_error({"merge", a, b, "-o", a}, 1, "--force replaces it");
  EXPECT_EQ(scratch.read("a"), count_min({1, 2}));
  EXPECT_EQ(run_weir({"merge", a, b, "-o", a, "--force"}).status, 0);
  EXPECT_EQ(scratch.read("a"), count_min({1, 2, 3}));
  EXPECT_EQ(entries(scratch), 2u) << "a temporary was left";
}

TEST(MergeFiles, KeepsTheOldFileWhenTheDiskIsFull) {
  const tests::TemporaryFolder scratch;
  const std::string a = scratch.write("a", count_min({1, 2}));
  const std::string b = scratch.write("b", count_min({3}));
  const std::string old = scratch.write("c", "old");
  // A limit on the size of files, which the program inherits, fails the write half-way.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Finished ran = run_weir({"merge", a, b, "-o", old, "--force"});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("cannot write " + old + ": File too large"));
  EXPECT_EQ(scratch.read("c"), "old");
  EXPECT_EQ(entries(scratch), 3u) << "a temporary was left";
  expect_error({"merge", a, b, "-o", "/dev/null", "--force"}, 1, "no regular file");
}

TEST(Synopses, ListsEveryKindWithItsParameters) {
  const Finished ran = run_weir({"synopses"});
  EXPECT_EQ(ran.status, 0);
  const Finished json = run_weir({"synopses", "--json"});
  for (const synopses::SynopsisType& type : synopses::types()) {
    EXPECT_THAT(ran.out, HasSubstr(std::string("  ") + type.name));
    EXPECT_THAT(ran.out, HasSubstr(type.guarantee));
    EXPECT_THAT(json.out, HasSubstr(std::string(R"("synopsis":")") + type.name + "\""));
  }
  EXPECT_THAT(ran.out, HasSubstr("epsilon       1e-06 to 0.5\n"));
  EXPECT_THAT(ran.out, HasSubstr("; default 1\n"));
  const Finished one = run_weir({"synopses", "hll"});
  EXPECT_THAT(one.out, HasSubstr("HyperLogLog"));
  EXPECT_THAT(one.out, Not(HasSubstr("CountMin")));
  expect_error({"synopses", "CountMn"}, 2, "did you mean \"CountMin\"?");
}

}  // namespace
}  // namespace weir::replay
