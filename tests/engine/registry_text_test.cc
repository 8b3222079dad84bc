#include "engine/registry_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "tests/support/shared_data.h"

namespace weir::engine {
namespace {

using hierarchy::Member;
using hierarchy::Registry;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// "G: s t; R: [G]", bottom up, with a name where there is one; registries on lines of their own.
std::string text_of(const std::vector<Registry>& registries) {
  std::string text;
  for (const Registry& registry : registries) {
    if (!text.empty()) text += "\n";
    for (const hierarchy::Group& group : registry.groups()) {
      text += (&group == registry.groups().data() ? "" : "; ") + group.identifier + ":";
      for (const Member member : group.members) {
        const std::string id(registry.identifier(member));
        text += member.group ? " [" + id + "]" : " " + id;
      }
    }
  }
  return text;
}

std::string read(std::string_view text) {
  const auto registries = parse_registries(text, "f");
  EXPECT_TRUE(registries.ok()) << registries.status().message();
  return registries.ok() ? text_of(*registries) : "";
}

std::string error_of(std::string_view text) {
  const auto registries = parse_registries(text, "f");
  EXPECT_FALSE(registries.ok()) << text;
  EXPECT_EQ(registries.status().code(), Code::kConfig);
  return registries.status().message();
}

constexpr std::string_view kPlant =
    R"({"identifier":"plant","name":"Plant","children":[
  {"identifier":"hall","name":null,"children":[{"identifier":"press"},{"identifier":"\u00fc"}]},
  {"identifier":"empty","children":[]},
  {"unit":[{"children":7}],"identifier":"lathe","name":"Lathe","children":null}]})";

TEST(RegistryText, ReadsTitansJson) {
  EXPECT_EQ(read(kPlant), "empty:; hall: press ü; plant: [empty] [hall] lathe");
  const auto registries = parse_registries(kPlant, "f");
  const Registry& plant = registries->front();
  EXPECT_EQ(plant.root().name, "Plant");
  EXPECT_EQ(plant.sensors()[*plant.find_sensor("lathe")].name, "Lathe");
  EXPECT_EQ(plant.groups()[*plant.find_group("hall")].name, "");
}

TEST(RegistryText, PassesByteOrderMarksCarriageReturnsAndSpaceAround) {
  EXPECT_EQ(read("\xef\xbb\xbf\r\n {\"identifier\":\"R\",\r\n\"children\":[]}\r\n\r\n"), "R:");
  EXPECT_EQ(read("\xef\xbb\xbfs,R\r\nt,R\r\n"), "R: s t");
}

TEST(RegistryText, ReadsLinesOfChildAndParent) {
  EXPECT_EQ(read("child,parent\ns,G\nG,R\n"), "G: s; R: [G]");
  EXPECT_EQ(read("CHILD , Parent\r\n\r\n  \ns , G \n\tG,R"), "G: s; R: [G]");
  EXPECT_EQ(read("\"a, \"\"b\"\"\",R\n\"two\nlines\",\"R\"\n"), "R: a, \"b\" two\nlines");
  EXPECT_EQ(read("s,B\ns,A\ns,A\n"), "A: s\nB: s");
  // Only the first line may be a header.
  EXPECT_EQ(read("s,R\nchild,parent\n"), "R: s\nparent: child");
}

TEST(RegistryText, TakesTheOrderOfCsvFromItsHeader) {
  const std::string plant = "G: s t; R: [G]";
  for (const char* text : {"parent,child\nG,s\nG,t\nR,G\n", "Parent , CHILD\r\n\r\nG,s\nG,t\nR,G",
                           "\n\"parent\",\"child\"\nG,s\nG,t\nR,G\n", "s,G\nt,G\nG,R\n"}) {
    EXPECT_EQ(read(text), plant) << text;
  }
  // Only the first line may be a header.
  EXPECT_EQ(read("s,R\nparent,child\n"), "R: s\nchild: parent");
  EXPECT_EQ(error_of("parent,child\nR,A\nA,B\nB,A\n"),
            "f: line 4: R/A/B/A: cycle: A stands above itself");
  EXPECT_EQ(error_of("parent,child\n"), "f: no line of child,parent");
}

