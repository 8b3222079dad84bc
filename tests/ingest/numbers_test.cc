// Numbers against the C library and against simdjson's dom.
#include "ingest/numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace weir::ingest {
namespace {

using core::Kind;
using core::Value;

// What the dom makes of `text` as the only element of an array.
NumberOutcome by_dom(const std::string& text, Value& value) {
  static simdjson::dom::parser parser;
  const simdjson::padded_string json("[" + text + "]");
  simdjson::dom::element element;
  if (parser.parse(json).at(0).get(element) != simdjson::SUCCESS || !element.is_number()) {
    return NumberOutcome::kNotANumber;
  }
  if (element.is_int64()) {
    value = core::integer(std::int64_t(element));
  } else if (element.is_uint64()) {
    value = core::integer(std::uint64_t(element));
  } else {
    value = core::number(double(element));
  }
  return NumberOutcome::kOk;
}

void expect_like_the_dom(const std::string& text) {
  Value ours, theirs;
  const NumberOutcome outcome = parse_json_number(text, ours);
  ASSERT_EQ(outcome == NumberOutcome::kOk, by_dom(text, theirs) == NumberOutcome::kOk) << text;
  if (outcome == NumberOutcome::kOk) {
    ASSERT_EQ(ours, theirs) << text;
  }
}

std::string decimal(std::mt19937_64& random) {
  std::string text = random() % 4 == 0 ? "-" : "";
  const auto digits = [&](std::uint64_t n) {
    for (; n > 0; --n) text += static_cast<char>('0' + random() % 10);
  };
  if (random() % 4 == 0) {
    text += '0';
  } else {
    text += static_cast<char>('1' + random() % 9);
    digits(random() % (random() % 8 == 0 ? 25 : 8));
  }
  if (random() % 3 != 0) {
    text += '.';
    digits(1 + random() % (random() % 8 == 0 ? 30 : 8));
  }
  if (random() % 4 == 0) {
    text += random() % 2 == 0 ? 'e' : 'E';
    text += std::string(random() % 3, '+').substr(0, 1);
    if (text.back() != '+' && random() % 2 == 0) text += '-';
    text += fmt::format("{}", random() % (random() % 4 == 0 ? 400 : 30));
  }
  return text;
}

TEST(JsonNumbers, AreCorrectlyRounded) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = decimal(random);
    const double expected = std::strtod(text.c_str(), nullptr);
    Value value;
    const NumberOutcome outcome = parse_json_number(text, value);
    if (std::isinf(expected)) {
      ASSERT_EQ(outcome, NumberOutcome::kOutOfRange) << text;
      continue;
    }
    if (outcome == NumberOutcome::kOutOfRange) {
      // Only integers beyond 64 bits.
      ASSERT_EQ(text.find_first_of(".eE"), std::string::npos) << text;
      ASSERT_GE(std::abs(expected), 9.2233720368547748e18) << text;
      continue;
    }
    ASSERT_EQ(outcome, NumberOutcome::kOk) << text;
    ASSERT_EQ(core::as_double(value.bits, value.kind), expected) << text;
  }
}

// Where the path of long division begins and ends, and quotients that lie on or near the middle
// between two doubles.
TEST(JsonNumbers, RoundLongDecimalsCorrectly) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const unsigned power = static_cast<unsigned>(random() % 20);
    std::uint64_t mantissa = random() >> random() % 64;
    if (random() % 4 == 0) {
      // The middle of two doubles of this size, and its neighbours.
      const int up = static_cast<int>(random() % 10);
      mantissa = ((random() >> 11 | std::uint64_t{1} << 52) * 2 + 1) << up;
      mantissa += random() % 3 - 1;
    }
    const std::string text = fmt::format("{}e-{}", mantissa, power);
    ASSERT_EQ(decimal_quotient(mantissa, power), std::strtod(text.c_str(), nullptr)) << text;
  }
}

