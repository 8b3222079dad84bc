#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "tests/ingest/decoded.h"

namespace weir::ingest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kGood =
    "format = \"ndjson\"\nstream = \"/symbol\"\ndataset_constant = \"Bars\"\n";

std::string error_of(const std::string& toml) {
  const auto layout = parse_mapping(toml, "m.toml");
  EXPECT_TRUE(layout.ok() || layout.status().code() == Code::kConfig);
  EXPECT_EQ(layout.status().message().find('\n'), std::string::npos);
  return layout.ok() ? "ok" : layout.status().message();
}

TEST(Mapping, DefaultsHold) {
  const auto layout = parse_mapping(kGood, "m.toml");
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(layout->kind, LayoutKind::kMapping);
  const Mapping& mapping = layout->mapping;
  EXPECT_EQ(mapping.format, Mapping::Format::kNdjson);
  EXPECT_EQ(mapping.stream, "/symbol");
  EXPECT_EQ(mapping.dataset_constant, "Bars");
  EXPECT_EQ(mapping.time_unit, "auto");
  EXPECT_EQ(mapping.zone, "UTC");
  EXPECT_TRUE(mapping.fields.empty());
}

TEST(Mapping, FieldsAreWrittenInThreeWays) {
  const auto list = parse_mapping(
      std::string(kGood) + "fields = [\"a/b~\", {name = \"p\", at = \"/x/p\"}, {name = \"q\"}]\n",
      "m");
  ASSERT_TRUE(list.ok()) << list.status().message();
  ASSERT_EQ(list->mapping.fields.size(), 3u);
  EXPECT_EQ(list->mapping.fields[0].at, "/a~1b~0");
  EXPECT_EQ(list->mapping.fields[1].at, "/x/p");
  EXPECT_EQ(list->mapping.fields[2].at, "/q");
  const auto table = parse_mapping(std::string(kGood) + "[fields]\nz = \"/1\"\na = \"/2\"\n", "m");
  ASSERT_TRUE(table.ok()) << table.status().message();
  ASSERT_EQ(table->mapping.fields.size(), 2u);
  EXPECT_EQ(table->mapping.fields[0].name, "z") << "the order of the file";
  EXPECT_EQ(table->mapping.fields[1].at, "/2");
}

TEST(Mapping, AnUnknownKeyIsAnErrorWithItsPlaceAndASuggestion) {
  EXPECT_THAT(error_of(std::string(kGood) + "tiem = \"/ts\"\n"),
              AllOf(StartsWith("m.toml:4:1: unknown key \"tiem\""), HasSubstr("mean \"time\"?")));
  EXPECT_THAT(error_of(std::string(kGood) + "zzzzzzzzz = 1\n"), HasSubstr("the keys are format"));
  EXPECT_THAT(error_of(std::string(kGood) + "fields = [{nam = \"a\"}]\n"),
              AllOf(StartsWith("m.toml:4:"), HasSubstr("of a field; did you mean \"name\"?")));
}

TEST(Mapping, WhatIsWrongSaysWhatWouldBeRight) {
  EXPECT_THAT(error_of("x ="), StartsWith("m.toml:1:"));
  EXPECT_THAT(error_of("This is [a] wrong"), StartsWith("m.toml:1:"));
  EXPECT_THAT(error_of(""), HasSubstr("format is missing"));
  EXPECT_THAT(error_of("format='xml'"), HasSubstr("\"ndjson\" or \"csv\""));
  EXPECT_THAT(error_of("format='ndjson'"), HasSubstr("stream is missing"));
  EXPECT_THAT(error_of("format='ndjson'\nstream='/s'"), HasSubstr("dataset_constant is missing"));
  EXPECT_THAT(error_of(std::string(kGood) + "dataset = \"/d\""), HasSubstr("exclude"));
  EXPECT_THAT(error_of("format='ndjson'\nstream='s'\ndataset='/d'"),
              AllOf(StartsWith("m.toml:2:8:"), HasSubstr("did you mean \"/s\"?")));
  EXPECT_THAT(error_of(std::string(kGood) + "time = 7"), HasSubstr("time: a JSON pointer"));
  EXPECT_THAT(error_of(std::string(kGood) + "time = ''"), HasSubstr("leave the key out"));
  EXPECT_THAT(error_of(std::string(kGood) + "zone = 'UTC'"), HasSubstr("time is missing"));
  EXPECT_THAT(error_of(std::string(kGood) + "time = '/t'\nzone = 'Berlin'"),
              AllOf(StartsWith("m.toml:5:8: zone:"), HasSubstr("IANA")));
  EXPECT_THAT(error_of(std::string(kGood) + "time = '/t'\ntime_unit = '%Q'"),
              AllOf(StartsWith("m.toml:5:13: time_unit:"), HasSubstr("%Y")));
  EXPECT_THAT(error_of(std::string(kGood) + "time = '/t'\ndate = '/d'\ntime_unit = 'ms'"),
              HasSubstr("an epoch has no date"));
  EXPECT_THAT(error_of(std::string(kGood) + "header = true"), HasSubstr("csv"));
  EXPECT_THAT(error_of(std::string(kGood) + "fields = 1"), HasSubstr("a list of names"));
  EXPECT_THAT(error_of(std::string(kGood) + "fields = []"), HasSubstr("empty list"));
  EXPECT_THAT(error_of(std::string(kGood) + "fields = [1]"), HasSubstr("name"));
  EXPECT_THAT(error_of(std::string(kGood) + "fields = ['a', 'a']"), HasSubstr("twice"));
  const std::string csv = "format='csv'\nstream='s'\ndataset_constant='D'\n";
  EXPECT_EQ(error_of(csv), "ok");
  EXPECT_THAT(error_of(csv + "delimiter='ab'"), HasSubstr("one ASCII character"));
  EXPECT_THAT(error_of(csv + "delimiter='\"'"), HasSubstr("no quote"));
  EXPECT_THAT(error_of(csv + "header='no'"), HasSubstr("true or false"));
  EXPECT_THAT(error_of(csv + "header=false"),
              AllOf(StartsWith("m.toml:2:8:"), HasSubstr("no number of a column")));
}

