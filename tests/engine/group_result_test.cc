// The lines that results of groups are written as, byte for byte.
#include "weir/group_result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/json_text.h"

namespace weir {
namespace {

constexpr std::int64_t kMilli = 1'000'000;

GroupResult hall() {
  GroupResult result;
  result.identifier = "hall_a";
  result.hierarchy = "plant";
  result.field = "valueInW";
  result.time = Time{12'345 * kMilli};
  result.window_start = Time{10'000 * kMilli};
  result.window_end = Time{20'000 * kMilli};
  result.count = 2;
  result.sum = 12.5;
  result.min = 5;
  result.max = 7.5;
  result.members = 3;
  result.sensors = 4;
  result.missing = 1;
  result.epoch = Epoch{1};
  result.seq = RecordPosition{17};
  return result;
}

std::string json_of(const GroupResult& result,
                    GroupResult::Words words = GroupResult::Words::kWeir) {
  std::string text;
  result.append_json(text, words);
  return text;
}

TEST(GroupResult, IsOneLineOfJsonWithItsKeysInOrder) {
  EXPECT_EQ(
      json_of(hall()),
      R"({"identifier":"hall_a","hierarchy":"plant","field":"valueInW","timestamp":12345,)"
      R"("windowStart":10000,"windowEnd":20000,"count":2,"sum":12.5,"average":6.25,"min":5,)"
      R"("max":7.5,"members":3,"sensors":4,"missing":1,"complete":false,"epoch":1,"seq":17})");
}

TEST(GroupResult, UsesTitansWordsWhenAsked) {
  GroupResult result = hall();
  result.missing = 0;
  result.final = true;
  EXPECT_EQ(json_of(result, GroupResult::Words::kTitan),
            R"({"identifier":"hall_a","hierarchy":"plant","field":"valueInW","timestamp":12345,)"
            R"("windowStart":10000,"windowEnd":20000,"count":2,"sumInW":12.5,"averageInW":6.25,)"
            R"("minInW":5,"maxInW":7.5,"members":3,"sensors":4,"missing":0,"complete":true,)"
            R"("epoch":1,"seq":17,"final":true})");
}

TEST(GroupResult, IsNullWhereNothingIsKnown) {
  GroupResult result;
  result.identifier = "r";
  result.hierarchy = "r";
  result.field = "v";
  EXPECT_EQ(
      json_of(result),
      R"({"identifier":"r","hierarchy":"r","field":"v","timestamp":null,"windowStart":null,)"
      R"("windowEnd":null,"count":0,"sum":0,"average":null,"min":null,"max":null,"members":0,)"
      R"("sensors":0,"missing":0,"complete":true,"epoch":0,"seq":0})");
}

TEST(GroupResult, HasNullForWhatIsNoFiniteNumber) {
  GroupResult result = hall();
  result.sum = std::numeric_limits<double>::infinity();
  result.min = -std::numeric_limits<double>::infinity();
  result.max = std::nan("");
  const std::string text = json_of(result);
  EXPECT_NE(text.find(R"("sum":null,"average":null,"min":null,"max":null)"), std::string::npos)
      << text;
}

TEST(GroupResult, RoundsTimesDownToTheMillisecondAlsoBefore1970) {
  const auto shown = [](std::int64_t ns) {
    GroupResult result = hall();
    result.time = Time{ns};
    const std::string text = json_of(result);
    const std::size_t begin = text.find("\"timestamp\":") + 12;
    return text.substr(begin, text.find(',', begin) - begin);
  };
  EXPECT_EQ(shown(0), "0");
  EXPECT_EQ(shown(1'999'999), "1");
  EXPECT_EQ(shown(-1), "-1");
  EXPECT_EQ(shown(-kMilli), "-1");
  EXPECT_EQ(shown(-kMilli - 1), "-2");
  EXPECT_EQ(shown(std::numeric_limits<std::int64_t>::max()), "9223372036854");
}

TEST(GroupResult, WritesNumbersAsEveryOtherLineOfJsonDoes) {
  for (const double value : {0.1, -0.0, 1e300, -1.7976931348623157e308, 5e-324, 1e18, 0x1p63,
                             9007199254740993.0, 1.0 / 3, -2.2250738585072014e-308}) {
    GroupResult result = hall();
    result.sum = value;
    const std::string sum = "\"sum\":" + core::json_number(value) + ",";
    EXPECT_NE(json_of(result).find(sum), std::string::npos) << sum;
  }
}

TEST(GroupResult, HasRoomForTheLongestNumbers) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  GroupResult result = hall();
  result.time = result.window_start = result.window_end =
      Time{std::numeric_limits<std::int64_t>::min() + 1};
  result.count = result.members = result.sensors = result.missing = kMost;
  result.sum = -1.7976931348623157e308;
  result.min = result.max = -2.2250738585072014e-308;
  result.epoch = Epoch{std::numeric_limits<std::underlying_type_t<Epoch>>::max()};
  result.seq = RecordPosition{kMost};
  result.final = true;
  const std::string text = json_of(result, GroupResult::Words::kTitan);
  EXPECT_NE(text.find(R"("missing":18446744073709551615,"complete":false)"), std::string::npos);
  EXPECT_TRUE(text.ends_with(R"("seq":18446744073709551615,"final":true})")) << text;
}

TEST(GroupResult, StaysJsonWhateverBytesItsNamesHold) {
  GroupResult result = hall();
  result.identifier = "a\"\n\xff";
  const std::string text = json_of(result);
  EXPECT_TRUE(text.starts_with("{\"identifier\":\"a\\\"\\n\xef\xbf\xbd\",\"hierarchy\"")) << text;
}

TEST(GroupResult, IsAppendedToWhatStandsThere) {
  std::string text = "before ";
  hall().append_json(text);
  EXPECT_EQ(text, "before " + json_of(hall()));
}

}  // namespace
}  // namespace weir
