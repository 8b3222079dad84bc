#include "hierarchy/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kSeeds = 60;

std::string error_of(const Outline& root) {
  const auto registry = Registry::of(root);
  EXPECT_FALSE(registry.ok());
  EXPECT_EQ(registry.status().code(), Code::kConfig);
  return registry.status().message();
}

std::string error_of(const std::vector<Edge>& edges) {
  const auto registries = Registry::of_edges(edges);
  EXPECT_FALSE(registries.ok());
  EXPECT_EQ(registries.status().code(), Code::kConfig);
  return registries.status().message();
}

// "child<parent" each; their lines are 1, 2, …
std::vector<Edge> edges_of(const std::vector<std::string>& texts) {
  std::vector<Edge> edges;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('<');
    edges.push_back({text.substr(0, at), text.substr(at + 1), edges.size() + 1});
  }
  return edges;
}

Registry single(const std::vector<Edge>& edges) {
  auto registries = Registry::of_edges(edges);
  EXPECT_TRUE(registries.ok()) << registries.status().message();
  EXPECT_EQ(registries->size(), 1u);
  return std::move(registries->front());
}

// Everything but names, so that a difference can be read.
std::string text_of(const Registry& registry) {
  std::string text;
  for (const Group& group : registry.groups()) {
    text += std::to_string(group.level) + " " + group.identifier + ":";
    for (const Member member : group.members) {
      text += (member.group ? " [" : " ") + std::string(registry.identifier(member)) +
              (member.group ? "]" : "");
    }
    text += "\n";
  }
  for (const Sensor& sensor : registry.sensors()) text += sensor.identifier + " ";
  return text;
}

// The groups of an outline by identifier, worked out plainly.
void collect(const Outline& outline, std::map<std::string, std::set<std::string>>& groups) {
  if (!outline.group) return;
  std::set<std::string>& members = groups[outline.identifier];
  for (const Outline& child : outline.children) {
    members.insert(child.identifier);
    collect(child, groups);
  }
}

std::uint32_t level_of(const std::map<std::string, std::set<std::string>>& groups,
                       const std::string& id, std::map<std::string, std::uint32_t>& known) {
  const auto group = groups.find(id);
  if (group == groups.end()) return 0;
  if (known.contains(id)) return known[id];
  std::uint32_t level = 1;
  for (const std::string& member : group->second) {
    level = std::max(level, level_of(groups, member, known) + 1);
  }
  return known[id] = level;
}

// Lines cannot tell of groups without members.
void fill_empty_groups(Outline& outline) {
  if (!outline.group) return;
  if (outline.children.empty()) {
    outline.children.push_back(sensor("in_" + outline.identifier));
    return;
  }
  for (Outline& child : outline.children) fill_empty_groups(child);
}

void shuffle(Outline& outline, std::mt19937_64& random) {
  if (!outline.children.empty() && random() % 8 == 0) {  // a member that stands twice
    outline.children.push_back(outline.children[random() % outline.children.size()]);
  }
  std::shuffle(outline.children.begin(), outline.children.end(), random);
  for (Outline& child : outline.children) shuffle(child, random);
}

Outline random_outline(std::uint64_t seed) {
  return RandomOutline(seed, seed % 4 != 0, static_cast<std::uint32_t>(1 + seed % 7),
                       seed % 10 == 0 ? 2000 : 40)
      .root();
}

