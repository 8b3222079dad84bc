// The NDJSON decoder by its promises: which lines are records, which records are tuples, why others
// are rejected, and that none harms its neighbours.
#include "ingest/json_decoder.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "tests/ingest/json_bench.h"
#include "tests/ingest/json_generator.h"

namespace weir::ingest {
namespace {

using core::Kind;
using core::Reason;

std::string repeated(std::string_view line, int times) {
  std::string bytes;
  for (int i = 0; i < times; ++i) bytes += std::string(line) + '\n';
  return bytes;
}

TEST(JsonDecoder, ReadsSaams) {
  Bench bench;
  const core::Columns& columns = bench.decode(repeated(kGood, 5));
  ASSERT_EQ(columns.records, 5u);
  ASSERT_EQ(columns.tuples(), 5u);
  EXPECT_EQ(columns.lines, 5u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(columns.record[i], i);
    EXPECT_EQ(bench.keys.key(columns.stream[i]).stream, "S1");
    EXPECT_EQ(bench.keys.key(columns.stream[i]).dataset, "D");
    EXPECT_EQ(columns.time[i], 1'546'387'201'000'000'000);
    EXPECT_EQ(bench.value(0, i), 6.5);
    EXPECT_EQ(bench.value(1, i), 2.0);
  }
  EXPECT_EQ(columns.max_time, 1'546'387'201'000'000'000);
  EXPECT_TRUE(columns.fields[0].kinds.empty());
}

TEST(JsonDecoder, ReadsTitan) {
  Bench bench(layout_of(LayoutKind::kTitan), {{"valueInW"}});
  const core::Columns& columns = bench.decode(
      repeated(R"({"identifier":"server1","timestamp":1574000000000,"valueInW":10.5})", 3));
  ASSERT_EQ(columns.tuples(), 3u);
  EXPECT_EQ(bench.keys.key(columns.stream[2]).dataset, "titan");
  EXPECT_EQ(bench.keys.key(columns.stream[2]).stream, "server1");
  EXPECT_EQ(columns.time[2], 1'574'000'000'000'000'000);
  EXPECT_EQ(bench.value(0, 2), 10.5);
}

TEST(JsonDecoder, ReadsTheTimeOfSaamsInEveryWay) {
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {R"("date":"01/02/2019","time":"00:00:01")", 1'546'387'201'000'000'000},
      {R"("date":"01/02/2019","time":"23:59:59.123456789")", 1'546'473'599'123'456'789},
      {R"("date":"01/02/2019","time":"00:00:00.5")", 1'546'387'200'500'000'000},
      {R"("timestamp":1546387201)", 1'546'387'201'000'000'000},
      {R"("timestamp":1546387201000)", 1'546'387'201'000'000'000},
      {R"("timestamp":1546387201.25)", 1'546'387'201'250'000'000},
      {R"("timestamp":"2019-01-02T00:00:01Z")", 1'546'387'201'000'000'000},
      {R"("timestamp":"1546387201000000")", 1'546'387'201'000'000'000},
      // Date and time together come before a timestamp, whatever it is.
      {R"("timestamp":"soon","date":"01/02/2019","time":"00:00:01")", 1'546'387'201'000'000'000},
      {R"("timestamp":1546387201,"date":"01/02/2019")", 1'546'387'201'000'000'000}};
  for (const auto& [time, nanos] : cases) {
    Bench bench;
    const core::Columns& columns =
        bench.decode(repeated(R"({"streamID":"S","dataSetKey":"D",)" + time + "}", 4));
    ASSERT_EQ(columns.tuples(), 4u) << time;
    for (const std::int64_t found : columns.time) EXPECT_EQ(found, nanos) << time;
  }
}

TEST(JsonDecoder, SaysWhyARecordIsRejected) {
  const std::string key = R"({"streamID":"S","dataSetKey":"D",)";
  const std::string time = R"("date":"01/02/2019","time":"00:00:01")";
  const std::vector<std::tuple<std::string, Reason, std::string>> cases = {
      {"[]", Reason::kJson, "not an object"},
      {"7", Reason::kJson, "not an object"},
      {"{", Reason::kJson, "malformed JSON"},
      {key + time + "}}", Reason::kJson, "malformed JSON"},
      {key + time + ",\"x\":01}", Reason::kNumber, "malformed number, or out of range"},
      {key + time + ",\"x\":1e999}", Reason::kNumber, "malformed number, or out of range"},
      {key + time + ",\"x\":18446744073709551616}", Reason::kNumber,
       "malformed number, or out of range"},
      {key + time + ",\"x\":\"\xFF\"}", Reason::kEncoding, "not UTF-8"},
      {"{\"dataSetKey\":\"D\"," + time + "}", Reason::kMissing, "streamID"},
      {"{\"streamID\":\"\",\"dataSetKey\":\"D\"," + time + "}", Reason::kMissing,
       "streamID is empty"},
      {"{\"streamID\":\"S\"," + time + "}", Reason::kMissing, "dataSetKey"},
      {"{\"streamID\":\"S\",\"dataSetKey\":\"\"," + time + "}", Reason::kMissing,
       "dataSetKey is empty"},
      {"{\"streamID\":7,\"dataSetKey\":\"D\"," + time + "}", Reason::kType, "streamID"},
      {"{\"streamID\":null,\"dataSetKey\":\"D\"," + time + "}", Reason::kType, "streamID"},
      {key + "\"x\":1}", Reason::kMissing, "date and time, or timestamp"},
      {key + "\"date\":\"01/02/2019\"}", Reason::kMissing, "time"},
      {key + "\"time\":\"00:00:01\"}", Reason::kMissing, "date"},
      {key + "\"date\":\"13/02/2019\",\"time\":\"00:00:01\"}", Reason::kTime, "date"},
      {key + "\"date\":\"01/02/2019\",\"time\":\"24:00:00\"}", Reason::kTime, "time"},
      {key + "\"date\":\"01/02/2019\",\"time\":7}", Reason::kType, "time"},
      {key + "\"timestamp\":true}", Reason::kType, "timestamp"},
      {key + "\"timestamp\":\"soon\"}", Reason::kTime, "timestamp"},
  };
  // Also behind records that taught the decoder the shape.
  for (const int before : {0, 4}) {
    for (const auto& [record, reason, detail] : cases) {
      Bench bench;
      const core::Columns& columns =
          bench.decode(repeated(kGood, before) + record + "\n" + kGood + "\n");
      ASSERT_EQ(columns.rejects.size(), 1u) << record;
      const core::Reject& reject = columns.rejects[0];
      EXPECT_EQ(reject.reason, reason) << record << ": " << core::reason_name(reject.reason);
      EXPECT_EQ(reject.detail, detail) << record;
      EXPECT_EQ(reject.raw, record);
      EXPECT_EQ(reject.length, record.size());
      EXPECT_EQ(reject.record, static_cast<std::uint32_t>(before));
      EXPECT_EQ(reject.line, static_cast<std::uint32_t>(before));
      EXPECT_EQ(columns.tuples(), static_cast<std::uint32_t>(before) + 1) << record;
    }
  }
}

// Public reports: a bad line must not take good neighbours with it, nor an open quote swallow them.
TEST(JsonDecoder, KeepsTheNeighboursOfABadLine) {
  Mapping mapping;
  mapping.stream = "/a";
  mapping.dataset_constant = "d";
  Layout layout = layout_of(LayoutKind::kMapping);
  layout.mapping = mapping;
  for (const char* bad :
       {R"({"a":})", R"({"a":"x)", R"({"a":"x\)", "}", "\"", "[", "{\"a\":[[[["}) {
    Bench bench(layout, {{}});
    const std::string bytes = std::string("{\"a\":1}\n") + bad + "\n{\"a\":3}\n";
    const core::Columns& columns = bench.decode(bytes);
    ASSERT_EQ(columns.tuples(), 2u) << bad;
    EXPECT_EQ(bench.keys.key(columns.stream[0]).stream, "1");
    EXPECT_EQ(bench.keys.key(columns.stream[1]).stream, "3");
    ASSERT_EQ(columns.rejects.size(), 1u);
    EXPECT_EQ(columns.rejects[0].line, 1u);
    EXPECT_EQ(columns.rejects[0].byte_offset, 8u);
  }
}

TEST(JsonDecoder, CountsBlankLinesAsLinesOnly) {
  Bench bench;
  const core::Columns& columns =
      bench.decode("\n \t\r\n" + repeated(kGood, 3) + "\r\n" + kGood + "\r\n\n" + kGood);
  EXPECT_EQ(columns.records, 5u);
  EXPECT_EQ(columns.tuples(), 5u);
  EXPECT_EQ(columns.lines, 8u);
  // A form feed is no blank of JSON.
  EXPECT_EQ(bench.decode("\f\n").rejects.size(), 1u);
}

TEST(JsonDecoder, LetsTheFirstOfEqualKeysCount) {
  for (const char* twice :
       {R"("price":1,"price":2)", R"("price":1,"x":0,"price":"a")", R"("price":1,"price":null)"}) {
    Bench bench;
    const core::Columns& columns = bench.decode(
        repeated(R"({"streamID":"A","streamID":"B","dataSetKey":"D","timestamp":1546387201,)" +
                     std::string(twice) + "}",
                 4));
    ASSERT_EQ(columns.tuples(), 4u);
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(bench.keys.key(columns.stream[i]).stream, "A");
      EXPECT_EQ(bench.value(0, i), 1.0);
    }
  }
  Bench bench;
  const core::Columns& columns = bench.decode(repeated(
      R"({"streamID":"A","dataSetKey":"D","timestamp":1546387201,"price":null,"price":2})", 4));
  ASSERT_EQ(columns.tuples(), 4u);
  for (const Kind kind : columns.fields[0].kinds) EXPECT_EQ(kind, Kind::kMissing);
}

TEST(JsonDecoder, KeepsExactIntegersTextAndMissingValuesApart) {
  Bench bench(Layout{}, {{"price", "volume", "objectID"}});
  std::string bytes = repeated(kGood, 3);
  const auto record = [](const std::string& price) {
    return R"({"streamID":"S1","dataSetKey":"D","date":"01/02/2019","time":"00:00:01","price":)" +
           price + ",\"volume\":2}\n";
  };
  for (const char* price : {"8838840643388017390", "-9007199254740993", "\"six\"", "\"\"", "null",
                            "true", "[1]", "-0", "6e0"}) {
    bytes += record(price);
  }
  const core::Columns& columns = bench.decode(bytes);
  ASSERT_EQ(columns.tuples(), 12u);
  const core::Column& price = columns.fields[0];
  const std::vector<Kind> kinds = {Kind::kNumber,  Kind::kNumber,  Kind::kNumber, Kind::kUint64,
                                   Kind::kInt64,   Kind::kText,    Kind::kText,   Kind::kMissing,
                                   Kind::kMissing, Kind::kMissing, Kind::kNumber, Kind::kNumber};
  ASSERT_EQ(price.kinds.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(price.kinds[i], kinds[i]) << i;
  EXPECT_EQ(price.bits[3], 8838840643388017390u);
  EXPECT_EQ(core::text_of({price.bits[5], Kind::kText}, columns.text.data()), "six");
  EXPECT_EQ(price.bits[10], 0u);
  EXPECT_EQ(bench.value(0, 11), 6.0);
  EXPECT_TRUE(columns.fields[1].kinds.empty());
  // objectID is no field.
  for (const Kind kind : columns.fields[2].kinds) EXPECT_EQ(kind, Kind::kMissing);
}

TEST(JsonDecoder, ChecksNumbersThatNobodyAskedFor) {
  Bench bench(Layout{}, {{}});
  const std::string bad =
      R"({"streamID":"S1","dataSetKey":"D","date":"01/02/2019","time":"00:00:01","price":6.5,"volume":02})";
  const core::Columns& columns = bench.decode(repeated(kGood, 3) + bad + "\n");
  EXPECT_EQ(columns.tuples(), 3u);
  ASSERT_EQ(columns.rejects.size(), 1u);
  EXPECT_EQ(columns.rejects[0].reason, Reason::kNumber);
}

TEST(JsonDecoder, PutsRecordsThatWerePassedOverInTheirPlace) {
  Bench bench;
  bench.block = block_of(repeated(kGood, 4));
  const auto line = static_cast<std::uint64_t>(std::string_view(kGood).size() + 1);
  bench.block.byte_offset = 10'000;
  bench.block.skipped = {{0, 1000, 8999, "head0"}, {2, 10'000 + 2 * line, 5000, "head2"}};
  bench.decoder->decode(bench.block, bench.fields, bench.columns);
  const core::Columns& columns = bench.columns;
  EXPECT_EQ(columns.records, 6u);
  ASSERT_EQ(columns.tuples(), 4u);
  EXPECT_EQ(columns.record[0], 1u);
  EXPECT_EQ(columns.record[1], 2u);
  EXPECT_EQ(columns.record[2], 4u);
  ASSERT_EQ(columns.rejects.size(), 2u);
  EXPECT_EQ(columns.rejects[0].reason, Reason::kTooLong);
  EXPECT_EQ(columns.rejects[0].record, 0u);
  EXPECT_EQ(columns.rejects[1].record, 3u);
  EXPECT_EQ(columns.rejects[1].line, 3u);
  EXPECT_EQ(columns.rejects[1].raw, "head2");
  EXPECT_EQ(columns.lines, 6u);
}

TEST(JsonDecoder, CutsTheSampleOfALongReject) {
  Bench bench;
  const std::string bad = "{\"a\":\"" + std::string(10'000, 'x');
  const core::Columns& columns = bench.decode(bad + "\n");
  ASSERT_EQ(columns.rejects.size(), 1u);
  EXPECT_EQ(columns.rejects[0].raw.size(), core::kRejectSample);
  EXPECT_EQ(columns.rejects[0].length, bad.size());
}

TEST(JsonDecoder, TakesKeysOfEveryLength) {
  for (std::size_t length = 1; length <= 300; ++length) {
    Bench bench;
    const std::string name(length, 'k');
    const core::Columns& columns =
        bench.decode(repeated(R"({"streamID":")" + name + R"(","dataSetKey":")" + name +
                                  R"(","timestamp":1546387201,"price":1})",
                              4));
    ASSERT_EQ(columns.tuples(), 4u) << length;
    EXPECT_EQ(bench.keys.size(), 1u);
    EXPECT_EQ(bench.keys.key(columns.stream[3]).stream, name);
    EXPECT_EQ(bench.keys.key(columns.stream[3]).dataset, name);
  }
}

// What stands behind a block's last byte must not matter, wherever the block ends.
TEST(JsonDecoder, ReadsEveryTruncationOfARecordAsTheDomDoes) {
  for (const std::string& line :
       {std::string(kGood),
        std::string("{\"streamID\":\"S\",\"dataSetKey\":\"D\",\"timestamp\":1546387201}")}) {
    for (std::size_t n = 0; n <= line.size(); ++n) {
      for (const char* behind : {"}\n", "\"}\n", "0}\n", "\n"}) {
        Bench bench;
        const std::string bytes = repeated(line, 3) + line.substr(0, n);
        bench.block = block_of(bytes, line.substr(n) + behind);
        bench.decoder->decode(bench.block, bench.fields, bench.columns);
        ASSERT_EQ(difference(JsonReference(bench.layout).decode(bytes, bench.fields), bench.columns,
                             bench.keys),
                  "")
            << n;
      }
    }
  }
}

TEST(JsonDecoder, ReadsRecordsOfEveryLength) {
  Bench bench;
  for (std::size_t n = 0; n <= 200; ++n) {
    std::string record = kGood;
    record.insert(record.size() - 1, std::string(n > record.size() ? n - record.size() : 0, ' '));
    record.resize(n, ' ');
    ASSERT_EQ(bench.difference_from_reference(repeated(kGood, 2) + record + "\n" + kGood), "") << n;
  }
}

// Any cut of the input into blocks gives the same tuples, on every SIMD target, whatever a decoder
// saw before.
TEST(JsonDecoder, DependsNeitherOnCutsNorOnTargetNorOnThePast) {
  JsonGenerator generator(77);
  const Layout layout = layout_of(LayoutKind::kSaams);
  std::string bytes;
  std::vector<JsonGenerator::Template> templates;
  for (int i = 0; i < 6; ++i) templates.push_back(generator.make_template(layout));
  for (int i = 0; i < 400; ++i) {
    std::string record = generator.record(generator.pick(templates));
    if (generator.one_in(20)) generator.mutate(record);
    bytes += record;
  }
  const core::FieldSet fields{{"price", "note", "volume"}};
  const std::vector<ReferenceRecord> expected = JsonReference(layout).decode(bytes, fields);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{500}, std::size_t{4096}, bytes.size()}) {
      Bench bench(layout, fields);
      std::size_t at = 0, seen = 0;
      while (at < bytes.size()) {
        std::size_t end = bytes.find('\n', std::min(bytes.size() - 1, at + size - 1));
        end = end == std::string::npos ? bytes.size() : end + 1;
        const std::string block = bytes.substr(at, end - at);
        bench.decode(block);
        std::vector<ReferenceRecord> part(
            expected.begin() + static_cast<std::ptrdiff_t>(seen),
            expected.begin() + static_cast<std::ptrdiff_t>(seen + bench.columns.records));
        const std::uint32_t line = part.empty() ? 0 : part[0].line;
        std::uint32_t before = 0;
        for (std::size_t i = at; !part.empty() && i < part[0].offset; ++i)
          before += bytes[i] == '\n';
        for (ReferenceRecord& record : part) {
          record.offset -= at;
          record.line -= line - before;
        }
        ASSERT_EQ(difference(part, bench.columns, bench.keys), "")
            << hwy::TargetName(target) << ", blocks of " << size;
        seen += bench.columns.records;
        at = end;
      }
      EXPECT_EQ(seen, expected.size());
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(JsonDecoder, ReadsAMappingOfPointers) {
  Layout layout = layout_of(LayoutKind::kMapping);
  layout.mapping.stream = "/o/id";
  layout.mapping.dataset = "/a/1";
  layout.mapping.time = "/t";
  layout.mapping.time_unit = "ms";
  layout.mapping.fields = {{"price", "/o/p~1q"}, {"x", "/x"}};
  Bench bench(layout, {{"x", "price", "unknown"}});
  const core::Columns& columns = bench.decode(repeated(
      R"({"t":1546387201000,"o":{"id":1.50,"p/q":2.5},"a":[0,"D"],"x":"text","unknown":1})", 3));
  ASSERT_EQ(columns.tuples(), 3u);
  EXPECT_EQ(bench.keys.key(columns.stream[0]).stream, "1.50");  // as it is written
  EXPECT_EQ(bench.keys.key(columns.stream[0]).dataset, "D");
  EXPECT_EQ(columns.time[0], 1'546'387'201'000'000'000);
  EXPECT_EQ(bench.value(1, 2), 2.5);
  EXPECT_EQ(columns.fields[0].kinds[2], Kind::kText);
  EXPECT_EQ(columns.fields[2].kinds[2], Kind::kMissing);
}

TEST(JsonDecoder, TakesNumbersAsKeysByTheirText) {
  Layout layout = layout_of(LayoutKind::kMapping);
  layout.mapping.stream = "/id";
  layout.mapping.dataset = "/set";
  Bench bench(layout, {{"x"}});
  std::string bytes;
  for (const char* set :
       {"1", "1", "1", "1", "2", "1.0", "1e0", "-1", "\"1\"", "2", "2", "2", "1"}) {
    for (const char* id : {"7", "7.0", "\"7\"", "12345678901234567890123"}) {
      bytes += std::string("{\"id\":") + id + ",\"set\":" + set + ",\"x\":1}\n";
    }
  }
  EXPECT_EQ(bench.difference_from_reference(bytes), "");
  EXPECT_EQ(bench.columns.rejects.size(), 13u);  // the last of the ids is out of range
}

TEST(JsonDecoder, SurvivesDeepNesting) {
  Bench bench;
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  const core::Columns& columns = bench.decode(deep + "\n" + kGood + "\n");
  ASSERT_EQ(columns.rejects.size(), 1u);
  EXPECT_EQ(columns.rejects[0].detail, "nested too deep");
  EXPECT_EQ(columns.tuples(), 1u);
}

TEST(JsonDecoder, FollowsTheFieldSet) {
  Bench bench;
  bench.decode(repeated(kGood, 5));
  bench.fields = {{"volume"}};
  EXPECT_EQ(bench.difference_from_reference(repeated(kGood, 5)), "");
  bench.fields = {{}};
  EXPECT_EQ(bench.difference_from_reference(repeated(kGood, 5)), "");
  bench.fields = {{"nothing", "price", "streamID"}};
  EXPECT_EQ(bench.difference_from_reference(repeated(kGood, 5)), "");
}

}  // namespace
}  // namespace weir::ingest
