#include "ingest/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/ingest/decoded.h"

namespace weir::ingest {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTicksName = "Forex·EURTRY·NoExpiry.txt";
const std::string kSaams =
    R"({"streamID":"S","dataSetKey":"D","date":"01/02/2019","time":"00:00:01","price":1})"
    "\n";

std::string detected(std::string_view bytes, std::string_view name = "input") {
  const auto layout = detect_layout(bytes, name);
  return layout.ok() ? layout->name() : layout.status().message();
}

TEST(LayoutByName, ListsWhatThereIs) {
  for (const char* name : {"saams", "titan", "ticks"}) {
    EXPECT_EQ(layout_by_name(name)->name(), name);
  }
  EXPECT_THAT(layout_by_name("tick").status().message(), HasSubstr("saams, titan and ticks"));
}

TEST(Layout, FramingFollowsTheKind) {
  EXPECT_EQ(layout_by_name("ticks")->framing(), Framing::kLines);
  EXPECT_FALSE(layout_by_name("ticks")->has_header());
  Layout layout;
  layout.kind = LayoutKind::kTuples;
  EXPECT_EQ(layout.framing(), Framing::kFrames);
  layout.kind = LayoutKind::kMapping;
  EXPECT_EQ(layout.framing(), Framing::kLines);
  layout.mapping.format = Mapping::Format::kCsv;
  EXPECT_EQ(layout.framing(), Framing::kCsv);
  EXPECT_TRUE(layout.has_header());
}

TEST(DetectLayout, TheFirstRecordThatFitsDecides) {
  EXPECT_EQ(detected(kSaams), "saams");
  EXPECT_EQ(detected("\xEF\xBB\xBF\r\n  \n" + kSaams), "saams");
  EXPECT_EQ(detected(R"({"identifier":"s","timestamp":1574000000000,"valueInW":10.5})"), "titan");
  EXPECT_EQ(detected("{\"broken\n[1]\n" + kSaams), "saams");
  EXPECT_EQ(detected("01/02/2019,00:00:01,6.0654,1\r\n", kTicksName), "ticks");
  EXPECT_EQ(detected("bla\n01/02/2019,00:00:01.5,.5,1", kTicksName), "ticks");
  EXPECT_EQ(detected(std::string("{\"x\":\"\0\"}\n", 10) + kSaams), "saams")
      << "one broken record does not make a file binary";
}

TEST(DetectLayout, ErrorsSayWhatWasTriedAndHowToNameOne) {
  for (const std::string bytes :
       {R"({"symbol":"MSFT","ts":1})", "a,b,c\n1,2,3\n", "[", "{\n", "7", "\xFF\xFE", "{}"}) {
    const std::string message = detected(bytes);
    EXPECT_THAT(message, HasSubstr("input: no layout fits")) << bytes;
    EXPECT_THAT(message, HasSubstr("titan (JSON with identifier and timestamp)")) << bytes;
    EXPECT_THAT(message, HasSubstr("--layout saams|titan|ticks or --mapping FILE")) << bytes;
    EXPECT_EQ(message.find('\n'), std::string::npos) << bytes;
  }
  EXPECT_THAT(detected(R"({"symbol":"MSFT","ts":1})"), HasSubstr("keys symbol, ts"));
  EXPECT_THAT(detected("[\n{}\n]"), HasSubstr("one object a line"));
  EXPECT_THAT(detected(""), HasSubstr("no records"));
  EXPECT_THAT(detected("\n \r\n"), HasSubstr("no records"));
  EXPECT_THAT(detected(std::string("\x7f"
                                   "ELF\0\0\n",
                                   7)),
              HasSubstr("binary"));
  EXPECT_THAT(detected("01/02/2019,00:00:01,6.0654,1\n", "ticks.csv"), HasSubstr("U+00B7"));
  std::string late;
  for (int i = 0; i < 16; ++i) late += "x\n\n";
  EXPECT_THAT(detected(late + kSaams), HasSubstr("first 16 record"));
}

TEST(TicksName, DirectoriesAndSuffixesAreLeftOut) {
  for (const char* name : {"Forex·EURTRY·NoExpiry.txt", "/a·b/c.d/Forex·EURTRY·NoExpiry.txt.gz",
                           "./Forex·EURTRY·x.txt.zst", "Forex·EURTRY·2019.csv", "Forex·EURTRY·"}) {
    const auto keys = parse_ticks_name(name);
    ASSERT_TRUE(keys.ok()) << name;
    EXPECT_EQ(keys->dataset, "Forex") << name;
    EXPECT_EQ(keys->stream, "EURTRY") << name;
  }
  for (const char* name : {"", "stdin", "Forex·EURTRY.txt", "·EURTRY·x.txt", "Forex··x.txt",
                           "Forex.EURTRY.x.txt", "Forex·\xFF·x.txt", "a·b·c.txt/plain.txt"}) {
    EXPECT_FALSE(parse_ticks_name(name).ok()) << name;
  }
}

TEST(MakeDecoder, EveryLayoutHasOne) {
  core::KeyTable keys;
  const std::vector<std::string> names;
  Layout layout;
  for (const LayoutKind kind : {LayoutKind::kSaams, LayoutKind::kTitan, LayoutKind::kTicks,
                                LayoutKind::kMapping, LayoutKind::kTuples}) {
    layout.kind = kind;
    EXPECT_NE(make_decoder(layout, keys, names), nullptr);
  }
  layout.kind = LayoutKind::kMapping;
  layout.mapping.format = Mapping::Format::kCsv;
  EXPECT_NE(make_decoder(layout, keys, names), nullptr);
}

}  // namespace
}  // namespace weir::ingest