TEST(Registry, KeepsItsInvariantsForRandomHierarchies) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outline outline = random_outline(seed);
    const auto registry = registry_of(outline);
    std::map<std::string, std::set<std::string>> groups;
    std::map<std::string, std::uint32_t> levels;
    collect(outline, groups);
    ASSERT_EQ(registry->groups().size(), groups.size()) << seed;
    EXPECT_EQ(registry->root().identifier, outline.identifier);
    std::set<std::string> sensors;
    for (std::uint32_t g = 0; g < registry->groups().size(); ++g) {
      const Group& group = registry->groups()[g];
      EXPECT_EQ(group.level, level_of(groups, group.identifier, levels)) << seed;
      EXPECT_EQ(registry->find_group(group.identifier), g);
      EXPECT_EQ(registry->find_sensor(group.identifier), std::nullopt);
      if (g > 0) {
        const Group& before = registry->groups()[g - 1];
        EXPECT_LT(std::tie(before.level, before.identifier),
                  std::tie(group.level, group.identifier));
      }
      std::vector<std::string> members;
      for (const Member member : group.members) {
        members.emplace_back(registry->identifier(member));
        EXPECT_EQ(member.group, groups.contains(members.back()));
        if (!member.group) sensors.insert(members.back());
      }
      const std::set<std::string>& expected = groups[group.identifier];
      EXPECT_EQ(members, std::vector<std::string>(expected.begin(), expected.end())) << seed;
    }
    std::vector<std::string> listed;
    for (std::uint32_t s = 0; s < registry->sensors().size(); ++s) {
      listed.push_back(registry->sensors()[s].identifier);
      EXPECT_EQ(registry->find_sensor(listed.back()), s);
      EXPECT_EQ(registry->find_group(listed.back()), std::nullopt);
    }
    EXPECT_EQ(listed, std::vector<std::string>(sensors.begin(), sensors.end())) << seed;
    EXPECT_FALSE(registry->find("nobody").has_value());
  }
}

TEST(Registry, IsTheSameFromAnOutlineFromAShuffledOneAndFromLines) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937_64 random(seed);
    Outline outline = random_outline(seed);
    fill_empty_groups(outline);
    const auto registry = registry_of(outline);
    std::map<std::string, std::set<std::string>> groups;
    collect(outline, groups);
    std::vector<Edge> edges;
    for (const auto& [group, members] : groups) {
      for (const std::string& member : members) {
        for (std::size_t i = random() % 5 == 0 ? 2 : 1; i > 0; --i) {
          edges.push_back({member, group, 0});
        }
      }
    }
    std::shuffle(edges.begin(), edges.end(), random);
    const Registry of_lines = single(edges);
    ASSERT_EQ(text_of(of_lines), text_of(*registry)) << seed;
    EXPECT_TRUE(of_lines.same_as(*registry) && registry->same_as(of_lines));
    shuffle(outline, random);
    ASSERT_EQ(text_of(*registry_of(outline)), text_of(*registry)) << seed;
  }
}

TEST(Registry, SortsByTheBytesOfIdentifiers) {
  const std::vector<std::string> kParts = {
      "a", "b", "A", std::string(1, '\0'), "\x7f", "ü", "\xf0\x9f\x8c\xa1", "12345678", "sensor-"};
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> expected;
    const std::string prefix = round % 3 == 0 ? "12345678" : round % 3 == 1 ? "plant/" : "";
    for (int i = 0; i < 40; ++i) {
      std::string identifier = prefix;
      for (std::size_t n = 1 + random() % 6; n > 0; --n) identifier += kParts[random() % 9];
      expected.insert(identifier);
    }
    Outline root = group_of("root", {});
    for (const std::string& identifier : expected) root.children.push_back(sensor(identifier));
    std::shuffle(root.children.begin(), root.children.end(), random);
    std::vector<std::string> sorted;
    const auto registry = registry_of(root);
    for (const Sensor& sensor : registry->sensors()) sorted.push_back(sensor.identifier);
    ASSERT_EQ(sorted, std::vector<std::string>(expected.begin(), expected.end())) << round;
  }
}

TEST(Registry, CountsAMemberThatStandsTwiceInAGroupOnce) {
  const auto registry = registry_of(group_of(
      "R", {sensor("s"), group_of("G", {sensor("s")}), sensor("s"), group_of("G", {sensor("s")})}));
  EXPECT_EQ(text_of(*registry), "1 G: s\n2 R: [G] s\ns ");
}

TEST(Registry, TakesAGroupThatStandsTwiceIfItsMembersAreEqual) {
  const auto registry =
      registry_of(group_of("R", {group_of("A", {group_of("G", {sensor("x"), sensor("y")})}),
                                 group_of("B", {group_of("G", {sensor("y"), sensor("x")})})}));
  EXPECT_EQ(text_of(*registry), "1 G: x y\n2 A: [G]\n2 B: [G]\n3 R: [A] [B]\nx y ");
  EXPECT_EQ(error_of(group_of("R", {group_of("A", {group_of("G", {sensor("x")})}),
                                    group_of("B", {group_of("G", {})})})),
            "R/B/G: group G stands twice, with other members here");
}