TEST(JsonNumbers, EqualTheDom) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 30'000; ++i) {
    std::string text = decimal(random);
    if (random() % 4 == 0) text[random() % text.size()] = "0123456789.-+eE,x"[random() % 17];
    if (text.find(',') != std::string::npos) continue;
    expect_like_the_dom(text);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonNumbers, KeepIntegersExactAtEveryEdge) {
  using Wide = unsigned __int128;
  const auto written = [](Wide value) {
    std::string text;
    do {
      text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
      value /= 10;
    } while (value != 0);
    return text;
  };
  for (const int power : {53, 63, 64}) {
    for (int off = -1030; off <= 1030; ++off) {
      const Wide magnitude = static_cast<Wide>(static_cast<__int128>(Wide{1} << power) + off);
      const std::string text = written(magnitude);
      expect_like_the_dom(text);
      expect_like_the_dom("-" + text);
      if (HasFatalFailure()) return;
      Value value;
      if (magnitude >> 64 == 0) {
        ASSERT_EQ(parse_json_number(text, value), NumberOutcome::kOk) << text;
        ASSERT_EQ(value, core::integer(static_cast<std::uint64_t>(magnitude))) << text;
      } else {
        ASSERT_EQ(parse_json_number(text, value), NumberOutcome::kOutOfRange) << text;
      }
    }
  }
}

TEST(JsonNumbers, KeepAnIntegerThatNoDoubleHolds) {
  Value value;
  ASSERT_EQ(parse_json_number("8838840643388017390", value), NumberOutcome::kOk);
  EXPECT_EQ(value, (Value{8838840643388017390u, Kind::kUint64}));
  ASSERT_EQ(parse_json_number("-9007199254740993", value), NumberOutcome::kOk);
  EXPECT_EQ(value, (Value{static_cast<std::uint64_t>(-9007199254740993), Kind::kInt64}));
}

TEST(JsonNumbers, HaveOneZero) {
  for (const char* text : {"0", "-0", "0.0", "-0.0", "-0e5", "0e999", "-1e-999", "0.000e-400"}) {
    Value value;
    ASSERT_EQ(parse_json_number(text, value), NumberOutcome::kOk) << text;
    EXPECT_EQ(value, (Value{0, Kind::kNumber})) << text;
  }
}

TEST(JsonNumbers, FollowTheGrammar) {
  for (const char* text :
       {"",    "-",   "+1",   "01",  "-01",   "00",    "1.",       ".5",  "-.5",
        "1e",  "1e+", "1.e5", "e5",  "0x10",  "NaN",   "Infinity", "inf", "1_000",
        "1,5", " 1",  "1 ",   "--1", "1.2.3", "1e2e3", "1e2.5"}) {
    Value value;
    EXPECT_EQ(parse_json_number(text, value), NumberOutcome::kNotANumber) << text;
  }
}

TEST(JsonNumbers, TellOverflowFromUnderflow) {
  Value value;
  for (const char* text : {"1e309", "-1e309", "1.7976931348623159e308", "1e99999999999999999999",
                           "123456789012345678901234567890e290"}) {
    EXPECT_EQ(parse_json_number(text, value), NumberOutcome::kOutOfRange) << text;
  }
  for (const char* text : {"1e-400", "-1e-99999999999999999999", "2.4703282292062327e-324"}) {
    ASSERT_EQ(parse_json_number(text, value), NumberOutcome::kOk) << text;
    EXPECT_EQ(value.bits, 0u) << text;
  }
  ASSERT_EQ(parse_json_number("5e-324", value), NumberOutcome::kOk);
  EXPECT_EQ(value.bits, 1u);
  const std::string zeros = "0." + std::string(400, '0') + "1e401";
  ASSERT_EQ(parse_json_number(zeros, value), NumberOutcome::kOk);
  EXPECT_EQ(value, core::number(1.0));
}

TEST(CsvNumbers, TakeWhatFilesHold) {
  const std::vector<std::pair<const char*, double>> cases = {
      {"+5", 5},       {"0071", 71}, {"5.", 5},     {".5", 0.5},    {"-.5", -0.5},
      {"+0.25e2", 25}, {"-007", -7}, {"1e3", 1000}, {"00.50", 0.5}, {"1234.5678", 1234.5678}};
  for (const auto& [text, expected] : cases) {
    Value value;
    ASSERT_EQ(parse_csv_number(text, value), NumberOutcome::kOk) << text;
    EXPECT_EQ(value, core::number(expected)) << text;
  }
  for (const char* text : {"", "+", "-", ".", "+.", "NaN", "nan", "inf", "-Infinity", "0x1F", "1e",
                           "+-1", "5..", "1 ", "12a"}) {
    Value value;
    EXPECT_EQ(parse_csv_number(text, value), NumberOutcome::kNotANumber) << text;
  }
  Value value;
  EXPECT_EQ(parse_csv_number("0018446744073709551616", value), NumberOutcome::kOutOfRange);
  ASSERT_EQ(parse_csv_number("0018446744073709551615", value), NumberOutcome::kOk);
  EXPECT_EQ(value, (Value{18446744073709551615u, Kind::kUint64}));
}

}  // namespace
}  // namespace weir::ingest
