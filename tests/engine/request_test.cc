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

namespace weir::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<Request> parse(std::string_view text) {
  auto requests = parse_requests(text);
  EXPECT_TRUE(requests.ok()) << requests.status().message() << "\n" << text;
  return requests.ok() ? *std::move(requests) : std::vector<Request>();
}

Request one(std::string_view text) {
  auto requests = parse(text);
  EXPECT_EQ(requests.size(), 1u) << text;
  return requests.empty() ? Request() : requests.front();
}

// A request that is expected to be right.
Request good(std::string_view text) {
  Request request = one(text);
  EXPECT_EQ(request.error, "") << text;
  return request;
}

std::string error_of(std::string_view text) { return one(text).error; }

std::string bad_text(std::string_view text) {
  const auto requests = parse_requests(text);
  EXPECT_FALSE(requests.ok()) << text;
  return requests.status().message();
}

core::Value stored_number(const synopses::Scalar& scalar) {
  const auto* value = std::get_if<core::Value>(&scalar.value);
  return value == nullptr ? core::Value{} : *value;
}

// The paper's form around a param array.
std::string paper(std::string_view param, int id = 1, std::string_view rest = "") {
  return R"({"streamID":"EURTRY","synopsisID":)" + std::to_string(id) +
         R"(,"dataSetKey":"Forex","param":)" + std::string(param) + std::string(rest) + "}";
}

// The named form around further keys.
std::string named(std::string_view op, std::string_view rest = "") {
  return R"({"op":")" + std::string(op) +
         R"(","synopsis":"CountMin","dataset":"Forex","stream":"EURTRY","field":"price")" +
         std::string(rest) + "}";
}
constexpr std::string_view kParams = R"(,"params":{"epsilon":0.002,"confidence":0.99})";

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

// What is wrong with one request.

struct Wrong {
  std::string request;
  const char* message;  // a part of it
};

