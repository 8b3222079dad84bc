#include "engine/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "engine/json_scan.h"
#include "ingest/numbers.h"
#include "synopses/registry.h"
#include "tests/engine/requests.h"

namespace weir::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

core::Value number_in(const synopses::Scalar& scalar) {
  const auto* value = std::get_if<core::Value>(&scalar.value);
  return value == nullptr ? core::Value{} : *value;
}

std::filesystem::path root() { return WEIR_SOURCE_DIR; }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The three forms.

TEST(Requests, TakeThePapersBuild) {
  const Request r = good(paper(R"(["CountMin","price","Construct",0.002,0.99,1])", 1,
                               R"(,"noOfP":4,"requestID":7,"uid":"u","partition":2)"));
  EXPECT_EQ(r.op, Op::kBuild);
  EXPECT_EQ(r.dataset, "Forex");
  EXPECT_EQ(r.stream, "EURTRY");
  EXPECT_EQ(r.field, "price");
  EXPECT_EQ(r.synopsis_id, 1);
  EXPECT_EQ(r.params.values, (std::vector<double>{0.002, 0.99, 1}));
  EXPECT_EQ(r.parallelism, 4u);
  EXPECT_EQ(r.position().kind, Position::Kind::kStart);
}

TEST(Requests, TakeTheReleasedCodesWords) {
  const Request built = good(paper(R"(["CountMin","price","NotQueryable","0.002","0.99","1"])"));
  EXPECT_EQ(built.op, Op::kBuild);
  EXPECT_EQ(built.params.values, (std::vector<double>{0.002, 0.99, 1}));
  const Request asked = good(paper(R"(["6.0654","price","Queryable","Continues"])"));
  EXPECT_EQ(asked.op, Op::kQuery);
  EXPECT_TRUE(asked.continuous);
  const Request gone = good(paper(R"(["DELETE_REQUEST","price"])"));
  EXPECT_EQ(gone.op, Op::kDelete);
  EXPECT_EQ(gone.field, "price");
}

TEST(Requests, TakeThePapersQueriesDeletesLoadsAndSaves) {
  EXPECT_FALSE(good(paper(R"([6,"volume","Queryable","Ad-hoc"])")).continuous);
  EXPECT_TRUE(good(paper(R"([6,"volume","Queryable","Continuous"])")).continuous);
  EXPECT_EQ(good(paper(R"(["CountMin","price","Delete",0.002,0.99,1])")).op, Op::kDelete);
  const Request load = good(paper(R"(["LOAD_REQUEST","forex/cm.syn"])"));
  EXPECT_EQ(load.op, Op::kLoad);
  EXPECT_EQ(load.path, "forex/cm.syn");
  EXPECT_EQ(good(paper(R"(["SAVE_REQUEST","forex/cm.syn"])")).op, Op::kSave);
}

TEST(Requests, TakeTheNamedForm) {
  const Request r = good(
      named("build", R"(,"params":{"epsilon":0.002,"confidence":0.99,"seed":1},"parallelism":4)"));
  const Request same = good(paper(R"(["CountMin","price","Construct",0.002,0.99,1])"));
  EXPECT_EQ(r.op, Op::kBuild);
  EXPECT_EQ(r.params, same.params);
  EXPECT_EQ(r.dataset, same.dataset);
  EXPECT_EQ(r.stream, same.stream);
  EXPECT_EQ(r.field, same.field);
  EXPECT_EQ(r.parallelism, 4u);
  const Request q = good(named("query", R"(,"query":6.0654,"continuous":true)"));
  EXPECT_EQ(q.query_json, "6.0654");
  EXPECT_TRUE(q.continuous);
  EXPECT_EQ(good(named("delete")).op, Op::kDelete);
  EXPECT_EQ(good(named("save", R"(,"path":"a")")).path, "a");
  EXPECT_EQ(good(named("load", R"(,"path":"a")")).op, Op::kLoad);
  EXPECT_EQ(good(R"({"op":"list"})").op, Op::kList);
  EXPECT_EQ(good(R"({"op":"list","dataset":"Forex"})").dataset, "Forex");
}

