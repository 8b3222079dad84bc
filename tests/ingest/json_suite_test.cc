// JSONTestSuite, where present: what it calls broken is rejected, what it calls right is not
// rejected for its JSON, and the neighbours survive.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/ingest/json_bench.h"
#include "tests/support/shared_data.h"

namespace weir::ingest {
namespace {

using core::Reason;

std::string from_base64(const std::string& text) {
  static const std::string kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 0xFF);
  }
  return bytes;
}

// Each case as a line between good records and as the value of a field.
TEST(JsonDecoder, JudgesTheJsonTestSuiteAsItShould) {
  const char* const kFile = "messy/jsontestsuite_parsing.b64.tsv";
  WEIR_NEEDS_SHARED_DATA(kFile);
  std::ifstream file(tests::shared_data() / kFile);
  std::string line;
  std::size_t cases = 0;
  std::vector<std::string> left_out;
  while (std::getline(file, line)) {
    std::istringstream parts(line);
    std::string name, verdict, encoded;
    parts >> name >> verdict >> encoded;
    const std::string text = from_base64(encoded);
    if (text.find_first_of("\r\n") != std::string::npos) {
      left_out.push_back(name);
      continue;
    }
    ++cases;
    const std::string good = std::string(kGood) + "\n";
    const bool blank = text.find_first_not_of(" \t") == std::string::npos;
    const std::string embedded =
        std::string(kGood).substr(0, std::string_view(kGood).size() - 1) + ",\"x\":" + text + "}";
    for (const bool as_value : {false, true}) {
      Bench bench;
      const std::string bytes = good + good + (as_value ? embedded : text) + "\n" + good;
      ASSERT_EQ(bench.difference_from_reference(bytes), "") << name;
      const core::Columns& columns = bench.columns;
      const bool is_record = as_value || !blank;
      ASSERT_EQ(columns.records, is_record ? 4u : 3u) << name;
      ASSERT_EQ(columns.tuples() + columns.rejects.size(), columns.records) << name;
      // The neighbours survive.
      ASSERT_GE(columns.tuples(), 3u) << name;
      EXPECT_EQ(columns.record[0], 0u);
      EXPECT_EQ(columns.record[columns.tuples() - 1], columns.records - 1);
      const bool json_reason =
          !columns.rejects.empty() && (columns.rejects[0].reason == Reason::kJson ||
                                       columns.rejects[0].reason == Reason::kEncoding ||
                                       columns.rejects[0].reason == Reason::kNumber);
      // Some broken cases are whole when they are the value of a key ("1]" is not, "" is).
      if (verdict == "n" && is_record && !as_value) {
        EXPECT_TRUE(json_reason) << name;
      }
      if (verdict == "y" && as_value) {
        EXPECT_EQ(columns.tuples(), 4u) << name;
      }
      if (verdict == "y" && !as_value && !columns.rejects.empty() &&
          columns.rejects[0].reason == Reason::kJson) {
        EXPECT_EQ(columns.rejects[0].detail, "not an object") << name;
      }
    }
  }
  EXPECT_GT(cases, 250u);
  std::string names;
  for (const std::string& name : left_out) names += name + " ";
  RecordProperty("left_out_for_cr_or_lf", names);
  EXPECT_LT(left_out.size(), 30u) << names;
}

}  // namespace
}  // namespace weir::ingest
