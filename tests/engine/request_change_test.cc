// Requests that change several things at once, or the number of workers, and how they are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/requests.h"

namespace weir::engine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string build(std::string_view rest = "") {
  return named("build", std::string(kParams) + std::string(rest));
}
std::string change(const std::string& parts, const std::string& before = "") {
  return "{" + before + R"("change":[)" + parts + "]}";
}

TEST(WorkersRequest, IsReadWithAndWithoutItsOp) {
  for (const char* op : {"", R"("op":"workers",)"}) {
    const Request request = good(std::string("{") + op +
                                 R"("requestID":"w","at":{"record":5},"workers":4,"ingest":2})");
    EXPECT_EQ(request.op, Op::kWorkers);
    EXPECT_EQ(request.workers, 4u);
    EXPECT_EQ(request.ingest, 2u);
    EXPECT_EQ(request.request_id, "\"w\"");
    EXPECT_EQ(request.position().kind, Position::Kind::kRecord);
  }
  const Request alone = good(R"({"workers":1})");
  EXPECT_EQ(alone.ingest, 0u);
  EXPECT_EQ(alone.position().kind, Position::Kind::kStart);
}

TEST(WorkersRequest, SaysWhatWouldBeRight) {
  EXPECT_EQ(error_of(R"({"workers":0})"),
            "workers is a whole number from 1 to 256, but 0 was given");
  EXPECT_EQ(error_of(R"({"workers":257})"),
            "workers is a whole number from 1 to 256, but 257 was given");
  EXPECT_EQ(error_of(R"({"workers":2,"ingest":-1})"),
            "ingest is a whole number from 0 to 256, but -1 was given");
  EXPECT_EQ(error_of(R"({"op":"workers"})"),
            "workers is missing; it is a whole number from 1 to 256");
  EXPECT_THAT(error_of(R"({"workers":2,"ingests":1})"), HasSubstr("did you mean \"ingest\"?"));
  EXPECT_THAT(error_of(R"({"workers":2,"dataset":"D"})"),
              HasSubstr("\"dataset\" does not belong to a number of workers"));
  EXPECT_THAT(error_of(R"({"workers":2,"change":[]})"),
              HasSubstr("\"change\" does not belong to a number of workers"));
}

TEST(ChangeRequest, HoldsItsPartsInOrder) {
  const Request request =
      good(change(build() + "," + paper(R"(["DELETE_REQUEST","price"])") + "," +
                      named("query", R"(,"query":5,"continuous":true)") +
                      R"(,{"registry":{"identifier":"R","children":[]}},{"workers":3},)" +
                      named("load", R"(,"path":"x")"),
                  R"("requestID":7,"uid":"u","at":{"time":1546387201},)"));
  EXPECT_EQ(request.op, Op::kChange);
  EXPECT_EQ(request.request_id, "7");
  EXPECT_EQ(request.position().kind, Position::Kind::kTime);
  std::vector<Op> ops;
  for (const Request& part : request.change) ops.push_back(part.op);
  EXPECT_EQ(ops, (std::vector{Op::kBuild, Op::kDelete, Op::kQuery, Op::kRegistry, Op::kWorkers,
                              Op::kLoad}));
  EXPECT_EQ(request.change[0].stream, "EURTRY");
  EXPECT_EQ(good(R"({"op":"change","change":[)" + build() + "]}").position().kind,
            Position::Kind::kStart);
}

TEST(ChangeRequest, NamesThePartThatIsWrong) {
  EXPECT_EQ(error_of(change(build() + "," + build() + "," + named("list"))).substr(0, 11),
            "change[2]: ");
  const auto second = [](const std::string& part) {
    return error_of(change(build() + "," + part));
  };
  EXPECT_EQ(second(named("save", R"(,"path":"x")")),
            "change[1]: a save does not belong to a change; give it by itself, behind the change");
  EXPECT_EQ(second(R"({"op":"list"})"),
            "change[1]: a list does not belong to a change; give it by itself, behind the change");
  EXPECT_EQ(second(named("query", R"(,"query":5)")),
            "change[1]: an ad-hoc query does not belong to a change; give it by itself, behind the "
            "change");
  EXPECT_EQ(second(change(build())),
            "change[1]: a change does not belong to a change; give its parts themselves");
  EXPECT_EQ(second(build(R"(,"at":{"record":1})")),
            "change[1]: \"at\" does not belong to a part of a change; it takes effect where the "
            "change does");
  EXPECT_EQ(second("7"), "change[1]: a request is an object such as {\"op\":\"delete\",…}");
  EXPECT_THAT(second(named("build", R"(,"params":{"epsilon":2})")), StartsWith("change[1]: "));
  EXPECT_EQ(error_of(change(R"({"workers":1},{"workers":2})")),
            "change[1]: the number of workers stands in it already; give it once");
}

TEST(ChangeRequest, IsAnArrayWithSomethingInIt) {
  EXPECT_THAT(error_of(R"({"change":[]})"), StartsWith("change is empty; change is an array of"));
  EXPECT_THAT(error_of(R"({"change":{}})"), HasSubstr("but {} was given"));
  EXPECT_THAT(error_of(R"({"op":"change"})"), StartsWith("change is missing; "));
  EXPECT_THAT(error_of(R"({"op":"change","dataset":"D","change":[{}]})"),
              HasSubstr("\"dataset\" does not belong to a change"));
}

TEST(ChangeRequest, NestsNoDeeperThanItsReaderGoes) {
  std::string text = build();
  for (int i = 0; i < 300; ++i) text = change(text);
  EXPECT_THAT(error_of(text), HasSubstr("a change does not belong to a change"));
}

TEST(ChangeRequest, StandsAmongOthersThatAreRightWhenItIsWrong) {
  const auto requests = parse("[" + change("7") + "," + build() + "]");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_NE(requests[0].error, "");
  EXPECT_EQ(requests[0].op, Op::kChange);
  EXPECT_TRUE(requests[0].change.empty());
  EXPECT_EQ(requests[1].error, "");
}

TEST(DeleteRequest, MayMeanTheContinuousQueriesOfASynopsis) {
  const Request request = good(named("delete", R"(,"continuous":true,"query":5)"));
  EXPECT_TRUE(request.continuous);
  EXPECT_EQ(request.query_json, "5");
  EXPECT_THAT(error_of(named("delete", R"(,"query":5)")),
              HasSubstr("\"query\" belongs to a delete with \"continuous\":true"));
  EXPECT_FALSE(good(named("delete")).continuous);
}

}  // namespace
}  // namespace weir::engine
