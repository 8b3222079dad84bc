#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ingest/csv_split.h"
#include "tests/ingest/decoded.h"

namespace weir::ingest {
namespace {

using core::Reason;
using ::testing::ElementsAre;

const core::FieldSet kPriceVolume{{"price", "volume"}};
constexpr const char* kName = "dir/Forex·EURTRY·NoExpiry.txt";

Layout ticks() { return *layout_by_name("ticks"); }
Layout mapped(const std::string& toml) {
  auto layout = parse_mapping(toml, "test.toml");
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return *layout;
}
Decoded decode_ticks(const std::string& bytes, const core::FieldSet& fields = kPriceVolume) {
  DecodeOptions options;
  options.name = kName;
  return decode_all(ticks(), bytes, fields, options);
}
std::vector<Reason> reasons(const Decoded& decoded) {
  std::vector<Reason> all;
  for (const DecodedReject& reject : decoded.rejects) all.push_back(reject.reason);
  return all;
}

TEST(Ticks, ATupleTakesItsKeysFromTheNameOfTheFile) {
  const Decoded decoded =
      decode_ticks("01/02/2019,00:00:01,6.0654,1\r\n\n01/02/2019,23:59:59.5,7,-0");
  ASSERT_EQ(decoded.rejects.size(), 0u);
  ASSERT_EQ(decoded.tuples.size(), 2u);
  EXPECT_EQ(decoded.tuples[0].dataset, "Forex");
  EXPECT_EQ(decoded.tuples[0].stream, "EURTRY");
  EXPECT_EQ(decoded.tuples[0].time, 1'546'387'201 * kNanosPerSecond);
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("n:6.0654", "n:1"));
  EXPECT_EQ(decoded.tuples[1].time, (1'546'387'200 + 86'399) * kNanosPerSecond + 500'000'000);
  EXPECT_THAT(decoded.tuples[1].values, ElementsAre("n:7", "n:0"));
}

TEST(Ticks, ABadRecordSaysWhyAndHarmsNoNeighbour) {
  const std::vector<std::pair<std::string, Reason>> bad = {
      {"01/02/2019,00:00:01,6.0654", Reason::kCsv},
      {"01/02/2019,00:00:01,6.0654,1,2", Reason::kCsv},
      {"13/02/2019,00:00:01,6.0654,1", Reason::kTime},
      {"01/02/2019,24:00:00,6.0654,1", Reason::kTime},
      {"01/02/2019,00:00:01,,1", Reason::kMissing},
      {"01/02/2019,00:00:01,6.0654,", Reason::kMissing},
      {"01/02/2019,00:00:01,x,1", Reason::kType},
      {"01/02/2019,00:00:01,\"6\",1", Reason::kType},
      {"01/02/2019,00:00:01,6.0.6,1", Reason::kType},
      {"01/02/2019,00:00:01,nan,1", Reason::kNumber},
      {"01/02/2019,00:00:01,-Infinity,1", Reason::kNumber},
      {"01/02/2019,00:00:01,1e999,1", Reason::kNumber},
      {"01/02/2019,00:00:01,6,1 ", Reason::kType},
      {std::string(10, '\0') + ",00:00:01,6,1", Reason::kTime},
  };
  const std::string good = "01/02/2019,00:00:01,6.0654,1\n";
  for (const auto& [line, reason] : bad) {
    const Decoded decoded = decode_ticks(good + line + "\n" + good);
    ASSERT_EQ(decoded.tuples.size(), 2u) << line;
    ASSERT_EQ(decoded.rejects.size(), 1u) << line;
    const DecodedReject& reject = decoded.rejects[0];
    EXPECT_EQ(reject.reason, reason) << line << " " << reject.detail;
    EXPECT_EQ(reject.raw, line);
    EXPECT_EQ(reject.line, 2u);
    EXPECT_EQ(reject.offset, good.size());
    EXPECT_EQ(reject.record, 1u);
  }
}

TEST(Ticks, ASourceThatBreaksTheRuleOfNamesIsRejectedWhole) {
  DecodeOptions options;
  options.name = "ticks.csv";
  const Decoded decoded = decode_all(ticks(), "01/02/2019,00:00:01,6,1\n\n", kPriceVolume, options);
  EXPECT_THAT(reasons(decoded), ElementsAre(Reason::kMissing));
  EXPECT_NE(decoded.rejects[0].detail.find("U+00B7"), std::string::npos);
}

// A decimal with every way in which the fast path may give up.
std::string random_decimal(std::mt19937& random) {
  std::string text;
  if (random() % 8 == 0) text += random() % 4 == 0 ? '+' : '-';
  for (std::size_t n = random() % 10; n > 0; --n) text += static_cast<char>('0' + random() % 10);
  if (random() % 3 != 0) {
    text += '.';
    for (std::size_t n = random() % 10; n > 0; --n) text += static_cast<char>('0' + random() % 10);
  }
  if (random() % 12 == 0) text += "e5";
  if (random() % 20 == 0 && !text.empty()) text[random() % text.size()] = "x,\r\n-"[random() % 5];
  return text;
}

// The fast path cannot take a record whose clock has a fraction: with ".0" the same record goes the
// slow way, and must mean the same.
TEST(Ticks, TheFastPathMeansWhatTheSlowOneDoes) {
  std::mt19937 random(3);
  std::string fast, slow;
  for (int i = 0; i < 20'000; ++i) {
    const std::string date = fmt::format("{:02}/{:02}/2019", random() % 13, 1 + random() % 3);
    const std::string clock =
        fmt::format("{:02}:{:02}:{:02}", random() % 25, random() % 61, random() % 60);
    const std::string rest = "," + random_decimal(random) + "," + random_decimal(random) +
                             (random() % 9 == 0 ? "\r\n" : "\n");
    fast += date + "," + clock + rest;
    slow += date + "," + clock + ".0" + rest;
  }
  Decoded a = decode_ticks(fast), b = decode_ticks(slow);
  ASSERT_EQ(a.records, b.records);
  ASSERT_GT(a.tuples.size(), 1000u);
  ASSERT_EQ(a.tuples, b.tuples);
  ASSERT_EQ(reasons(a), reasons(b));
}

TEST(Ticks, EveryChunkingGivesTheSame) {
  std::mt19937 random(5);
  std::string bytes = "\xEF\xBB\xBF";
  for (int i = 0; i < 1500; ++i) {
    bytes += fmt::format("01/{:02}/2019,00:00:01,{},{}\n", 1 + i % 31, random_decimal(random),
                         random() % 50);
    if (i % 500 == 7) bytes += std::string(9000, 'z') + "\n";
  }
  bytes += "01/02/2019,00:00:01,6.0654,1";  // no newline at the end
  DecodeOptions options;
  options.name = kName;
  options.max_record_bytes = 4096;
  options.block_size = 1 << 20;
  const Decoded expected = decode_all(ticks(), bytes, kPriceVolume, options);
  std::size_t too_long = 0;
  for (const DecodedReject& reject : expected.rejects)
    too_long += reject.reason == Reason::kTooLong;
  EXPECT_EQ(too_long, 3u);
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    options.block_size = 4096 << seed % 3;
    options.pieces = random_pieces(seed, seed * 1000);
    EXPECT_EQ(decode_all(ticks(), bytes, kPriceVolume, options), expected) << seed;
  }
}

TEST(Ticks, TheFieldSetChangesNoVerdict) {
  std::mt19937 random(9);
  std::string bytes;
  for (int i = 0; i < 3000; ++i) {
    bytes +=
        fmt::format("01/02/2019,00:00:01,{},{}\n", random_decimal(random), random_decimal(random));
  }
  const Decoded all = decode_ticks(bytes);
  const Decoded none = decode_ticks(bytes, {});
  const Decoded other = decode_ticks(bytes, {{"nothing", "volume"}});
  EXPECT_EQ(none.rejects, all.rejects);
  EXPECT_EQ(other.rejects, all.rejects);
  ASSERT_EQ(other.tuples.size(), all.tuples.size());
  for (std::size_t i = 0; i < all.tuples.size(); ++i) {
    ASSERT_EQ(other.tuples[i].values[0], "-");
    ASSERT_EQ(other.tuples[i].values[1], all.tuples[i].values[1]);
  }
}

TEST(Ticks, IntegersKeep64Bits) {
  const Decoded decoded = decode_ticks(
      "01/02/2019,00:00:01,1,1\n01/02/2019,00:00:01,8838840643388017390,-9223372036854775807\n"
      "01/02/2019,00:00:01,2,18446744073709551616\n");
  ASSERT_EQ(decoded.tuples.size(), 2u);
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("n:1", "n:1"));
  EXPECT_THAT(decoded.tuples[1].values,
              ElementsAre("u:8838840643388017390", "i:-9223372036854775807"));
  EXPECT_THAT(reasons(decoded), ElementsAre(Reason::kNumber));
}