TEST(RegistryText, SaysInWhichLineOfCsvSomethingIsWrong) {
  EXPECT_EQ(error_of("s,R\n\nt\n"), "f: line 3: expected child,parent");
  EXPECT_EQ(error_of("s,R\r\nt,R,x\r\n"), "f: line 2: expected child,parent");
  EXPECT_EQ(error_of("\"s\nt\",R\n\"s\"x,R\n"), "f: line 3: expected child,parent");
  EXPECT_EQ(error_of("s,R\n\"t,R\n"), "f: line 2: expected child,parent");
  EXPECT_EQ(error_of("s,R\n ,R\n"), "f: line 2: an identifier is empty");
  EXPECT_EQ(error_of("s,R\nt\xff,R\n"), "f: line 2: an identifier is not UTF-8");
  EXPECT_EQ(error_of("child,parent\n"), "f: no line of child,parent");
  EXPECT_EQ(error_of("child,parent\nA,R\nB,A\nA,B\n"),
            "f: line 4: R/A/B/A: cycle: A stands above itself");
}

TEST(RegistryText, SaysWhatARegistryIsWhereATextIsNeitherForm) {
  for (const char* text : {"null", "5", "\"x\"", "true\n", "hall\ns,hall\n"}) {
    EXPECT_EQ(error_of(text), "f: line 1: a registry is a JSON object or CSV of child,parent")
        << text;
  }
  const std::string json = R"({"identifier":"R","children":[]})";
  for (const std::string& narrow : {json, std::string("s,R\n")}) {
    std::string little, big;
    for (const char c : narrow) {
      little += {c, '\0'};
      big += {'\0', c};
    }
    for (const std::string& text : {little, big, "\xff\xfe" + little, "\xfe\xff" + big}) {
      EXPECT_EQ(error_of(text),
                "f: it looks like UTF-16; a registry is a JSON object or CSV of "
                "child,parent, in UTF-8");
    }
  }
}

TEST(RegistryText, SaysWhereTextStopsBeingJson) {
  EXPECT_EQ(error_of("{\"identifier\":\"R\",\n\"children\":[,]}"),
            "f: line 2, column 13: this is not JSON: expected a value: an object, array, string, "
            "number, true, false or null");
  EXPECT_EQ(error_of("{\"identifier\":\"R\",\"children\":[]\n\n"),
            "f: line 1, column 32: this is not JSON: expected ',' or '}' after a value");
  EXPECT_EQ(error_of("{\"identifier\":\"R\",\n\"name\":\"\xff\",\"children\":[]}"),
            "f: line 2, column 9: this is not JSON: a byte that is not UTF-8");
  EXPECT_THAT(error_of(R"({"identifier":"R","children":[],"x":1e999})"), HasSubstr("out of range"));
  EXPECT_THAT(error_of(R"({"identifier":"\ud800","children":[]})"), StartsWith("f: "));
}

TEST(RegistryText, HoldsOneRegistryInJson) {
  constexpr std::string_view kR = R"({"identifier":"R","children":[]})";
  EXPECT_THAT(error_of("[" + std::string(kR) + "]"), HasSubstr("one file holds one registry"));
  EXPECT_EQ(error_of(std::string(kR) + "\n" + std::string(kR)),
            "f: line 2, column 1: something follows the registry; one file holds one");
  EXPECT_EQ(error_of(""), "f: it is empty");
  EXPECT_EQ(error_of(" \r\n"), "f: it is empty");
}

