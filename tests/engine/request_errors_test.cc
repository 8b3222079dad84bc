// What requests are told that are wrong, and texts that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/requests.h"

namespace weir::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string bad_text(std::string_view text) {
  const auto requests = parse_requests(text);
  EXPECT_FALSE(requests.ok()) << text;
  return requests.status().message();
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
       "op is \"build\", \"query\", \"delete\", \"save\", \"load\", \"list\", \"plugin\", "
       "\"registry\", \"workers\" or \"change\", but "
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

}  // namespace
}  // namespace weir::engine
