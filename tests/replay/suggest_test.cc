#include "replay/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::replay {
namespace {

TEST(Suggest, CountsASwapOfNeighboursAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("threads", "threads"), 0u);
  EXPECT_EQ(edit_distance("thread", "threads"), 1u);
  EXPECT_EQ(edit_distance("therads", "threads"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Suggest, NamesTheNearestAndOnlyIfItIsNear) {
  const std::vector<std::string> names = {"threads", "shard-threads", "layout"};
  EXPECT_EQ(did_you_mean("thraeds", names), "; did you mean threads?");
  EXPECT_EQ(did_you_mean("shard_threads", names), "; did you mean shard-threads?");
  EXPECT_EQ(did_you_mean("colour", names), "");
}

}  // namespace
}  // namespace weir::replay
