#include "weir/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "core/utf8.h"
#include "engine/json_text.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

// The keys of an object in order; fails the test if it is not one JSON object on one line.
std::vector<std::string> keys_of(const std::string& json) {
  std::vector<std::string> keys;
  EXPECT_EQ(json.find('\n'), std::string::npos);
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const auto error = parser.parse(json).get(object);
  EXPECT_EQ(error, simdjson::SUCCESS) << json;
  if (error == simdjson::SUCCESS) {
    for (const auto field : object) keys.emplace_back(field.key);
  }
  return keys;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

const std::vector<std::string> kEstimateKeys = words(
    "requestID uid dataSetKey streamID field synopsisID synopsis query kind n estimate lower "
    "upper confidence exact memory_bytes epoch seq as_of");
const std::vector<std::string> kAckKeys =
    words("requestID uid dataSetKey streamID field synopsisID synopsis kind epoch seq as_of");
const std::vector<std::string> kSummaryKeys = words(
    "records tuples rejected late unrouted applied bytes streams datasets seconds "
    "records_per_second threads placement state_bytes digest epoch builds_without_tuples layout "
    "resumed_from snapshots rescales");

Answer full() {
  Answer a;
  a.kind = Answer::Kind::kAdHoc;
  a.request_id = "8838840643388017390";
  a.uid = "\"me\"";
  a.dataset = "Forex";
  a.stream = "EURTRY";
  a.field = "price";
  a.synopsis_id = 1;
  a.synopsis = "CountMin";
  a.query = "6.0654";
  a.n = 1000;
  a.estimate = "12";
  a.lower = 10;
  a.upper = 12;
  a.confidence = 0.99;
  a.memory_bytes = 15008;
  a.epoch = Epoch{3};
  a.seq = RecordPosition{1005};
  a.as_of = Time{1'546'387'201'500'000'000};
  return a;
}

TEST(AnswerJson, HasTheKeysOfTheSpecificationInOrder) {
  EXPECT_EQ(keys_of(full().to_json()), kEstimateKeys);
  EXPECT_EQ(full().to_json(),
            R"({"requestID":8838840643388017390,"uid":"me","dataSetKey":"Forex",)"
            R"("streamID":"EURTRY","field":"price","synopsisID":1,"synopsis":"CountMin",)"
            R"("query":6.0654,"kind":"ad-hoc","n":1000,"estimate":12,"lower":10,"upper":12,)"
            R"("confidence":0.99,"exact":false,"memory_bytes":15008,"epoch":3,"seq":1005,)"
            R"("as_of":"2019-01-02T00:00:01.5Z"})");
}

TEST(AnswerJson, IsNullWhereThereIsNothing) {
  Answer a;
  a.kind = Answer::Kind::kContinuous;
  a.reason = "no value yet";
  EXPECT_EQ(a.to_json(),
            R"({"requestID":null,"uid":null,"dataSetKey":null,"streamID":null,"field":null,)"
            R"("synopsisID":null,"synopsis":null,"query":null,"kind":"continuous","n":0,)"
            R"("estimate":null,"lower":null,"upper":null,"confidence":null,"exact":false,)"
            R"("memory_bytes":0,"epoch":0,"seq":0,"as_of":null,"reason":"no value yet"})");
}

TEST(AnswerJson, SaysEveryStreamByAnEmptyName) {
  Answer a = full();
  a.stream.clear();
  EXPECT_THAT(a.to_json(), HasSubstr(R"("dataSetKey":"Forex","streamID":"",)"));
}

TEST(AnswerJson, OfAcksAndErrorsHasNoNumbersThatLookLikeEstimates) {
  Answer ack = full();
  ack.kind = Answer::Kind::kAck;
  ack.query.clear();
  ack.estimate.clear();
  ack.reason = "exists already";
  ack.partition = "2";
  auto keys = kAckKeys;
  keys.insert(keys.end(), {"partition", "reason"});
  EXPECT_EQ(keys_of(ack.to_json()), keys);

  Answer error = full();
  error.kind = Answer::Kind::kError;
  error.reason = "no CountMin stands there";
  keys = kAckKeys;
  keys.insert(keys.begin() + 7, "query");
  keys.push_back("reason");
  EXPECT_EQ(keys_of(error.to_json()), keys);
}

TEST(AnswerJson, OfAListHasItsNumberAndItsEntries) {
  Answer list;
  list.kind = Answer::Kind::kAck;
  list.n = 1;
  list.estimate = R"([{"streamID":"a"}])";
  EXPECT_THAT(list.to_json(), HasSubstr(R"("kind":"ack","n":1,"estimate":[{"streamID":"a"}],)"));
}

TEST(AnswerJson, NeverHoldsNaNOrInfinity) {
  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    Answer a = full();
    a.lower = a.upper = a.confidence = wrong;
    EXPECT_THAT(a.to_json(), HasSubstr(R"("lower":null,"upper":null,"confidence":null)"));
    EXPECT_EQ(keys_of(a.to_json()), kEstimateKeys);
  }
}