TEST(Ticks, TheFileAndItsNdjsonGiveTheSameTuples) {
  WEIR_SHARED_FILE(csv, "ticks/saams_forex_eurtry.csv");
  WEIR_SHARED_FILE(ndjson, "ticks/saams_forex_eurtry.ndjson");
  const Decoded a = decode_ticks(csv);
  const Decoded b = decode_all(*layout_by_name("saams"), ndjson, kPriceVolume);
  EXPECT_GT(a.tuples.size(), 100u);
  EXPECT_TRUE(a.rejects.empty());
  EXPECT_EQ(a, b);
}

constexpr const char* kMapping = R"(
format = "csv"
stream = "id"
dataset_constant = "D"
time = "t"
time_unit = "s"
fields = ["v", "w"]
)";
const core::FieldSet kVw{{"v", "w"}};

TEST(Csv, ColumnsAreFoundByTheHeader) {
  const Decoded decoded =
      decode_all(mapped(kMapping), "w,t,id,v\r\nx,1000,A,1.5\r\n,1001,\"B\",\"-0\"\r\n", kVw);
  ASSERT_TRUE(decoded.rejects.empty());
  ASSERT_EQ(decoded.tuples.size(), 2u);
  EXPECT_EQ(decoded.tuples[0].stream, "A");
  EXPECT_EQ(decoded.tuples[0].time, 1000 * kNanosPerSecond);
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("n:1.5", "t:x"));
  EXPECT_EQ(decoded.tuples[1].stream, "B");
  EXPECT_THAT(decoded.tuples[1].values, ElementsAre("n:0", "-"));
}