// Hostile text gives an error, never more: a mapping cut off anywhere, and with any byte changed.
TEST(Mapping, HostileTextIsAnErrorAtMost) {
  const std::string text = std::string(kGood) +
                           "time = '/t'\ntime_unit = '%Y-%m-%d'\nzone = '+02:00'\n"
                           "fields = ['a', {name = 'b', at = '/c'}]\n";
  for (std::size_t n = 0; n <= text.size(); ++n) error_of(text.substr(0, n));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'\0', '"', '\n', '[', '\xFF', '='}) {
      std::string bad = text;
      bad[i] = c;
      error_of(bad);
    }
  }
}

std::string example(const std::string& name) {
  const auto root = std::filesystem::path(WEIR_SOURCE_DIR) / "examples/mappings";
  std::ifstream file(root / name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// toml++ 3.3 asserts that such a header begins a key.
TEST(Mapping, ATableHeaderThatIsNoKeyIsAnError) {
  for (const std::string bad : {"[!x]", "[\v", "[ =", "[[,", "[\u00e9]", "a.!=1", "[a.!]"}) {
    const auto layout = parse_mapping(bad, "m.toml");
    ASSERT_FALSE(layout.ok()) << bad;
    EXPECT_TRUE(layout.status().message().starts_with("m.toml:1:")) << layout.status().message();
  }
}

TEST(Mapping, TheExamplesWork) {
  const auto csv = parse_mapping(example("sensors_csv.toml"), "sensors_csv.toml");
  ASSERT_TRUE(csv.ok()) << csv.status().message();
  const Decoded decoded = decode_all(
      *csv, "site;device;day;clock;temp_c;humidity\nnorth;s-17;31.08.2018;09:30:00;21.4;0.53\n",
      {{"temperature", "humidity"}});
  ASSERT_EQ(decoded.tuples.size(), 1u);
  EXPECT_EQ(decoded.tuples[0].dataset, "north");
  EXPECT_EQ(decoded.tuples[0].stream, "s-17");
  EXPECT_EQ(decoded.tuples[0].time, (1'535'707'800 - 7200) * kNanosPerSecond);
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("n:21.4", "n:0.53"));
}

TEST(Mapping, RealStockBarsAreRead) {
  const auto layout = parse_mapping(example("stock_bars.toml"), "stock_bars.toml");
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  WEIR_SHARED_FILE(bytes, "ticks/hudi_stock_bars_batch_1.ndjson");
  const Decoded decoded = decode_all(*layout, bytes, {{"open", "high", "low", "close", "volume"}});
  EXPECT_TRUE(decoded.rejects.empty());
  EXPECT_EQ(decoded.tuples.size(), 3482u);
  std::set<std::string> streams;
  for (const DecodedTuple& tuple : decoded.tuples) {
    streams.insert(tuple.stream);
    ASSERT_EQ(tuple.dataset, "StockBars");
  }
  EXPECT_EQ(streams.size(), 99u);
  EXPECT_EQ(decoded.tuples[0].time, (1'535'707'800 + 4 * 3600) * kNanosPerSecond);
  EXPECT_THAT(decoded.tuples[0].values,
              ElementsAre("n:111.55", "n:111.74", "n:111.55", "n:111.72", "n:483951"));
}

}  // namespace
}  // namespace weir::ingest