TEST(RegistryText, SaysAtWhichPathSomethingIsWrong) {
  const auto in_hall = [](std::string_view child) {
    return R"({"identifier":"plant","children":[{"identifier":"a"},)"
           R"({"identifier":"hall","children":[)" +
           std::string(child) + "]}]}";
  };
  EXPECT_THAT(error_of(in_hall(R"({"name":"Press"})")),
              StartsWith("f: plant/hall/child 1: identifier is missing; a registry is an object"));
  EXPECT_THAT(error_of(in_hall(R"({"identifier":null})")),
              StartsWith("f: plant/hall/child 1: identifier is missing"));
  EXPECT_EQ(error_of(in_hall(R"({"identifier":7})")),
            "f: plant/hall/child 1: identifier is a text in quotes");
  EXPECT_EQ(error_of(in_hall(R"({"identifier":"p"},{"identifier":"q","name":[]})")),
            "f: plant/hall/child 2: name is a text in quotes");
  EXPECT_EQ(error_of(in_hall(R"({"identifier":"p","children":{}})")),
            "f: plant/hall/child 1: children is an array; leave it out for a sensor");
  EXPECT_EQ(error_of(in_hall(R"({"identifier":"p","children":[],"children":[]})")),
            "f: plant/hall/child 1: children stands twice");
  EXPECT_THAT(error_of(in_hall("7")), StartsWith("f: plant/hall/child 1: a registry is an object"));
  EXPECT_EQ(error_of(in_hall(R"({"identifier":""})")),
            "f: plant/hall/child 1: an identifier is empty");
  EXPECT_EQ(error_of(in_hall(R"({"identifier":"hall"})")),
            "f: plant/hall/hall: cycle: hall stands above itself");
  EXPECT_EQ(error_of(R"({"identifier":"s"})"),
            "f: s: the root has no children; it must be a group");
  EXPECT_THAT(error_of(R"({"children":[]})"), StartsWith("f: registry: identifier is missing"));
}

std::string nested(std::size_t groups) {
  std::string text, end;
  for (std::size_t i = 0; i < groups; ++i) {
    text += R"({"identifier":"g)" + std::to_string(i) + R"(","children":[)";
    end += "]}";
  }
  return text + R"({"identifier":"s"})" + end;
}

TEST(RegistryText, BoundsHowDeepGroupsStand) {
  EXPECT_EQ(parse_registries(nested(256), "f")->front().root().level, 256u);
  EXPECT_THAT(error_of(nested(257)), HasSubstr("groups stand deeper than 256"));
  for (const std::size_t groups : {500, 512, 513, 100'000}) {
    EXPECT_THAT(error_of(nested(groups)), AllOf(HasSubstr("deep"), HasSubstr("256"))) << groups;
    EXPECT_THAT(error_of(nested(groups)), Not(HasSubstr("not JSON"))) << groups;
  }
}

// Whatever is done to a text, it is read or refused with a message of one line.
void expect_survives(std::string_view text) {
  const auto registries = parse_registries(text, "f");
  if (registries.ok()) {
    ASSERT_FALSE(registries->empty());
    for (const Registry& registry : *registries) ASSERT_FALSE(registry.groups().empty());
  } else {
    ASSERT_THAT(registries.status().message(), AllOf(StartsWith("f: "), Not(HasSubstr("\n"))));
  }
}

TEST(RegistryText, SurvivesEveryTruncationAndManyChangedBytes) {
  const std::string_view texts[] = {kPlant, "child,parent\r\ns,G\nG,\"R\"\n\"a \"\"b\"\"\",R\n"};
  for (const std::string_view whole : texts) {
    for (std::size_t size = 0; size <= whole.size(); ++size) expect_survives(whole.substr(0, size));
    std::mt19937_64 random(1);
    for (int round = 0; round < 20'000; ++round) {
      std::string text(whole);
      for (std::size_t n = 1 + random() % 3; n > 0; --n) {
        text[random() % text.size()] =
            random() % 2 == 0 ? static_cast<char>(random()) : text[random() % text.size()];
      }
      expect_survives(text);
    }
  }
}

TEST(RegistryText, ReadsRealTrees) {
  WEIR_NEEDS_SHARED_DATA("sensor");
  for (const char* name : {"titan_demo_sensor_hierarchy.json", "brick_soda_hall_tree.json"}) {
    std::ifstream file(tests::shared_data() / "sensor" / name);
    std::stringstream text;
    text << file.rdbuf();
    const auto registries = parse_registries(text.str(), name);
    ASSERT_TRUE(registries.ok()) << registries.status().message();
    EXPECT_FALSE(registries->front().sensors().empty());
  }
}

}  // namespace
}  // namespace weir::engine