TEST(Requests, SayWhatIsWrongAndWhatWouldBeRight) {
  const Wrong kWrong[] = {
      {R"({"dataSetKey":"D","streamID":"S"})", "has \"op\" (\"build\""},
      {R"({"pram":[1]})", "did you mean \"param\"?"},
      {R"({"op":"list","param":[1]})", "leave one of them out"},
      {named("biuld"),
       "op is \"build\", \"query\", \"delete\", \"save\", \"load\", \"list\" or \"plugin\", but "
       "\"biuld\""},
      {named("quary"), "did you mean \"query\"?"},
      {R"({"op":5})", "but 5 was given"},
      {named("build", R"(,"parms":{})"), "unknown key \"parms\"; did you mean \"params\"?"},
      {named("build", R"(,"noOfP":4)"), "unknown key \"noOfP\"; did you mean \"parallelism\"?"},
      {named("query", R"(,"dataSetKey":"D")"), "did you mean \"dataset\"?"},
      {named("query", R"(,"params":{})"), "\"params\" does not belong to a query, which takes"},
      {named("query", R"(,"continuous":"yes")"), "continuous is true or false, but \"yes\""},
      {named("query", R"(,"query":{"item":6})"), "a query value is a number, a text"},
      {named("query", R"(,"query":[[6]])"), "a query value is a number, a text"},
      {named("query", R"(,"op":"list")"), "\"op\" stands twice"},
      {R"({"op":"query","dataset":"D","field":"p"})", "synopsis is missing"},
      {R"({"op":"query","synopsis":2,"dataset":"D","field":"p"})", "synopsis is a text"},
      {R"({"op":"query","synopsis":"DFT","field":"p"})", "dataset is missing"},
      {R"({"op":"query","synopsis":"DFT","dataset":"D"})", "field is missing"},
      {R"({"op":"query","synopsis":"DFT","dataset":"D","field":""})", "field is missing"},
      {R"({"op":"query","synopsis":"DFT","dataset":7,"field":"p"})",
       "dataset is a text in quotes, but 7"},
      {named("save"), "path is missing"},
      {R"({"op":"build","synopsis":"HyperLogLog","dataset":"D","field":"p","params":{"rsd":0.1},)"
       R"("weight":"volume"})",
       "weight: HyperLogLog counts every value once; CountMin"},
      {named("build", std::string(kParams) + R"(,"weight":7)"), "weight is a text in quotes"},
      {named("build", std::string(kParams) + R"(,"weight":"")"), "weight names a field"},
      {named("build", std::string(kParams) + R"(,"window":"5m")"),
       "window is an object such as {\"size\":\"5m\",\"slide\":\"1m\",\"grace\":\"10s\"}, but"},
      {named("build", std::string(kParams) + R"(,"window":{"slide":"5m"})"),
       "window: size is missing"},
      {named("build", std::string(kParams) + R"(,"window":{"size":"5m","slid":"1m"})"),
       "unknown key \"slid\" in window; did you mean \"slide\"?"},
      {named("build", std::string(kParams) + R"(,"window":{"size":"5 parsecs"})"),
       "window: size is a duration such as \"5m\", or seconds, but \"5 parsecs\""},
      {named("build", std::string(kParams) + R"(,"window":{"size":0})"),
       "window: size must be longer than 0"},
      {named("build", std::string(kParams) + R"(,"window":{"size":"1m","slide":"2m"})"),
       "window: slide must be longer than 0 and at most the size (60 s), but got 120 s"},
      {named("build", std::string(kParams) + R"(,"window":{"size":"1d","slide":"1s"})"),
       "and at most 4096 are kept"},
      {R"({"op":"build","synopsis":"DFT","dataset":"D","field":"p","window":{"size":"5m"},)"
       R"("params":{"window":8,"slide":4,"coefficients":2}})",
       "window: DFT does not merge, so it has no panes"},
      {named("build", std::string(kParams) + R"(,"parallelism":0)"),
       "parallelism is a whole number from 1 to 256, but 0"},
      {named("build", std::string(kParams) + R"(,"parallelism":257)"), "from 1 to 256, but 257"},
      {named("build", std::string(kParams) + R"(,"parallelism":2.5)"), "from 1 to 256, but 2.5"},
      {named("build", R"(,"params":[0.002,0.99])"), "params is an object"},
      {named("build", R"(,"params":{"epsilon":[1]})"), "\"epsilon\" is a number or a text"},
      {named("build", R"(,"params":{"epsilon":7,"confidence":0.99})"),
       "epsilon must be a number from"},
      {named("build", R"(,"params":{"epsilon":0.01,"confidense":0.99})"),
       "did you mean \"confidence\""},
      {named("build"), "epsilon"},
      {paper(R"(["CountMin","price","Construct",2,0.99,1])"), "epsilon must be a number from"},
      {paper(R"(["CountMin","price","Construct",[2],0.99,1])"),
       "param[3] is a number or a text, but [2]"},
      {paper(R"(["CountMin","price","Constuct",0.002,0.99,1])"), "did you mean \"Construct\"?"},
      {paper(R"(["CountMin","price"])"), "but it is missing"},
      {paper(R"(["CountMin",5,"Construct"])"),
       "param[1] is the field to summarise, such as \"price\", but 5"},
      {paper(R"([5,"price","Construct"])"),
       "param[0] names a kind of synopsis, such as \"CountMin\", but 5"},
      {paper(R"([5,"price","Queryable"])"),
       "param[3] of a query is \"Ad-hoc\" or \"Continuous\", but it is missing"},
      {paper(R"([5,"price","Queryable","Continous"])"), "did you mean \"Continuous\"?"},
      {paper(R"(["LOAD_REQUEST"])"), "the path is missing"},
      {paper(R"(["DELETE_REQUEST"])"), "param[1] is the field"},
      {paper("[]"), "param[1] is the field"},
      {paper("5"), "param is an array"},
      {paper(R"(["CountMin","price","Construct",0.002,0.99,1])", 1, R"(,"noOfP":1000)"),
       "noOfP is a whole number from 1 to 256, but 1000"},
      {R"({"datasetKey":"D","synopsisID":2,"param":[0,"p","Queryable","Ad-hoc"]})",
       "\"datasetKey\" was given, did you mean \"dataSetKey\"?"},
      {R"({"dataSetKey":"D","param":[0,"p","Queryable","Ad-hoc"]})", "synopsisID is missing"},
      {R"({"dataSetKey":"D","synopsisID":"x","param":[0,"p","Queryable","Ad-hoc"]})",
       "synopsisID is a whole number"},
      {named("query", R"(,"requestID":[1])"), "requestID is a text, a number"},
      {named("query", R"(,"at":5)"), "at is {\"record\":N}"},
      {named("query", R"(,"at":{})"), "at is {\"record\":N}"},
      {named("query", R"(,"at":{"record":1,"end":true})"), "at is {\"record\":N}"},
      {named("query", R"(,"at":{"recrd":1})"),
       "unknown key \"recrd\" in at; did you mean \"record\"?"},
      {named("query", R"(,"at":{"record":-1})"),
       "at.record is a number of records, 0 or more, but -1"},
      {named("query", R"(,"at":{"end":false})"), "at.end is true, but false"},
      {named("query", R"(,"at":{"time":"noon"})"), "at.time is an epoch"},
      {named("query", R"(,"at":{"time":true})"), "at.time is an epoch"},
      {named("query", R"(,"query":1e999)"), "out of range"},
      {named("query", R"(,"query":18446744073709551616)"), "out of range"},
      {"5", "request 1: a request is an object"},
  };
  for (const auto& [request, message] : kWrong) {
    const std::string error = error_of(request);
    EXPECT_THAT(error, HasSubstr(message)) << request;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(Requests, KeepErrorsOnOneShortLine) {
  const std::string error =
      error_of(R"({"op":")" + std::string(100'000, 'x') + R"(\n","dataset":"a\nb"})");
  EXPECT_LT(error.size(), 300u);
  EXPECT_THAT(error_of(named("build", R"(,"params":{"epsilon":"a\nb","confidence":0.9})")),
              testing::Not(HasSubstr("\n")));
}

TEST(Requests, ReadOnAfterAnErrorSoThatItsAnswerCanEcho) {
  const auto requests = parse(
      R"([{"requestID":"q","uid":3,"partition":1,"op":"query","synopsis":"HLL","dataset":"D",
          "stream":"S","field":"p","query":5,"wrong":1},
         {"op":"list","requestID":9}])");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_THAT(requests[0].error, HasSubstr("wrong"));
  EXPECT_EQ(requests[0].request_id, "\"q\"");
  EXPECT_EQ(requests[0].uid, "3");
  EXPECT_EQ(requests[0].partition, "1");
  EXPECT_EQ(requests[0].dataset, "D");
  EXPECT_EQ(requests[0].stream, "S");
  EXPECT_EQ(requests[0].field, "p");
  EXPECT_EQ(requests[0].synopsis_id, 2);
  EXPECT_EQ(requests[0].query_json, "5");
  EXPECT_EQ(requests[1].error, "");
}

