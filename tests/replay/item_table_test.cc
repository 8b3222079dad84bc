// Lists of items as tables.
#include "replay/item_table.h"

#include <gtest/gtest.h>

namespace weir::replay {
namespace {

TEST(ItemTable, HasARowAnItemAndTheKeysAsColumns) {
  EXPECT_EQ(item_table(R"([{"item":6.05,"estimate":120,"lower":118,"upper":120},)"
                       R"({"item":100.5,"estimate":7,"lower":5,"upper":7}])",
                       0),
            " item  estimate  lower  upper\n"
            " 6.05       120    118    120\n"
            "100.5         7      5      7\n");
}

TEST(ItemTable, ShowsTextsWithTheirQuotesAndWhateverIsInThem) {
  EXPECT_EQ(
      item_table(R"([ {"item" : "a,b}]\"c", "upper": null} , {"item":"d","upper":[1,{"x":2}]} ])",
                 0),
      "item              upper\n"
      "\"a,b}]\\\"c\"         null\n"
      "\"d\"         [1,{\"x\":2}]\n");
}

TEST(ItemTable, LeavesCellsEmptyWhereAnItemHasNoSuchKey) {
  EXPECT_EQ(item_table(R"([{"item":1,"upper":2},{"other":3}])", 0),
            "item  upper\n"
            "   1      2\n"
            "\n");
}

TEST(ItemTable, IsEmptyForWhatIsNoListOfObjects) {
  for (const char* json : {"", "null", "5", "true", "[]", "[1,2]", "[[1,2],[3,4]]", "[{\"a\":1},2]",
                           "{\"a\":1}", "\"[\""}) {
    EXPECT_EQ(item_table(json, 0), "") << json;
  }
}

}  // namespace
}  // namespace weir::replay
