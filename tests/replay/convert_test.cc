#include "replay/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/block.h"
#include "core/keys.h"
#include "ingest/layout.h"
#include "replay/convert_ticks.h"
#include "tests/ingest/trickle_source.h"
#include "tests/replay/subprocess.h"
#include "tests/support/shared_data.h"

namespace weir::replay {
namespace {

using ingest::pieces_of;
using ingest::trickle;

const std::string kName = "dir/Forex·EURTRY·NoExpiry.txt";

struct Outcome {
  std::string text;
  Converted converted;
  Status status;
};

Outcome run(std::vector<std::unique_ptr<Source>> sources, const ConvertOptions& options = {}) {
  Outcome outcome;
  std::FILE* file = std::tmpfile();
  EXPECT_NE(file, nullptr);
  outcome.status = convert(std::move(sources), options, ::fileno(file), outcome.converted);
  char buffer[4096];
  ::lseek(::fileno(file), 0, SEEK_SET);
  for (ssize_t n; (n = ::read(::fileno(file), buffer, sizeof buffer)) > 0;) {
    outcome.text.append(buffer, static_cast<std::size_t>(n));
  }
  std::fclose(file);
  return outcome;
}

Outcome run(const std::string& csv, const std::string& name = kName, std::size_t piece = 1 << 20,
            const ConvertOptions& options = {}) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle(csv, pieces_of(piece), {}, name));
  return run(std::move(sources), options);
}

std::string shared_file(const std::string& name) {
  std::ifstream file(tests::shared_data() / name, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

TEST(Convert, GivesTheRecordsThatSaamsItselfShips) {
  const std::string csv = shared_file("ticks/saams_forex_eurtry.csv");
  const std::string expected = shared_file("ticks/saams_forex_eurtry.ndjson");
  if (csv.empty() || expected.empty()) {
    GTEST_SKIP()
        << "ticks/saams_forex_eurtry.* of the shared data is not here; set WEIR_SHARED_DATA";
  }
  for (const std::size_t piece : {1u, 1000u, 1u << 20}) {
    const Outcome outcome = run(csv, kName, piece);
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.converted.records, 190u);
    EXPECT_EQ(outcome.converted.written, 190u);
    EXPECT_TRUE(outcome.text == expected);
  }
}

TEST(Convert, KeepsTheTextOfNumbersThatJsonAllows) {
  const auto number = [](const std::string& text) {
    std::string out;
    append_json_number(out, text);
    return out;
  };
  for (const char* same : {"0", "-0", "6.0654", "6.00", "0.5", "-12", "1e5", "1.50E+07",
                           "123456789012345678901.5", "18446744073709551615", "-0.0"}) {
    EXPECT_EQ(number(same), same);
  }
  EXPECT_EQ(number("+5"), "5");
  EXPECT_EQ(number("0071"), "71");
  EXPECT_EQ(number("-007.50"), "-7.50");
  EXPECT_EQ(number("000"), "0");
  EXPECT_EQ(number(".5"), "0.5");
  EXPECT_EQ(number("-.5e3"), "-0.5e3");
  EXPECT_EQ(number("5."), "5");
  EXPECT_EQ(number("+05.e2"), "5e2");
}

TEST(Convert, EscapesNamesAndTakesCrLfBlankLinesAndAMissingNewline) {
  const Outcome outcome =
      run("\xef\xbb\xbf"
          "01/02/2019,00:00:01,1,2\r\n\r\n \n01/02/2019,00:00:02,3,4",
          "a\"b·c\\d\x01·x.txt.gz");
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.converted.records, 2u);
  EXPECT_EQ(outcome.text,
            "{\"streamID\":\"c\\\\d\\u0001\",\"objectID\":null,\"dataSetKey\":\"a\\\"b\","
            "\"date\":\"01/02/2019\",\"time\":\"00:00:01\",\"price\":1,\"volume\":2}\n"
            "{\"streamID\":\"c\\\\d\\u0001\",\"objectID\":null,\"dataSetKey\":\"a\\\"b\","
            "\"date\":\"01/02/2019\",\"time\":\"00:00:02\",\"price\":3,\"volume\":4}\n");
}