// Text that is no JSON.

TEST(Requests, SayLineAndColumnOfTextThatIsNotJson) {
  EXPECT_THAT(bad_text("This is [a] wrong"), HasSubstr("line 1, column 1: this is not JSON"));
  EXPECT_THAT(bad_text(""), HasSubstr("there is no request in it"));
  EXPECT_THAT(bad_text(" \n\t"), HasSubstr("there is no request in it"));
  EXPECT_THAT(bad_text("{\"op\":\"list\"}\n{\"op\":}\n{\"op\":\"list\"}"),
              HasSubstr("line 2, column 7: "));
  // The bracket that line 2 leaves open does not move the fault to line 3.
  EXPECT_THAT(bad_text("{\"op\":\"list\"}\n{\"op\":\n{\"op\":\"list\"}\n"),
              HasSubstr("line 2, column 7: "));
  EXPECT_THAT(bad_text("{\"op\":\"list\"}\n{\"op\":\"li\n{\"op\":\"list\"}\n"),
              AllOf(HasSubstr("line 2, column 10: "), HasSubstr("not closed")));
  EXPECT_THAT(bad_text("[{\"op\":\"list\"}\n {\"op\":\"list\"}]"),
              HasSubstr("line 2, column 2: this is not JSON: expected ',' or ']' after a value"));
  EXPECT_THAT(bad_text("[{\"op\":\"list\"}\n\n\n"), HasSubstr("line 1, column 15: "));
  EXPECT_THAT(bad_text("{op:1}"), HasSubstr("expected a key in double quotes"));
  EXPECT_THAT(bad_text("{\"op\":01}"), HasSubstr("no leading zeros"));
  EXPECT_THAT(bad_text("[\"\xc3\x28\"]"), AllOf(HasSubstr("column 3"), HasSubstr("not UTF-8")));
  EXPECT_THAT(bad_text(std::string(100'000, '[')), HasSubstr("nested too deep"));
}

// Values.

TEST(Requests, CanonicaliseNumbersOfQueries) {
  const auto value = [](std::string_view text) {
    return stored_number(good(named("query", ",\"query\":" + std::string(text))).query.args.at(0));
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
  EXPECT_EQ(stored_number(r.query.args.at(0)),
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
