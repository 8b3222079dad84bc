// Requests that put a registry in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/requests.h"

namespace weir::engine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kRegistry =
    R"({"identifier":"R","children":[{"identifier":"s","name":"S"}]})";

std::string with_registry(std::string_view before, std::string_view registry = kRegistry) {
  return "{" + std::string(before) + R"("registry":)" + std::string(registry) + "}";
}

TEST(RegistryRequest, IsReadWithAndWithoutItsOp) {
  for (const char* op : {"", R"("op":"registry",)"}) {
    const Request request =
        good(with_registry(std::string(op) + R"("requestID":7,"uid":"u","at":{"record":5},)"));
    EXPECT_EQ(request.op, Op::kRegistry);
    ASSERT_NE(request.registry, nullptr);
    EXPECT_EQ(request.registry->root().identifier, "R");
    EXPECT_EQ(request.registry->sensors().front().name, "S");
    EXPECT_EQ(request.request_id, "7");
    EXPECT_EQ(request.uid, "\"u\"");
    EXPECT_EQ(request.position().kind, Position::Kind::kRecord);
  }
}

TEST(RegistryRequest, SaysAtWhichPathItsRegistryIsWrong) {
  const auto error = [](std::string_view registry) {
    return error_of(with_registry("", registry));
  };
  EXPECT_EQ(error(R"({"identifier":"R","children":[{"identifier":"A","children":[)"
                  R"({"identifier":"R"}]}]})"),
            "R/A/R: cycle: R stands above itself");
  EXPECT_THAT(error(R"({"children":[]})"), StartsWith("registry: identifier is missing"));
  EXPECT_EQ(error(R"({"identifier":"R","children":[{"identifier":"A","children":7}]})"),
            "R/child 1: children is an array; leave it out for a sensor");
  EXPECT_THAT(error("7"), StartsWith("registry: a registry is an object"));
  EXPECT_THAT(error("[]"), StartsWith("registry: a registry is an object"));
  EXPECT_THAT(error_of(R"({"op":"registry"})"), StartsWith("registry is missing"));
}

TEST(RegistryRequest, TakesNoKeyOfOtherRequests) {
  EXPECT_THAT(error_of(with_registry(R"("synopsis":"CountMin",)")),
              HasSubstr("\"synopsis\" does not belong to a registry, which takes registry, op"));
  EXPECT_THAT(error_of(with_registry(R"("att":{"record":1},)")), HasSubstr("did you mean \"at\"?"));
  EXPECT_THAT(error_of(R"({"op":"list","registry":{"identifier":"R","children":[]}})"),
              HasSubstr("\"registry\" does not belong to a list"));
  EXPECT_THAT(error_of(R"({"param":["x"],"registry":{"identifier":"R","children":[]}})"),
              testing::Not(""));
}

TEST(RegistryRequest, StandsAmongOthersThatAreRightWhenItIsWrong) {
  const auto requests =
      parse("[" + with_registry("", R"({"identifier":7})") + "," + with_registry("") + "]");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].error, "registry: identifier is a text in quotes");
  EXPECT_EQ(requests[0].op, Op::kRegistry);
  EXPECT_EQ(requests[1].error, "");
}

}  // namespace
}  // namespace weir::engine