TEST(AnswerJson, NeverHoldsBytesThatAreNotUtf8) {
  Answer a = full();
  a.stream = "a\"b\\c\n\x01\xff\xc3";
  EXPECT_THAT(a.to_json(), HasSubstr(R"("streamID":"a\"b\\c\n\u0001)"
                                     "\xef\xbf\xbd\xef\xbf\xbd\","));
}

TEST(JsonText, ReadsBackAsItWas) {
  std::mt19937 random(3);
  simdjson::dom::parser parser;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (unsigned n = random() % 12; n > 0; --n) {
      // Bytes that make characters, and wrong ones, with good chances.
      static constexpr std::string_view kBytes =
          "a\"\\\n\x7f\x80\xbf\xc2\xe0\xa0\xed\x9f\xf0\x90\xf4\x8f\xff";
      bytes += random() % 3 == 0 ? static_cast<char>(random()) : kBytes[random() % kBytes.size()];
    }
    const std::string json = engine::json_text(bytes);
    std::string_view back;
    ASSERT_EQ(parser.parse(json).get(back), simdjson::SUCCESS) << json;
    const bool valid = simdjson::validate_utf8(bytes);
    ASSERT_EQ(core::is_utf8(bytes), valid);
    if (valid) {
      ASSERT_EQ(back, bytes);
    }
  }
}

TEST(JsonText, WritesTheShortestNumbersThatReadBack) {
  EXPECT_EQ(engine::json_number(0.1), "0.1");
  EXPECT_EQ(engine::json_number(6.0), "6");
  EXPECT_EQ(engine::json_number(1e300), "1e+300");
  EXPECT_EQ(engine::json_number(std::nan("")), "null");
  std::mt19937_64 random(5);
  simdjson::dom::parser parser;
  for (int round = 0; round < 20'000; ++round) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    double back = 0;
    ASSERT_EQ(parser.parse(engine::json_number(value)).get(back), simdjson::SUCCESS);
    ASSERT_EQ(back, value);
  }
}