TEST(Requests, MeanEveryStreamWhenTheStreamIsEmptyNullOrAbsent) {
  for (const char* stream : {R"("streamID":"",)", R"("streamID":null,)", ""}) {
    const Request r = good("{" + std::string(stream) +
                           R"("dataSetKey":"D","synopsisID":2,)"
                           R"("param":["HyperLogLog","price","Construct",0.02]})");
    EXPECT_EQ(r.stream, "");
  }
}

TEST(Requests, IgnoreOtherKeysInThePapersForm) {
  good(paper(R"([6,"volume","Queryable","Ad-hoc"])", 1, R"(,"timestamp":5,"topic":{"a":[1]})"));
}

TEST(Requests, ComeAsAnArrayOneObjectOrOneALine) {
  const std::string list = R"({"op":"list"})";
  EXPECT_EQ(parse("[]").size(), 0u);
  EXPECT_EQ(parse("[" + list + ",\n" + list + "]").size(), 2u);
  EXPECT_EQ(parse("\xef\xbb\xbf" + list).size(), 1u);
  EXPECT_EQ(parse(list + "\r\n\n  " + list + "\n").size(), 2u);
  EXPECT_EQ(parse("{\n \"op\" :\n \"list\"\n}\n{\n\"op\":\"list\"}").size(), 2u);
}

// Types and ids.

TEST(Requests, KnowTypesByNameAliasAndId) {
  EXPECT_EQ(good(paper(R"(["hyperloglog","price","Construct",0.02])", 2)).synopsis_id, 2);
  EXPECT_EQ(good(R"({"op":"query","synopsisID":4,"dataset":"D","field":"price"})").synopsis_id, 4);
  EXPECT_EQ(good(R"({"dataSetKey":"D","param":["DFT","p","Construct",500,200,8]})").synopsis_id, 4);
}

TEST(Requests, RefuseATypeAndAnIdThatDisagreeAndNameBoth) {
  EXPECT_EQ(error_of(paper(R"(["CountMin","price","Construct",0.002,0.99,1])", 2)),
            "param[0] names CountMin (id 1), but synopsisID is 2 (HyperLogLog)");
  EXPECT_EQ(
      error_of(R"({"op":"delete","synopsis":"DFT","synopsisID":77,"dataset":"D","field":"p"})"),
      "synopsis names DFT (id 4), but synopsisID is 77, which there is not");
}

TEST(Requests, TellAMissingTypeFromAMisspelledOne) {
  EXPECT_EQ(error_of(R"({"op":"build","synopsis":"CountMn","dataset":"D","field":"p"})"),
            "synopsis: unknown synopsis \"CountMn\"; did you mean \"CountMin\"?");
  EXPECT_THAT(
      error_of(R"({"op":"build","synopsis":"Flink","dataset":"D","field":"p"})"),
      AllOf(HasSubstr("unknown synopsis \"Flink\"; there are: CountMin (1), HyperLogLog (2)")));
  EXPECT_THAT(error_of(paper(R"([1,"price","Queryable","Ad-hoc"])", 99)),
              HasSubstr("unknown synopsis id 99; there are: CountMin (1)"));
  // Every kind of SEMANTICS is known by id, name and alias, built in or not.
  const std::pair<int, std::vector<const char*>> kinds[] = {{1, {"CountMin"}},
                                                            {2, {"HyperLogLog"}},
                                                            {3, {"BloomFilter", "BloomFitler"}},
                                                            {4, {"DFT"}},
                                                            {5, {"LossyCounting"}},
                                                            {6, {"StickySampling"}},
                                                            {7, {"AMS", "AMSSketch"}},
                                                            {8, {"GKQuantiles"}},
                                                            {9, {"LSH", "LSHsynopsis"}},
                                                            {10, {"WindowSketchQuantiles"}}};
  for (const auto& [id, names] : kinds) {
    for (const char* name : names) {
      const std::string given = "[\"" + std::string(name) + R"(","price","Delete"])";
      const std::string error = error_of(paper(given, id));
      if (synopses::find_type(id) != nullptr) {
        EXPECT_EQ(error, "");
      } else {
        EXPECT_THAT(error,
                    AllOf(HasSubstr("(id " + std::to_string(id) + ") is not in this version"),
                          HasSubstr("there are: CountMin (1)")));
      }
      EXPECT_THAT(error_of(paper(given, id == 1 ? 2 : 1)), HasSubstr("synopsisID is"));
    }
  }
}