TEST(Registry, KeepsTheFirstNameThatIsGiven) {
  Outline root = group_of("R", {sensor("s"), sensor("s"), sensor("s")});
  root.children[1].name = "Press";
  root.children[2].name = "Other";
  EXPECT_EQ(registry_of(root)->sensors()[0].name, "Press");
}

TEST(Registry, RefusesAnIdentifierThatIsAGroupAndASensor) {
  EXPECT_EQ(error_of(group_of("R", {sensor("x"), group_of("G", {group_of("x", {})})})),
            "R/G/x: x is a group here and a sensor elsewhere");
  EXPECT_EQ(error_of(group_of("R", {group_of("x", {}), group_of("G", {sensor("x")})})),
            "R/G/x: x is a sensor here and a group elsewhere");
}

TEST(Registry, NamesThePathOfACycle) {
  const Outline inner = group_of("A", {});
  EXPECT_EQ(error_of(group_of("R", {group_of("A", {group_of("B", {inner})})})),
            "R/A/B/A: cycle: A stands above itself");
  EXPECT_EQ(error_of(group_of("R", {group_of("A", {group_of("B", {sensor("A")})})})),
            "R/A/B/A: cycle: A stands above itself");
  EXPECT_EQ(error_of(group_of("R", {sensor("R")})), "R/R: cycle: R stands above itself");
  EXPECT_EQ(error_of(edges_of({"s<B", "A<R", "B<A", "A<B"})),
            "line 4: R/A/B/A: cycle: A stands above itself");
  EXPECT_EQ(error_of(edges_of({"A<B", "B<A"})), "line 1: A/B/A: cycle: A stands above itself");
  EXPECT_EQ(error_of(edges_of({"s<A", "A<A"})), "line 2: A/A: cycle: A stands above itself");
  // What stands below the cycle and below a root too is not what is wrong.
  EXPECT_THAT(error_of(edges_of({"G<R", "s<G", "A<B", "B<A", "G<A"})), HasSubstr("A: cycle: "));
}

TEST(Registry, ShortensWhatIsLongInAMessage) {
  std::vector<Edge> edges;
  for (int i = 0; i < 100; ++i) {
    edges.push_back({"g" + std::to_string(i + 1), "g" + std::to_string(i), 0});
  }
  edges.push_back({"g7", "g100", 9});
  EXPECT_EQ(error_of(edges),
            "line 9: g0/g1/g2/g3/g4/g5/.../g96/g97/g98/g99/g100/g7: cycle: g7 stands above itself");
  const std::string long_one(kMaxIdentifier, 'x');
  const std::string message = error_of(group_of("R\n", {group_of(long_one, {sensor(long_one)})}));
  EXPECT_THAT(message, AllOf(StartsWith("R /xxx"), EndsWith("... stands above itself")));
  EXPECT_LT(message.size(), 300u);
}

TEST(Registry, ReadsSeveralRootsFromLinesInTheOrderOfTheirIdentifiers) {
  const auto registries = Registry::of_edges(edges_of({"s<Z", "t<G", "G<A", "s<G"}));
  ASSERT_TRUE(registries.ok());
  ASSERT_EQ(registries->size(), 2u);
  EXPECT_EQ(text_of(registries->front()), "1 G: s t\n2 A: [G]\ns t ");
  EXPECT_EQ(text_of(registries->back()), "1 Z: s\ns ");
}

// Else few lines of many roots above one large group would make many large registries.
TEST(Registry, RefusesLinesThatPutAGroupBelowTwoRoots) {
  EXPECT_EQ(error_of(edges_of({"s<G", "G<A", "G<H", "H<B"})),
            "B/H/G: group G is a group of hierarchy A; identifiers of groups are unique");
}