TEST(Convert, RejectsWhatTheTicksLayoutRejectsWithTheSameReason) {
  const std::vector<std::string> lines = {
      "01/02/2019,00:00:01,1,2",
      "01/02/2019,00:00:01,1",
      "01/02/2019,00:00:01,1,2,3",
      "13/02/2019,00:00:01,1,2",
      "02/29/2019,00:00:01,1,2",
      "1/2/2019,00:00:01,1,2",
      "01/02/2019,24:00:00,1,2",
      "01/02/2019,00:00:01.25,1,2",
      "01/02/2019,00:00,1,2",
      "01/02/2019,00:00:01,,2",
      "01/02/2019,00:00:01,1,",
      "01/02/2019,00:00:01,x,2",
      "01/02/2019,00:00:01,1,n/a",
      "01/02/2019,00:00:01,NaN,2",
      "01/02/2019,00:00:01,1e999,2",
      "01/02/2019,00:00:01,1,-inf",
      "01/02/2019,00:00:01,+1,.5",
      "01/02/2019,00:00:01,--1,2",
      "01/02/2019,00:00:01, 1,2",
      "01/02/2019,00:00:01,1.2.3,2",
      "01/02/2019,00:00:01,-,2",
      "01/02/2019,00:00:01,99999999999999999999,2",
      "garbage",
      ",,,",
      "\"01/02/2019\",00:00:01,1,2",
      "01/03/2019,23:59:59,123456789.123456789,18446744073709551615",
      "01/02/2019,00:00:01,1,2 "};
  std::string csv;
  for (const std::string& line : lines) csv += line + "\n";
  const Outcome outcome = run(csv);

  core::Block block;
  block.bytes.append(csv.data(), csv.size());
  block.bytes.reserve(csv.size() + core::kBlockPadding);
  block.source_start = true;
  core::KeyTable keys;
  const std::vector<std::string> names = {kName};
  auto decoder = ingest::make_decoder(*ingest::layout_by_name("ticks"), keys, names);
  core::Columns columns;
  decoder->decode(block, {{"price", "volume"}}, columns);

  EXPECT_EQ(outcome.converted.records, columns.records);
  EXPECT_EQ(outcome.converted.written, columns.tuples());
  ASSERT_EQ(outcome.converted.rejects.size(), columns.rejects.size());
  EXPECT_EQ(outcome.converted.rejected_total(), columns.rejects.size());
  for (std::size_t i = 0; i < columns.rejects.size(); ++i) {
    const Reject& ours = outcome.converted.rejects[i];
    EXPECT_EQ(ours.source, kName);
    EXPECT_EQ(ours.raw, columns.rejects[i].raw);
    EXPECT_EQ(ours.reason, core::reason_name(columns.rejects[i].reason)) << ours.raw;
    EXPECT_EQ(ours.detail, columns.rejects[i].detail) << ours.raw;
    EXPECT_EQ(ours.line, columns.rejects[i].line + 1);
    EXPECT_EQ(ours.byte_offset, columns.rejects[i].byte_offset);
    EXPECT_EQ(ours.length, columns.rejects[i].length);
    EXPECT_EQ(raw(ours.record), columns.rejects[i].record);
  }
}

TEST(Convert, CountsRejectsBeyondTheSamplesAndLongRecords) {
  std::string csv;
  for (int i = 0; i < 10; ++i) csv += "bad\n";
  csv += std::string(5000, 'x') + "\n01/02/2019,00:00:01,1,2\n";
  const Outcome outcome = run(csv, kName, 100, {.max_record_bytes = 1000, .max_reject_samples = 3});
  EXPECT_EQ(outcome.converted.rejects.size(), 3u);
  EXPECT_EQ(outcome.converted.rejected_total(), 11u);
  EXPECT_EQ(outcome.converted.records, 12u);
  EXPECT_EQ(outcome.converted.written, 1u);
  EXPECT_EQ(outcome.converted.rejected.at(core::reason_name(core::Reason::kTooLong)), 1u);
}

// The streams and clocks of the records, in order.
std::vector<std::string> order(const Outcome& outcome) {
  std::vector<std::string> result;
  std::istringstream lines(outcome.text);
  for (std::string line; std::getline(lines, line);) {
    const auto value = [&line](const std::string& key) {
      const std::size_t at = line.find("\"" + key + "\":\"") + key.size() + 4;
      return line.substr(at, line.find('"', at) - at);
    };
    result.push_back(value("streamID") + " " + value("time"));
  }
  return result;
}

std::vector<std::unique_ptr<Source>> three_files() {
  std::vector<std::unique_ptr<Source>> sources;
  const auto add = [&sources](const std::string& stream, const std::string& clocks) {
    std::string csv;
    std::istringstream words(clocks);
    for (std::string clock; words >> clock;) {
      csv += clock == "bad" ? "bad\n" : "01/02/2019,00:00:" + clock + ",1,1\n";
    }
    sources.push_back(trickle(csv, pieces_of(7), {}, "D·" + stream + "·x.txt"));
  };
  add("A", "01 03 03 02 09");  // 02 is late
  add("B", "bad");
  add("C", "01 02 bad 03 10");
  return sources;
}