// Values.

TEST(Requests, CanonicaliseNumbersOfQueries) {
  const auto value = [](std::string_view text) {
    return number_in(good(named("query", ",\"query\":" + std::string(text))).query.args.at(0));
  };
  EXPECT_EQ(value("6"), value("6.0"));
  EXPECT_EQ(value("6"), value("6e0"));
  EXPECT_EQ(value("0"), value("-0.0"));
  EXPECT_EQ(value("-0"), value("0"));
  // Equal to what a record with the same text stores.
  for (const char* text : {"6.0654", "8838840643388017390", "18446744073709551615", "-1",
                           "-9223372036854775808", "9007199254740993", "1e300", "5e-324", "0.1"}) {
    core::Value stored;
    ASSERT_EQ(ingest::parse_json_number(text, stored), ingest::NumberOutcome::kOk);
    EXPECT_EQ(value(text), stored) << text;
  }
}

TEST(Requests, KeepAnItemOf63BitsExact) {
  const Request r = good(paper(R"([8838840643388017390,"price","Queryable","Ad-hoc"])"));
  EXPECT_EQ(number_in(r.query.args.at(0)),
            (core::Value{8838840643388017390u, core::Kind::kUint64}));
  EXPECT_EQ(r.query_json, "8838840643388017390");
}

TEST(Requests, KeepTextsNullsFlagsAndArraysOfQueriesAsTheyAre) {
  const Request text = good(named("query", R"(,"query":"6.0654")"));
  EXPECT_EQ(std::get<std::string>(text.query.args.at(0).value), "6.0654");
  EXPECT_FALSE(text.query.was_array);
  EXPECT_TRUE(good(named("query")).query.args.empty());
  EXPECT_EQ(good(named("query")).query_json, "");
  const Request null = good(named("query", R"(,"query":null)"));
  ASSERT_EQ(null.query.args.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(null.query.args[0].value));
  const Request array =
      good(paper(R"([ [ 6, "CountEstimation" , true ],"p","Queryable","Ad-hoc"])"));
  EXPECT_TRUE(array.query.was_array);
  ASSERT_EQ(array.query.args.size(), 3u);
  EXPECT_EQ(std::get<bool>(array.query.args[2].value), true);
  EXPECT_EQ(array.query_json, R"([6,"CountEstimation",true])");
}

TEST(Requests, EchoIdentifiersDigitForDigit) {
  for (const char* id : {"7", "\"q-1\"", "8838840643388017390", "1.50", "true", "\"\\u00e9\\n\"",
                         "\"\xc3\xa9\"", "-0", "1e3"}) {
    const std::string rest =
        std::string(",\"requestID\": ") + id + " ,\"uid\":" + id + ",\"partition\":" + id;
    for (const std::string& request :
         {named("delete", rest), paper(R"(["DELETE_REQUEST","price"])", 1, rest)}) {
      const Request r = good(request);
      EXPECT_EQ(r.request_id, id);
      EXPECT_EQ(r.uid, id);
      EXPECT_EQ(r.partition, id);
    }
  }
  EXPECT_EQ(good(named("delete", R"(,"requestID":null)")).request_id, "");
}

// Positions.

