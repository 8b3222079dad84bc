#include "core/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::core {
namespace {

TEST(Nearest, CountsASwapOfNeighboursAsOneAndCaseAsNothing) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("threads", "Threads"), 0u);
  EXPECT_EQ(edit_distance("thread", "threads"), 1u);
  EXPECT_EQ(edit_distance("therads", "threads"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Nearest, NamesTheNearestAndOnlyIfItIsNear) {
  const std::vector<std::string> names = {"threads", "shard-threads", "layout"};
  EXPECT_EQ(nearest("thraeds", names), "threads");
  EXPECT_EQ(nearest("shard_threads", names), "shard-threads");
  EXPECT_EQ(nearest("colour", names), "");
  EXPECT_EQ(did_you_mean("thraeds", names), "; did you mean \"threads\"?");
  EXPECT_EQ(did_you_mean("colour", names), "");
  EXPECT_EQ(nearest(std::string(1000, 't'), names), "");
}

}  // namespace
}  // namespace weir::core
