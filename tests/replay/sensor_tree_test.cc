#include "replay/sensor_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "engine/registry_text.h"
#include "replay/generate.h"

namespace weir::replay {
namespace {

std::string registry_of(const SensorTree& tree, RegistryForm form) {
  std::FILE* file = std::tmpfile();
  EXPECT_NE(file, nullptr);
  EXPECT_TRUE(write_registry(tree, form, ::fileno(file)).ok());
  std::string text(static_cast<std::size_t>(::lseek(::fileno(file), 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(::fileno(file), text.data(), text.size(), 0), ssize_t(text.size()));
  std::fclose(file);
  return text;
}

// The name of a sensor, worked out from its number alone.
std::string name_of(std::uint64_t number, const SensorTree& tree) {
  std::string name;
  for (std::uint32_t level = 0; level < tree.levels(); ++level) {
    name = "." + std::to_string(number % tree.fan_out) + name;
    number /= tree.fan_out;
  }
  return "p" + name;
}

const SensorTree kTrees[] = {{1, 8},   {8, 8},    {9, 8},     {65, 8},      {100, 2},
                             {512, 8}, {144, 12}, {1331, 11}, {2000, 1000}, {123, 10'000'000}};

TEST(SensorPath, CountsInNumbersOfTheFanOut) {
  for (const SensorTree& tree : kTrees) {
    SensorPath path(tree);
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t sensor = 0; sensor < tree.sensors; ++sensor) {
        if (sensor > 0) path.next();
        ASSERT_EQ(path.text(), name_of(sensor, tree)) << tree.sensors << " of " << tree.fan_out;
      }
      path.first();
    }
  }
}

TEST(SensorTree, WritesARegistryOfTheSensorsThereAre) {
  for (const SensorTree& tree : kTrees) {
    std::set<std::string> sensors;
    for (std::uint64_t sensor = 0; sensor < tree.sensors; ++sensor) {
      sensors.insert(name_of(sensor, tree));
    }
    for (const RegistryForm form : {RegistryForm::kJson, RegistryForm::kCsv}) {
      const auto read = engine::parse_registries(registry_of(tree, form), "tree");
      ASSERT_TRUE(read.ok()) << read.status().message();
      ASSERT_EQ(read->size(), 1u);
      const hierarchy::Registry& registry = read->front();
      EXPECT_EQ(registry.root().identifier, "p");
      EXPECT_EQ(registry.root().level, tree.levels());
      std::set<std::string> found;
      for (const auto& sensor : registry.sensors()) found.insert(sensor.identifier);
      ASSERT_EQ(found, sensors);
      for (const auto& group : registry.groups()) {
        EXPECT_FALSE(group.members.empty());
        for (const hierarchy::Member member : group.members) {
          const std::string child(registry.identifier(member));
          EXPECT_EQ(child.substr(0, child.rfind('.')), group.identifier);
        }
      }
    }
  }
}

TEST(SensorTree, NamesWhatItWrites) {
  EXPECT_EQ(
      registry_of({3, 2}, RegistryForm::kJson),
      R"({"identifier":"p","name":"Group p","children":[)"
      R"({"identifier":"p.0","name":"Group p.0","children":[)"
      R"({"identifier":"p.0.0","name":"Sensor p.0.0"},{"identifier":"p.0.1","name":"Sensor p.0.1"}]},)"
      R"({"identifier":"p.1","name":"Group p.1","children":[)"
      R"({"identifier":"p.1.0","name":"Sensor p.1.0"}]}]})"
      "\n");
  EXPECT_EQ(registry_of({3, 2}, RegistryForm::kCsv),
            "child,parent\np.0,p\np.0.0,p.0\np.0.1,p.0\np.1,p\np.1.0,p.1\n");
  EXPECT_EQ(registry_form("plant.csv"), RegistryForm::kCsv);
  EXPECT_EQ(registry_form("plant.json"), RegistryForm::kJson);
}

TEST(SensorTree, ThatIsFullSaysWhatIsOutOfRange) {
  const auto error = [](std::uint64_t levels, std::uint64_t fan_out) {
    return SensorTree::full(levels, fan_out).status().message();
  };
  EXPECT_EQ(SensorTree::full(3, 12)->sensors, 1728u);
  EXPECT_EQ(SensorTree::full(3, 12)->levels(), 3u);
  EXPECT_EQ(SensorTree::full(23, 2)->levels(), 23u);
  EXPECT_EQ(error(0, 8), "levels is 0; it must be 1 to 23");
  EXPECT_EQ(error(24, 2), "levels is 24; it must be 1 to 23");
  EXPECT_EQ(error(2, 1), "fan-out is 1; it must be 2 to 10000000");
  EXPECT_THAT(error(8, 8), testing::HasSubstr("hold more than 10000000 sensors"));
  EXPECT_THAT(error(23, 10'000'000), testing::HasSubstr("hold more than 10000000 sensors"));
  EXPECT_EQ(Generator::create({.fan_out = 1}).status().message(),
            "fan-out is 1; it must be 2 to 10000000");
}

}  // namespace
}  // namespace weir::replay
