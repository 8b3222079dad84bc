// Registries as bytes: every one comes back as it was, and nothing else is taken.
#include <gtest/gtest.h>

#include "core/bytes.h"
#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {
namespace {

std::string bytes_of(const Registry& registry) {
  core::Writer writer;
  registry.save(writer);
  return writer.take();
}

TEST(RegistryBytes, EveryRegistryComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto registry = random_registry(seed);
    const std::string bytes = bytes_of(*registry);
    const std::string more = bytes + "more";
    core::Reader in(more);
    const auto again = Registry::restore(in);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(in.rest(), "more");
    EXPECT_TRUE(again->same_as(*registry));
    EXPECT_EQ(bytes_of(*again), bytes);
    for (std::size_t g = 0; g < registry->groups().size(); ++g) {
      ASSERT_EQ(again->groups()[g].level, registry->groups()[g].level);
    }
    for (const Sensor& sensor : registry->sensors()) {
      ASSERT_EQ(again->find_sensor(sensor.identifier), registry->find_sensor(sensor.identifier));
    }
  }
}

TEST(RegistryBytes, NamesComeBack) {
  const auto registry =
      registry_of({"r", "Root", true, {{"g", "Group", true, {}}, {"s", "Sensor", false, {}}}});
  const std::string bytes = bytes_of(*registry);
  core::Reader in(bytes);
  const auto again = Registry::restore(in);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->root().name, "Root");
  EXPECT_EQ(again->groups()[0].name, "Group");
  EXPECT_EQ(again->sensors()[0].name, "Sensor");
}

TEST(RegistryBytes, WhatIsCutOffIsRefused) {
  const std::string bytes = bytes_of(*random_registry(3));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    core::Reader in(std::string_view(bytes).substr(0, n));
    EXPECT_EQ(Registry::restore(in).status().code(), Code::kInvalid);
  }
}

// What is taken in spite of a change is a registry, and comes back as it is.
TEST(RegistryBytes, ChangedBytesAreRefusedOrARegistry) {
  std::mt19937_64 random(1);
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed < 400; ++seed) {
    std::string bytes = bytes_of(*random_registry(seed % 9));
    for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
    }
    core::Reader in(bytes);
    const auto registry = Registry::restore(in);
    refused += !registry.ok();
    if (registry.ok()) {
      const std::string its = bytes_of(*registry);
      core::Reader again(its);
      const auto same = Registry::restore(again);
      ASSERT_TRUE(same.ok()) << same.status().message();
      EXPECT_EQ(bytes_of(*same), its);
    }
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace weir::hierarchy
