#include "replay/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace weir::replay {
namespace {

using Align = Table::Align;

TEST(Table, AlignsItsColumns) {
  Table table({{"name"}, {"n", Align::kRight}});
  table.add({"a", "1"});
  table.add({"long name", "1000"});
  EXPECT_EQ(table.render(0),
            "name          n\n"
            "a             1\n"
            "long name  1000\n");
}

TEST(Table, CutsTheWidestColumnFirst) {
  Table table({{"name"}, {"n", Align::kRight}});
  table.add({"a very long name indeed", "1000"});
  EXPECT_EQ(table.render(16),
            "name           n\n"
            "a very lo…  1000\n");
}

TEST(Table, StaysInsideEveryWidthThatCanHoldIt) {
  Table table({{"first"}, {"second"}, {"third", Align::kRight}});
  table.add({std::string(50, 'x'), std::string(40, 'y'), "123456789"});
  for (int width = 16; width < 130; ++width) {
    std::istringstream lines(table.render(width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(static_cast<int>(columns_of(line)), width);
    }
  }
  EXPECT_FALSE(table.render(1).empty());  // too narrow to be read, and no crash
}

TEST(Table, CountsCodePointsNotBytes) {
  EXPECT_EQ(columns_of("Zürich·中"), 8u);
  EXPECT_EQ(cut_to("Zürich", 6), "Zürich");
  EXPECT_EQ(cut_to("Zürich", 3), "Zü…");
  EXPECT_EQ(cut_to("Zürich", 1), "…");
  EXPECT_EQ(cut_to("Zürich", 0), "");
}

TEST(Table, LetsNoControlCharacterReachTheTerminal) {
  Table table({{"name"}});
  table.add({"a\x1b[2Jb\nc"});
  table.add(
      {"a\xC2\x9B"
       "2Jb\xC2\xA0"});  // CSI as one code point; a blank that is none
  EXPECT_EQ(table.render(0), "name\na [2Jb c\na 2Jb\xC2\xA0\n");
}

}  // namespace
}  // namespace weir::replay
