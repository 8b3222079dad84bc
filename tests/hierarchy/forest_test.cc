#include "hierarchy/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {
namespace {

std::shared_ptr<const Registry> random_flat(const std::string& root, std::mt19937_64& random) {
  Outline outline = group_of(root, {});
  for (int s = 0; s < 12; ++s) {
    if (random() % 3 == 0) outline.children.push_back(sensor("s" + std::to_string(s)));
  }
  return registry_of(outline);
}

// Trees are added and replaced at random; what each sensor's places are is looked up anew.
TEST(Forest, PlacesEverySensorInTheTreesThatStand) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const core::KeyTable keys;
    Forest forest(keys, "");
    for (int step = 0; step < 40; ++step) {
      const auto t = static_cast<std::uint32_t>(random() % (std::min(forest.trees(), 5u) + 1));
      forest.put(t, random_flat("R" + std::to_string(t), random));
      std::uint32_t placed = 0;
      for (std::uint32_t sensor = 0; sensor < forest.sensors(); ++sensor) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> expected, places;
        for (std::uint32_t u = 0; u < forest.trees(); ++u) {
          const auto leaf = forest.tree(u)->registry().find_sensor(forest.identifier(sensor));
          if (leaf.has_value()) expected.emplace_back(u, *leaf);
        }
        for (const Forest::Place place : forest.places(sensor)) {
          places.emplace_back(place.tree, place.leaf);
        }
        ASSERT_EQ(places, expected) << seed << " " << step << " " << forest.identifier(sensor);
        ASSERT_EQ(forest.placed(sensor), !expected.empty());
        placed += !expected.empty();
      }
      ASSERT_EQ(forest.all_placed(), placed == forest.sensors());
    }
  }
}

TEST(Forest, CostsWhatIsPutAndNotWhatStands) {
  const core::KeyTable keys;
  Forest forest(keys, "");
  for (std::uint32_t t = 0; t < 2000; ++t) {
    const std::string id = std::to_string(t);
    forest.put(t, registry_of(group_of("R" + id, {sensor("s" + id), sensor("all")})));
  }
  EXPECT_EQ(forest.placings(), 2u * 2000);
  forest.put(7, registry_of(group_of("R7", {sensor("new")})));
  EXPECT_EQ(forest.placings(), 2u * 2000 + 3);
}

}  // namespace
}  // namespace weir::hierarchy