TEST(Convert, WritesFilesOneAfterTheOtherUnlessTold) {
  EXPECT_THAT(
      order(run(three_files())),
      testing::ElementsAre("A 00:00:01", "A 00:00:03", "A 00:00:03", "A 00:00:02", "A 00:00:09",
                           "C 00:00:01", "C 00:00:02", "C 00:00:03", "C 00:00:10"));
}

TEST(Convert, MergesFilesByTimeAndKeepsTheOrderOfEach) {
  const Outcome outcome = run(three_files(), {.merge_time = true});
  EXPECT_THAT(order(outcome), testing::ElementsAre("A 00:00:01", "C 00:00:01", "C 00:00:02",
                                                   "A 00:00:03", "A 00:00:03", "A 00:00:02",
                                                   "C 00:00:03", "A 00:00:09", "C 00:00:10"));
  EXPECT_EQ(outcome.converted.records, 11u);
  EXPECT_EQ(outcome.converted.written, 9u);
  EXPECT_EQ(outcome.converted.rejected_total(), 2u);
}

// Plain files are read block by block where the parser is, pipes by the splitter.
TEST(Convert, TakesAllOfAPlainFileThatIsLongerThanABlock) {
  const tests::TemporaryFolder scratch;
  std::string csv;
  constexpr std::uint64_t kLines = 50'000;  // 1.3 MB, 5 blocks; 20 when merged
  for (std::uint64_t i = 0; i < kLines; ++i) {
    csv += i % 1000 == 999 ? "bad\n" : "01/02/2019,00:00:01," + std::to_string(i) + ",1\n";
  }
  const std::vector<std::string> files = {scratch.write("D·A·x.txt", csv),
                                          scratch.write("D·B·x.txt", csv)};
  std::string whole;
  for (const char* stream : {"D·A·x.txt", "D·B·x.txt"}) whole += run(csv, stream).text;
  for (const bool merge : {false, true}) {
    auto sources = open_sources(files);
    ASSERT_TRUE(sources.ok());
    const Outcome outcome = run(*std::move(sources), {.merge_time = merge});
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.converted.records, 2 * kLines);
    EXPECT_EQ(outcome.converted.rejected_total(), 2 * kLines / 1000);
    EXPECT_TRUE(outcome.text == whole) << merge;  // all of one time: A goes before B
    EXPECT_EQ(outcome.converted.rejects.back().line, kLines);
  }
}

// Each of the lanes has read one record ahead when the reader goes away.
TEST(Convert, KeepsItsCountsWhenTheReaderOfAMergeGoesAway) {
  std::vector<std::unique_ptr<Source>> sources;
  std::string csv;
  for (int i = 0; i < 20'000; ++i) csv += "01/02/2019,00:00:01,1,1\n";
  for (const char* stream : {"A", "B", "C"}) {
    sources.push_back(
        trickle("bad\n" + csv, pieces_of(1 << 20), {}, "D·" + std::string(stream) + "·x.txt"));
  }
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ::close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  Converted converted;
  const Status status = convert(std::move(sources), {.merge_time = true}, ends[1], converted);
  ::close(ends[1]);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_LT(converted.written, 20'000u);
  EXPECT_EQ(converted.rejected_total(), 3u);
  EXPECT_EQ(converted.records, converted.written + converted.rejected_total());
}

TEST(Convert, AFileNamedAgainstTheRuleIsAnErrorBeforeAnythingIsWritten) {
  const Outcome outcome = run("01/02/2019,00:00:01,1,2\n", "prices.csv");
  EXPECT_THAT(outcome.status.message(), testing::HasSubstr("prices.csv"));
  EXPECT_THAT(outcome.status.message(), testing::HasSubstr("U+00B7"));
  EXPECT_EQ(outcome.text, "");
}

TEST(Convert, AnErrorOfASourceComesAfterTheRecordsBeforeIt) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(trickle("01/02/2019,00:00:01,1,2\n01/02/20", pieces_of(5),
                            Status(Code::kIo, "broken: gone"), kName));
  const Outcome outcome = run(std::move(sources));
  EXPECT_THAT(outcome.status.message(), testing::StartsWith("broken: gone"));
  EXPECT_EQ(outcome.converted.written, 1u);
  EXPECT_EQ(order(outcome).size(), 1u);
}

}  // namespace
}  // namespace weir::replay