TEST(Requests, TakeEffectWhereTheySay) {
  const auto at = [](std::string_view position) {
    return good(named("query", ",\"at\":" + std::string(position))).position();
  };
  EXPECT_EQ(at(R"({"start":true})").kind, Position::Kind::kStart);
  EXPECT_EQ(at(R"({"end":true})").kind, Position::Kind::kEnd);
  EXPECT_EQ(at(R"({"record":0})").kind, Position::Kind::kRecord);
  EXPECT_EQ(raw(at(R"({"record":18446744073709551615})").record), 18446744073709551615u);
  for (const char* time :
       {R"({"time":1546387201})", R"({"time":1546387201000})", R"({"time":1546387201.0})",
        R"({"time":"2019-01-02T00:00:01Z"})", R"({"time":"2019-01-02 02:00:01+02:00"})"}) {
    EXPECT_EQ(at(time).kind, Position::Kind::kTime);
    EXPECT_EQ(at(time).time.ns, 1'546'387'201 * kNanosPerSecond) << time;
  }
  EXPECT_EQ(at(R"({"time":"2019-01-02T00:00:01.000000001Z"})").time.ns,
            1'546'387'201 * kNanosPerSecond + 1);
}

TEST(Requests, TakeEffectAtTheStartOrTheEndWhenTheySayNothing) {
  EXPECT_EQ(good(named("build", kParams)).position().kind, Position::Kind::kStart);
  EXPECT_EQ(good(named("load", R"(,"path":"a")")).position().kind, Position::Kind::kStart);
  EXPECT_EQ(good(named("query", R"(,"continuous":true)")).position().kind, Position::Kind::kStart);
  EXPECT_EQ(good(named("query")).position().kind, Position::Kind::kEnd);
  EXPECT_EQ(good(named("save", R"(,"path":"a")")).position().kind, Position::Kind::kEnd);
  EXPECT_EQ(good(named("delete")).position().kind, Position::Kind::kEnd);
  EXPECT_EQ(good(R"({"op":"list"})").position().kind, Position::Kind::kEnd);
}

// Robustness.

TEST(Requests, SurviveEveryTruncationAndMutation) {
  const std::string seeds[] = {
      read_file(root() / "examples/requests/paper.json"),
      read_file(root() / "examples/requests/named.json"),
      named("build", R"(,"params":{"epsilon":0.002,"confidence":0.99},"at":{"time":"2019-01-02"})"),
  };
  constexpr std::string_view kBytes = "{}[]\",:\\0123456789.eE+-tfn u\x01\xc3\xff\n";
  std::mt19937 random(7);
  std::size_t whole = 0;
  for (const std::string& seed : seeds) {
    for (std::size_t n = 0; n < std::min<std::size_t>(seed.size(), 2000); ++n) {
      static_cast<void>(parse_requests(std::string_view(seed).substr(0, n)));
    }
    for (int round = 0; round < 3000; ++round) {
      std::string text = seed;
      for (unsigned change = 0; change < 1 + random() % 3; ++change) {
        const std::size_t at = random() % text.size();
        switch (random() % 4) {
          case 0:
            text[at] = kBytes[random() % kBytes.size()];
            break;
          case 1:
            text.erase(at, 1 + random() % 8);
            break;
          case 2:
            text.insert(at, 1, kBytes[random() % kBytes.size()]);
            break;
          default:
            text.insert(at, text.substr(random() % text.size(), random() % 20));
            break;
        }
        if (text.empty()) text = " ";
      }
      const auto requests = parse_requests(text);
      if (!requests.ok()) {
        EXPECT_EQ(requests.status().message().find('\n'), std::string::npos);
        continue;
      }
      ++whole;
      for (const Request& r : *requests) {
        EXPECT_LT(r.error.size(), 1100u);
        if (r.error.empty() && r.op == Op::kBuild) {
          EXPECT_NE(synopses::find_type(r.synopsis_id), nullptr);
          EXPECT_FALSE(r.params.values.empty());
        }
      }
    }
  }
  EXPECT_GT(whole, 500u);  // mutants that are still JSON are the interesting ones
}

TEST(JsonScan, GivesChildrenAndCompactTexts) {
  const std::string_view text = R"({ "a" : [1, {"b":"]}"}] ,"c\"":  "x y" , "d":{} })";
  JsonScan scan(text);
  std::string_view raw;
  ASSERT_TRUE(scan.value(raw)) << scan.what();
  EXPECT_EQ(raw, text);
  EXPECT_THAT(json_children(raw), testing::ElementsAre(R"([1, {"b":"]}"}])", R"("x y")", "{}"));
  EXPECT_THAT(json_children("[ ]"), testing::IsEmpty());
  EXPECT_EQ(json_compact(raw), R"({"a":[1,{"b":"]}"}],"c\"":"x y","d":{}})");
}

}  // namespace
}  // namespace weir::engine