TEST(Csv, ABomIsNoPartOfTheFirstName) {
  const Decoded decoded = decode_all(mapped(kMapping), "\xEF\xBB\xBFid,t,v,w\nA,1000,1,2\n", kVw);
  ASSERT_EQ(decoded.tuples.size(), 1u);
  EXPECT_TRUE(decoded.rejects.empty());
}

TEST(Csv, AQuotedFieldMayEndInANewline) {
  const Decoded decoded =
      decode_all(mapped(kMapping), "id,t,v,w\nA,1000,\"x\n\",1\nB,1001,y,2\nC,bad,y,2\n", kVw);
  ASSERT_EQ(decoded.tuples.size(), 2u);
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("t:x\n", "n:1"));
  ASSERT_EQ(decoded.rejects.size(), 1u);
  EXPECT_EQ(decoded.rejects[0].line, 5u) << "the newline in quotes counts as a line of the file";
  EXPECT_EQ(decoded.rejects[0].reason, Reason::kTime);
  EXPECT_EQ(decoded.rejects[0].raw, "C,bad,y,2");
}

TEST(Csv, DoubledQuotesAndDelimitersInQuotesAreText) {
  const Decoded decoded =
      decode_all(mapped(kMapping),
                 "id,t,v,w\n\"a \"\"b\"\", c\",1000,\"\"\"\",\"\"\nB,1000,1,\"x\"\"\"\n", kVw);
  ASSERT_EQ(decoded.tuples.size(), 2u);
  EXPECT_EQ(decoded.tuples[0].stream, "a \"b\", c");
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("t:\"", "-"));
  EXPECT_THAT(decoded.tuples[1].values, ElementsAre("n:1", "t:x\""));
}

TEST(Csv, AStrayQuoteHarmsNoNeighbour) {
  for (const char* bad : {"X,1000,5\" pipe,1", "X,1000,\"5,1", "X,1000,\"5\"x,1"}) {
    const std::string bytes = fmt::format(
        "id,t,v,w\nA,1000,1,1\n{}\nB,1000,2,2\nC,1000,\"q\",3\n"
        "{}\nD,1000,4,4\n",
        bad, bad);
    const Decoded decoded = decode_all(mapped(kMapping), bytes, kVw);
    EXPECT_EQ(decoded.records, 6u) << bad;
    ASSERT_EQ(decoded.tuples.size(), 4u) << bad;
    EXPECT_THAT(reasons(decoded), ElementsAre(Reason::kCsv, Reason::kCsv)) << bad;
    EXPECT_EQ(decoded.rejects[0].line, 3u) << bad;
    EXPECT_EQ(decoded.rejects[1].line, 6u) << bad;
  }
}

