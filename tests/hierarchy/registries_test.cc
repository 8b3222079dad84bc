#include <gtest/gtest.h>

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

}  // namespace
}  // namespace weir::hierarchy