TEST(Registry, ReadsLinesOfManyRoots) {
  std::vector<Edge> edges;
  for (int i = 0; i < 100'000; ++i) {
    edges.push_back({"s" + std::to_string(i), "g" + std::to_string(i), 0});
    edges.push_back({"shared", "g" + std::to_string(i), 0});
  }
  const auto registries = Registry::of_edges(edges);
  ASSERT_TRUE(registries.ok());
  ASSERT_EQ(registries->size(), 100'000u);
  EXPECT_EQ(text_of(registries->front()), "1 g0: s0 shared\ns0 shared ");
}

TEST(Registry, WantsAtLeastOneLine) {
  EXPECT_EQ(error_of(std::vector<Edge>{}), "no line of child,parent");
}

// A chain of so many groups with a sensor at its end.
Outline chain(std::size_t groups) {
  Outline inner = sensor("s");
  for (std::size_t i = groups; i > 0; --i) inner = group_of("g" + std::to_string(i), {inner});
  return inner;
}

TEST(Registry, StandsAsDeepAsTheLimitHoweverItIsWritten) {
  const auto deepest = registry_of(chain(kMaxDepth));
  EXPECT_EQ(deepest->root().level, kMaxDepth);
  EXPECT_THAT(error_of(chain(kMaxDepth + 1)), EndsWith("/g257: groups stand deeper than 256"));
  for (const std::size_t groups : {std::size_t{kMaxDepth}, std::size_t{kMaxDepth} + 1}) {
    std::vector<Edge> edges{{"s", "g" + std::to_string(groups), 0}};
    for (std::size_t i = groups; i > 1; --i) {
      edges.push_back({"g" + std::to_string(i), "g" + std::to_string(i - 1), 0});
    }
    for (const bool top_down : {false, true}) {
      if (top_down) std::reverse(edges.begin(), edges.end());
      if (groups == kMaxDepth) {
        EXPECT_TRUE(single(edges).same_as(*deepest));
      } else {
        EXPECT_EQ(error_of(edges), "g1: groups stand deeper than 256");
      }
    }
  }
}

TEST(Registry, SurvivesALongChainOfGroupsInLines) {
  std::vector<Edge> edges;
  for (int i = 0; i < 200'000; ++i) {
    edges.push_back({std::to_string(i + 1), std::to_string(i), 0});
  }
  EXPECT_THAT(error_of(edges),
              AllOf(StartsWith("0/1/2/"), EndsWith("groups stand deeper than 256")));
}

TEST(Registry, RefusesIdentifiersThatAreNone) {
  EXPECT_EQ(error_of(group_of("R", {sensor("")})), "R/child 1: an identifier is empty");
  EXPECT_EQ(error_of(group_of("", {})), "registry: an identifier is empty");
  EXPECT_EQ(error_of(group_of("R", {sensor(std::string(kMaxIdentifier + 1, 'x'))})),
            "R/child 1: an identifier is longer than 4096 bytes");
  EXPECT_TRUE(Registry::of(group_of("R", {sensor(std::string(kMaxIdentifier, 'x'))})).ok());
  EXPECT_EQ(error_of(group_of("R", {sensor("\xff")})), "R/child 1: an identifier is not UTF-8");
  EXPECT_EQ(error_of(edges_of({"s<R", "<R"})), "line 2: an identifier is empty");
}

TEST(Registry, WantsAGroupAtItsRoot) {
  EXPECT_EQ(error_of(sensor("s")), "s: the root has no children; it must be a group");
  EXPECT_EQ(text_of(*registry_of(group_of("R", {}))), "1 R:\n");
}

TEST(Registry, FindsAPathToEveryMember) {
  const auto registry =
      registry_of(group_of("R", {group_of("A", {sensor("x")}), group_of("B", {sensor("y")})}));
  EXPECT_EQ(registry->path_to({false, *registry->find_sensor("y")}), "R/B/y");
  EXPECT_EQ(registry->path_to({true, *registry->find_group("A")}), "R/A");
  EXPECT_EQ(registry->path_to({true, *registry->find_group("R")}), "R");
}

}  // namespace
}  // namespace weir::hierarchy