TEST(Csv, ABadRecordSaysWhy) {
  const std::vector<std::pair<std::string, Reason>> bad = {
      {"A,1000,1", Reason::kCsv},           {"A,1000,1,2,3", Reason::kCsv},
      {",1000,1,2", Reason::kMissing},      {"A,,1,2", Reason::kMissing},
      {"A,bla,1,2", Reason::kTime},         {"A,1000,NaN,2", Reason::kNumber},
      {"A,1000,1,1e999", Reason::kNumber},  {"A,1000,1,18446744073709551616", Reason::kNumber},
      {"A\xFF,1000,1,2", Reason::kEncoding}};
  for (const auto& [line, reason] : bad) {
    const Decoded decoded =
        decode_all(mapped(kMapping), "id,t,v,w\nA,1000,1,2\n" + line + "\nA,1000,1,2\n", kVw);
    EXPECT_EQ(decoded.tuples.size(), 2u) << line;
    EXPECT_THAT(reasons(decoded), ElementsAre(reason)) << line;
    EXPECT_EQ(decode_all(mapped(kMapping), "id,t,v,w\n" + line, {}).rejects.size(), 1u)
        << "the field set changes no verdict: " << line;
  }
}

TEST(Csv, AHeaderWithoutAKeyRejectsEveryRecord) {
  const Decoded decoded = decode_all(mapped(kMapping), "name,t,v,w\nA,1000,1,2\n", kVw);
  ASSERT_THAT(reasons(decoded), ElementsAre(Reason::kMissing));
  EXPECT_EQ(decoded.rejects[0].detail, "header: no column id");
}

TEST(Csv, WithoutAHeaderColumnsHaveNumbers) {
  const Decoded decoded =
      decode_all(mapped("format='csv'\nheader=false\ndelimiter='|'\nstream=1\ndataset=0\ntime=2\n"),
                 "D|A|1000|7|x\nE|A|1000\nD|A\n", {{"3", "4", "03"}});
  ASSERT_EQ(decoded.tuples.size(), 2u);
  EXPECT_EQ(decoded.tuples[0].dataset, "D");
  EXPECT_THAT(decoded.tuples[0].values, ElementsAre("n:7", "t:x", "-"));
  EXPECT_EQ(decoded.tuples[1].dataset, "E");
  EXPECT_THAT(decoded.tuples[1].values, ElementsAre("-", "-", "-"));
  EXPECT_THAT(reasons(decoded), ElementsAre(Reason::kCsv));
}

std::string random_field(std::mt19937& random) {
  static const char* kFields[] = {"1",          "2.5",      "x",    "\"a,b\"", "\"l1\nl2\"",
                                  "\"q\"\"q\"", "",         "\"\"", "5\"",     "\"open",
                                  "nan",        "\"\n\n\"", "é",    "-0",      "\"5\"x"};
  const std::size_t usual = random() % 40;
  return kFields[usual < 8 ? usual : usual < 39 ? usual % 4 : 8 + random() % 7];
}

TEST(Csv, EveryChunkingGivesTheSame) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    std::string bytes = "\nid,t,\"v\",w\n";
    for (int i = 0; i < 2500; ++i) {
      bytes += fmt::format("S{},{},{},{}\n", random() % 5, 1000 + i, random_field(random),
                           random_field(random));
      if (random() % 50 == 0) bytes += "\r\n";
      if (random() % 900 == 0) bytes += "Z,1,\"" + std::string(9000, '\n') + "\",2\n";
    }
    DecodeOptions options;
    options.max_record_bytes = 4096;
    options.block_size = 1 << 20;
    const Decoded expected = decode_all(mapped(kMapping), bytes, kVw, options);
    EXPECT_GT(expected.tuples.size(), 500u);
    for (int way = 0; way < 4; ++way) {
      options.block_size = 4096 << way;
      options.pieces = random_pieces(seed * 10 + way, 3000);
      const Decoded decoded = decode_all(mapped(kMapping), bytes, kVw, options);
      ASSERT_EQ(decoded.records, expected.records) << seed << " " << way;
      ASSERT_EQ(decoded.tuples, expected.tuples) << seed << " " << way;
      ASSERT_EQ(decoded.rejects, expected.rejects) << seed << " " << way;
    }
  }
}