TEST(JsonText, WritesTimesAsShortAsTheyAre) {
  const auto iso = [](std::int64_t ns) { return engine::iso_time(Time{ns}); };
  EXPECT_EQ(iso(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso(1'546'387'201'000'000'000), "2019-01-02T00:00:01Z");
  EXPECT_EQ(iso(1'546'387'201'000'000'001), "2019-01-02T00:00:01.000000001Z");
  EXPECT_EQ(iso(951'782'400'250'000'000), "2000-02-29T00:00:00.25Z");
  EXPECT_EQ(iso(-1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(iso(std::numeric_limits<std::int64_t>::max()), "2262-04-11T23:47:16.854775807Z");
}

TEST(JsonText, WritesBase64WithPadding) {
  const std::pair<const char*, const char*> kKnown[] = {// RFC 4648, section 10
                                                        {"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kKnown) EXPECT_EQ(engine::base64(bytes), text);
}

TEST(RejectJson, ShowsTextAsTextAndOtherBytesAsBase64) {
  Reject r;
  r.source = "ticks.ndjson";
  r.line = 12;
  r.byte_offset = 1300;
  r.record = RecordPosition{11};
  r.reason = "json";
  r.detail = "a string is not closed";
  r.raw = "{\"a\":\"\xc3\xa9";
  r.length = r.raw.size();
  EXPECT_EQ(r.to_json(),
            R"({"source":"ticks.ndjson","line":12,"byte_offset":1300,"record":11,"reason":"json",)"
            R"("detail":"a string is not closed","length":8,"raw":"{\"a\":\")"
            "\xc3\xa9\"}");
  r.raw = "\xff\xfe\n";
  r.length = 3;
  EXPECT_THAT(r.to_json(), HasSubstr(R"("length":3,"raw_base64":"//4K"})"));
}

TEST(RejectJson, TakesASampleThatWasCutWithinACharacterForText) {
  Reject r;
  r.raw = "ab\xe4\xb8";  // the first two bytes of three
  r.length = 5000;
  EXPECT_THAT(r.to_json(), HasSubstr(R"("raw":"ab"})"));
  r.length = r.raw.size();  // not cut: the record itself is wrong
  EXPECT_THAT(r.to_json(), HasSubstr("raw_base64"));
  r.raw = "ab\xff";
  r.length = 5000;
  EXPECT_THAT(r.to_json(), HasSubstr("raw_base64"));
}

TEST(SummaryJson, HasTheKeysOfTheSpecificationInOrder) {
  Summary s;
  s.records = 10;
  s.tuples = 8;
  s.applied = 7;
  s.unrouted = 1;
  s.rejected = {{"json", 1}, {"missing", 1}};
  s.seconds = 0.5;
  s.threads = 2;
  s.placement = "2 threads on cores 0-1";
  s.builds_without_tuples = {"Forex/USDTRY/price CountMin"};
  s.layout = "saams";
  EXPECT_TRUE(s.conserved());
  EXPECT_EQ(s.rejected_total(), 2u);
  EXPECT_EQ(keys_of(s.to_json()), kSummaryKeys);
  EXPECT_EQ(s.to_json(),
            R"({"records":10,"tuples":8,"rejected":{"json":1,"missing":1},"late":0,"unrouted":1,)"
            R"("applied":7,"bytes":0,"streams":0,"datasets":0,"seconds":0.5,)"
            R"("records_per_second":20,"threads":2,"placement":"2 threads on cores 0-1",)"
            R"("state_bytes":0,"digest":null,"epoch":0,)"
            R"("builds_without_tuples":["Forex/USDTRY/price CountMin"],"layout":"saams",)"
            R"("resumed_from":null,"snapshots":{"kept":0,"failed":0},)"
            R"("rescales":{"count":0,"wait_ms":{"median":0,"p99":0,"max":0}}})");
  s.resumed_from = RecordPosition{4};
  s.snapshots = 3;
  s.snapshots_failed = 1;
  s.rescales = {2, 1'500'000, 3'000'000, 3'000'000};
  EXPECT_THAT(s.to_json(),
              HasSubstr(R"("resumed_from":4,"snapshots":{"kept":3,"failed":1},)"
                        R"("rescales":{"count":2,"wait_ms":{"median":1.5,"p99":3,"max":3}}})"));
  EXPECT_EQ(s.records_per_second(), 12);
  s.refused = {{"D/*/price AMS", {1, 2, 3}}};
  s.faults = {"D/A/price TopK: \"boom\""};
  s.source_error = "a.gz: cut off";
  s.answers_lost = 2;
  auto keys = kSummaryKeys;
  keys.insert(keys.end(), {"refused", "faults", "source_error", "answers_lost"});
  EXPECT_EQ(keys_of(s.to_json()), keys);
  EXPECT_THAT(s.to_json(),
              HasSubstr(R"("refused":{"D/*/price AMS":{"late":1,"without_time":2,)"
                        R"("without_weight":3}},"faults":["D/A/price TopK: \"boom\""],)"));
}

TEST(SummaryJson, KnowsWhenRecordsAreNotConserved) {
  Summary s;
  EXPECT_TRUE(s.conserved());
  s.records = 1;
  EXPECT_FALSE(s.conserved());
  s.rejected["json"] = 1;
  EXPECT_TRUE(s.conserved());
  s.records = s.tuples = 1;
  s.rejected.clear();
  EXPECT_FALSE(s.conserved());
  s.late = 1;
  EXPECT_TRUE(s.conserved());
}

// The answers that the documentation shows are lines of a real run: keys as ours, in our order.
TEST(AnswerExamples, OfTheDocumentationHaveTheKeysThatAreWritten) {
  std::ifstream doc(std::filesystem::path(WEIR_SOURCE_DIR) / "docs/requests.md");
  ASSERT_TRUE(doc.good());
  std::size_t answers = 0;
  bool inside = false;
  for (std::string line; std::getline(doc, line);) {
    if (line.starts_with("```")) {
      inside = line.starts_with("```json answer");
      continue;
    }
    if (!inside) continue;
    ++answers;
    auto keys = keys_of(line);
    std::erase_if(keys, [](const std::string& k) {
      return k == "partition" || k == "reason" || k.starts_with("window");
    });
    if (line.find("\"kind\":\"ack\"") == std::string::npos &&
        line.find("\"kind\":\"error\"") == std::string::npos) {
      EXPECT_EQ(keys, kEstimateKeys) << line;
    } else {
      std::erase_if(
          keys, [](const std::string& k) { return k == "query" || k == "n" || k == "estimate"; });
      EXPECT_EQ(keys, kAckKeys) << line;
    }
  }
  EXPECT_GE(answers, 6u);
}

}  // namespace
}  // namespace weir
