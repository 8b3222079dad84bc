#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "hierarchy/registry.h"
#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {
namespace {

using Outcome = Registries::Outcome;

TEST(Registries, TellWhatIsNewReplacedAndUnchanged) {
  Registries registries;
  EXPECT_EQ(*registries.put(registry_of(group_of("R", {sensor("x")}))), Outcome::kNew);
  Outline named = group_of("R", {sensor("x")});
  named.name = "Root";
  EXPECT_EQ(*registries.put(registry_of(named)), Outcome::kUnchanged);
  EXPECT_EQ(registries.all().at("R")->root().name, "Root");
  EXPECT_EQ(*registries.put(registry_of(group_of("R", {sensor("y")}))), Outcome::kReplaced);
  EXPECT_EQ(*registries.put(registry_of(group_of("R", {}))), Outcome::kReplaced);
  EXPECT_EQ(*registries.put(registry_of(group_of("S", {}))), Outcome::kNew);
  EXPECT_EQ(registries.size(), 2u);
}

TEST(Registries, AddNoRootThatStandsAlready) {
  Registries registries;
  const auto first = registry_of(group_of("R", {sensor("x")}));
  EXPECT_TRUE(registries.add(first).ok());
  EXPECT_EQ(registries.add(registry_of(group_of("R", {sensor("x")}))).message(),
            "hierarchy R stands already; give its registry once");
  EXPECT_EQ(registries.all().at("R"), first);
  EXPECT_TRUE(registries.add(registry_of(group_of("S", {sensor("x")}))).ok());
  EXPECT_EQ(registries.add(registry_of(group_of("x", {}))).code(), Code::kConfig);
}

TEST(Registries, ShareSensorsButNotGroups) {
  Registries registries;
  ASSERT_TRUE(registries.put(registry_of(group_of("R", {group_of("G", {sensor("x")})}))).ok());
  EXPECT_TRUE(registries.put(registry_of(group_of("S", {sensor("x")}))).ok());
}

// What may not stand beside R/G/x, and what is said. `sensors` more make the new one the larger.
void expect_refused(Outline added, std::size_t sensors, const std::string& message) {
  for (std::size_t i = 0; i < sensors; ++i) {
    added.children.push_back(group_of("more" + std::to_string(i), {}));
  }
  const auto standing = registry_of(group_of("R", {group_of("G", {sensor("x")})}));
  Registries registries;
  ASSERT_TRUE(registries.put(standing).ok());
  const auto before = registry_of(group_of(added.identifier, {sensor("kept")}));
  const bool replaces = added.identifier != "G" && added.identifier != "x";
  if (replaces) {
    ASSERT_TRUE(registries.put(before).ok());
  }
  const auto outcome = registries.put(registry_of(added));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::kConfig);
  EXPECT_EQ(outcome.status().message(), message);
  EXPECT_EQ(registries.all().at("R"), standing);
  EXPECT_EQ(registries.size(), replaces ? 2u : 1u);
  if (replaces) {
    EXPECT_EQ(registries.all().at(added.identifier), before);
  }
}

TEST(Registries, RefuseWhatClashesAndStayAsTheyWere) {
  for (const std::size_t more : {0, 20}) {
    expect_refused(group_of("S", {group_of("T", {group_of("G", {})})}), more,
                   "S/T/G: group G is a group of hierarchy R; identifiers of groups are unique");
    expect_refused(group_of("S", {group_of("x", {})}), more,
                   "S/x: group x is a sensor of hierarchy R; identifiers of groups are unique");
    expect_refused(group_of("S", {group_of("T", {sensor("G")})}), more,
                   "S/T/G: sensor G is a group of hierarchy R");
    expect_refused(group_of("S", {sensor("R")}), more, "S/R: sensor R is a group of hierarchy R");
    expect_refused(group_of("G", {}), more,
                   "G: group G is a group of hierarchy R; identifiers of groups are unique");
    expect_refused(group_of("x", {}), more,
                   "x: group x is a sensor of hierarchy R; identifiers of groups are unique");
  }
}

TEST(Registries, LetAGroupMoveWhenTheOtherHasGivenItUp) {
  Registries registries;
  ASSERT_TRUE(registries.put(registry_of(group_of("R", {group_of("G", {})}))).ok());
  const auto taken = registry_of(group_of("S", {group_of("G", {})}));
  EXPECT_FALSE(registries.put(taken).ok());
  ASSERT_TRUE(registries.put(registry_of(group_of("R", {}))).ok());
  EXPECT_TRUE(registries.put(taken).ok());
}

