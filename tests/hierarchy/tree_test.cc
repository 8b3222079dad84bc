#include "hierarchy/tree.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/hierarchy/naive.h"
#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {
namespace {

constexpr std::uint64_t kSeeds = 60;

TEST(Tree, CountsDistinctSensorsAndFindsSharedOnes) {
  std::size_t overlapping = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Tree tree(random_registry(seed));
    Naive naive(tree.registry());
    for (std::uint32_t g = 0; g < tree.groups(); ++g) {
      const std::set<std::uint32_t> below = naive.sensors_below(g);
      EXPECT_EQ(tree.sensors_below(g), below.size()) << seed;
      EXPECT_EQ(tree.overlaps(g), naive.shares(g)) << seed;
      overlapping += tree.overlaps(g);
    }
  }
  EXPECT_GT(overlapping, 20u);
}

TEST(Tree, ListsTheGroupsAboveEveryLeaf) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Tree tree(random_registry(seed));
    Naive naive(tree.registry());
    std::vector<std::vector<std::uint32_t>> above(tree.leaves());
    for (std::uint32_t g = 0; g < tree.groups(); ++g) {
      for (const std::uint32_t leaf : naive.sensors_below(g)) above[leaf].push_back(g);
    }
    for (std::uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      const auto ancestors = tree.ancestors(leaf);
      EXPECT_EQ(std::vector<std::uint32_t>(ancestors.begin(), ancestors.end()), above[leaf])
          << seed;
    }
  }
}

// Invariants 2 and 3 of tree.h.
void expect_well_formed(const Tree& tree) {
  const auto blocks = tree.blocks();
  std::vector<std::uint32_t> block_of(tree.cells(), Tree::kNone);
  std::uint32_t next = 0, last_group = 0;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    ASSERT_LE(blocks[b].size, kFanOut);
    ASSERT_EQ(blocks[b].first, next);
    next += blocks[b].size;
    for (std::uint32_t cell = blocks[b].first; cell < next; ++cell) {
      block_of[cell] = b;
      const std::uint32_t source = tree.sources()[cell];
      ASSERT_TRUE(source == Tree::kNone || source < b);
    }
    if (tree.group_of_block(b) == Tree::kNone) continue;
    ASSERT_EQ(tree.group_of_block(b), last_group++);
    ASSERT_EQ(tree.block_of_group(last_group - 1), b);
  }
  ASSERT_EQ(last_group, tree.groups());
  std::set<std::uint32_t> taken;
  for (std::uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    ASSERT_FALSE(tree.places(leaf).empty());
    for (const Tree::Place place : tree.places(leaf)) {
      ASSERT_EQ(block_of[place.cell], place.block);
      ASSERT_EQ(tree.sources()[place.cell], Tree::kNone);
      ASSERT_TRUE(taken.insert(place.cell).second);
    }
  }
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (const Tree::Place& place : tree.outs(b)) {
      ASSERT_EQ(block_of[place.cell], place.block);
      ASSERT_EQ(tree.sources()[place.cell], b);
      ASSERT_TRUE(taken.insert(place.cell).second);
    }
    if (tree.outs(b).empty()) {
      ASSERT_TRUE(taken.insert(blocks[b].out.cell).second);
    } else {
      ASSERT_EQ(blocks[b].out.cell, tree.outs(b).front().cell);
    }
  }
  ASSERT_EQ(taken.size(), tree.cells());
}

TEST(Tree, GivesEveryCellOneSourceAndEveryBlockOneResult) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    expect_well_formed(Tree(random_registry(seed)));
  }
}

TEST(Tree, FoldsAGroupWithoutMembersAsOneEmptyBlock) {
  const Tree tree(registry_of(group_of("root", {group_of("a", {}), sensor("s")})));
  const Tree::Block& block = tree.blocks()[tree.block_of_group(0)];
  EXPECT_EQ(block.size, 0u);
  EXPECT_EQ(tree.sensors_below(0), 0u);
}

TEST(Tree, FoldsMoreThanSixteenMembersInBlocksOfSixteen) {
  const Tree tree(registry_of(leaf_group("root", 0, 16 * 16 + 1)));
  ASSERT_EQ(tree.blocks().size(), 17u + 2 + 1);
  EXPECT_EQ(tree.blocks()[16].size, 1u);
  EXPECT_EQ(tree.blocks()[17].size, 16u);
  EXPECT_EQ(tree.blocks()[18].size, 1u);
  EXPECT_EQ(tree.blocks()[19].size, 2u);
}

// 40 levels of two groups, each holding both of the level below: 2^40 paths.
TEST(Tree, CompilesWhatHasMorePathsThanCanBeWalked) {
  std::vector<Edge> edges{{"sensor", "a0", 1}, {"sensor", "b0", 2}};
  for (int level = 1; level < 40; ++level) {
    for (const char* parent : {"a", "b"}) {
      for (const char* child : {"a", "b"}) {
        edges.push_back({child + std::to_string(level - 1), parent + std::to_string(level), 0});
      }
    }
  }
  edges.push_back({"a39", "root", 0});
  edges.push_back({"b39", "root", 0});
  auto registries = Registry::of_edges(edges);
  ASSERT_TRUE(registries.ok()) << registries.status().message();
  const auto registry = std::make_shared<const Registry>(std::move(registries->front()));
  ASSERT_TRUE(Tree::check(*registry).ok());
  const Tree tree(registry);
  expect_well_formed(tree);
  EXPECT_EQ(tree.sensors_below(tree.groups() - 1), 1u);
  EXPECT_EQ(tree.ancestors(0).size(), tree.groups());
}

// 10'000 groups that each hold a group of 10'000 sensors and one of its sensors.
TEST(Tree, RefusesWhatFewLinesBlowUp) {
  std::vector<Edge> edges;
  for (int i = 0; i < 10'000; ++i) {
    edges.push_back({"s" + std::to_string(i), "all", 0});
    edges.push_back({"all", "g" + std::to_string(i), 0});
    edges.push_back({"s0", "g" + std::to_string(i), 0});
    edges.push_back({"g" + std::to_string(i), "root", 0});
  }
  auto registries = Registry::of_edges(edges);
  ASSERT_TRUE(registries.ok()) << registries.status().message();
  const Status status = Tree::check(registries->front());
  EXPECT_EQ(status.code(), Code::kConfig);
  EXPECT_TRUE(status.message().starts_with("root: ")) << status.message();
}

TEST(Tree, AcceptsWhatPeopleBuild) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Status status = Tree::check(*random_registry(seed));
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

}  // namespace
}  // namespace weir::hierarchy