// Rejects point at their bytes: the raw bytes stand at the offset, on the line.
TEST(Csv, RejectsPointAtTheirBytes) {
  std::mt19937 random(21);
  std::string bytes = "id,t,v,w\n";
  for (int i = 0; i < 3000; ++i) {
    bytes += fmt::format("S{},1000,{},{}\n", i, random_field(random), random_field(random));
  }
  const Decoded decoded = decode_all(mapped(kMapping), bytes, kVw);
  ASSERT_GT(decoded.rejects.size(), 10u);
  for (const DecodedReject& reject : decoded.rejects) {
    ASSERT_EQ(bytes.substr(reject.offset, reject.raw.size()), reject.raw);
    ASSERT_EQ(std::count(bytes.begin(), bytes.begin() + static_cast<long>(reject.offset), '\n') + 1,
              static_cast<long>(reject.line));
  }
}

// A plain reader of RFC 4180, one character at a time.
bool naive_split(std::string_view record, std::vector<std::string>& fields) {
  fields.assign(1, "");
  enum { kStart, kPlain, kQuoted, kClosed } state = kStart;
  if (record.ends_with('\r')) record.remove_suffix(1);
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (state == kQuoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < record.size() && record[i + 1] == '"') {
        fields.back() += record[++i];
      } else {
        state = kClosed;
      }
    } else if (c == ',') {
      fields.emplace_back();
      state = kStart;
    } else if (c == '"') {
      if (state != kStart) return false;
      state = kQuoted;
    } else {
      if (state == kClosed) return false;
      fields.back() += c;
      state = kPlain;
    }
  }
  return state != kQuoted;
}

TEST(CsvFields, SplitsAsAPlainReaderDoes) {
  std::mt19937 random(17);
  CsvFields fields(',');
  std::size_t good = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string record;
    for (std::size_t n = random() % 12; n > 0; --n) record += "a,\"\"\n,\r"[random() % 7];
    std::vector<std::string> expected;
    const bool ok = naive_split(record, expected);
    ASSERT_EQ(fields.split(record), ok) << record;
    if (!ok) continue;
    ++good;
    ASSERT_EQ(fields.size(), expected.size()) << record;
    for (std::size_t f = 0; f < expected.size(); ++f) ASSERT_EQ(fields[f], expected[f]) << record;
  }
  EXPECT_GT(good, 10'000u);
}

TEST(Csv, QuotedNewlinesOfTheRealFileAreRead) {
  WEIR_SHARED_FILE(bytes, "messy/duckdb_quotednewlines.csv");
  const Decoded decoded = decode_all(
      mapped("format='csv'\nstream='i'\ndataset_constant='D'\nfields=[{name='w',at=1}]\n"), bytes,
      {{"w"}});
  EXPECT_TRUE(decoded.rejects.empty());
  ASSERT_EQ(decoded.tuples.size(), 10'100u);
  EXPECT_THAT(decoded.tuples.back().values, ElementsAre("t:h\n1,e\n2,l\n3,l\n4,o"));
}

TEST(Csv, OneBadTimestampOfTheRealFileIsOneReject) {
  WEIR_SHARED_FILE(bytes, "messy/duckdb_timestamp_errors.csv");
  const Decoded decoded =
      decode_all(mapped("format='csv'\nheader=false\nstream=1\ndataset_constant='D'\ntime=0\n"),
                 bytes.substr(bytes.find('\n') + 1), {});
  EXPECT_EQ(decoded.records, decoded.tuples.size() + 1);
  ASSERT_THAT(reasons(decoded), ElementsAre(Reason::kTime));
  EXPECT_EQ(decoded.rejects[0].raw, "bla,worlds");
  EXPECT_EQ(decoded.rejects[0].line, 3001u);
}

}  // namespace
}  // namespace weir::ingest