// Random pairs against the rule itself.
TEST(Registries, AgreeWithTheRuleOnRandomPairs) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto some = [&](const char* root) {
      Outline outline = group_of(root, {});
      const std::size_t size = random() % 2 == 0 ? 3 : 25;
      for (std::size_t i = 0; i < size; ++i) {
        std::string id = std::to_string(random() % 400);
        const auto same = [&](const Outline& o) { return o.identifier == id; };
        if (std::any_of(outline.children.begin(), outline.children.end(), same)) continue;
        outline.children.push_back(random() % 4 == 0 ? group_of(id, {}) : sensor(id));
      }
      return registry_of(outline);
    };
    const auto a = some("A"), b = some("B");
    bool clash = false;
    for (const Group& group : a->groups()) clash |= b->find(group.identifier).has_value();
    for (const Group& group : b->groups()) clash |= a->find(group.identifier).has_value();
    Registries registries;
    ASSERT_TRUE(registries.put(a).ok());
    EXPECT_EQ(registries.put(b).ok(), !clash) << seed;
    refused += clash;
  }
  EXPECT_GT(refused, 50u);
  EXPECT_LT(refused, 350u);
}

// Random puts in random places, also such as are refused, against the rule itself.
TEST(Registries, AgreeWithTheRuleAfterEveryChange) {
  std::size_t refused = 0, replaced = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    Registries registries(seed % 3 == 0 ? 4 : Registries::kLarge);
    std::map<std::string, std::shared_ptr<const Registry>> standing;
    for (int step = 0; step < 60; ++step) {
      Outline outline = group_of("R" + std::to_string(random() % 5), {});
      for (std::uint64_t i = random() % 6; i > 0; --i) {
        const std::string id = std::to_string(random() % 40);
        const auto same = [&](const Outline& o) { return o.identifier == id; };
        if (std::any_of(outline.children.begin(), outline.children.end(), same)) continue;
        outline.children.push_back(random() % 3 == 0 ? group_of(id, {}) : sensor(id));
      }
      const auto added = registry_of(outline);
      bool clash = false;
      for (const auto& [root, other] : standing) {
        if (root == outline.identifier) continue;
        for (const Group& group : added->groups())
          clash |= other->find(group.identifier).has_value();
        for (const Group& group : other->groups())
          clash |= added->find(group.identifier).has_value();
      }
      const auto outcome = registries.put(added);
      ASSERT_EQ(outcome.ok(), !clash) << seed << " " << step;
      if (!clash) standing[outline.identifier] = added;
      refused += clash;
      replaced += !clash && *outcome == Outcome::kReplaced;
      ASSERT_TRUE(std::equal(standing.begin(), standing.end(), registries.all().begin(),
                             registries.all().end()));
    }
  }
  EXPECT_GT(refused, 300u);
  EXPECT_GT(replaced, 300u);
}

// Each is a root, a group and two sensors, one of which all have; every one is looked up twice.
TEST(Registries, CostWhatIsPutAndNotWhatStands) {
  Registries registries;
  const auto small = [](int i, const char* sensor_of_all) {
    const std::string id = std::to_string(i);
    return registry_of(
        group_of("R" + id, {group_of("G" + id, {sensor("s" + id)}), sensor(sensor_of_all)}));
  };
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(registries.put(small(i, "all")).ok());
  EXPECT_LE(registries.lookups(), 2u * 4 * 2000);
  std::uint64_t before = registries.lookups();
  ASSERT_EQ(*registries.put(small(0, "other")), Outcome::kReplaced);
  EXPECT_EQ(registries.lookups() - before, 3u);  // one more is checked and held, one let go
  before = registries.lookups();
  ASSERT_EQ(*registries.put(small(0, "other")), Outcome::kUnchanged);
  EXPECT_EQ(registries.lookups(), before);
}

TEST(Registries, IndexNothingThatIsLarge) {
  Registries registries(3);
  ASSERT_TRUE(registries.put(registry_of(group_of("R", {sensor("x"), sensor("y")}))).ok());
  const std::uint64_t before = registries.lookups();
  EXPECT_EQ(before, 3u);  // looked for among small ones, of which there are none
  EXPECT_TRUE(registries.put(registry_of(group_of("S", {sensor("x")}))).ok());
  EXPECT_EQ(registries.lookups() - before, 2u * 2);
  EXPECT_FALSE(registries.put(registry_of(group_of("y", {}))).ok());
  EXPECT_FALSE(registries.put(registry_of(group_of("T", {sensor("R")}))).ok());
}

}  // namespace
}  // namespace weir::hierarchy
