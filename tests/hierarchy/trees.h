// Registries for the tests of trees and panels: even ones, and random trees and DAGs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hierarchy/registry.h"

namespace weir::hierarchy {

inline std::shared_ptr<const Registry> registry_of(const Outline& root) {
  Result<Registry> registry = Registry::of(root);
  EXPECT_TRUE(registry.ok()) << registry.status().message();
  return std::make_shared<const Registry>(*std::move(registry));
}

inline Outline group_of(std::string identifier, std::vector<Outline> children) {
  return {std::move(identifier), "", true, std::move(children)};
}
inline Outline sensor(std::string identifier) { return {std::move(identifier), "", false, {}}; }

// A group of sensors s<from>, s<from + 1> …
inline Outline leaf_group(std::string identifier, std::size_t from, std::size_t sensors) {
  Outline group = group_of(std::move(identifier), {});
  for (std::size_t i = from; i < from + sensors; ++i) {
    group.children.push_back(sensor("s" + std::to_string(i)));
  }
  return group;
}

// A random hierarchy of at most `depth` levels below its root. With `shared` sensors and groups
// stand in several groups; identifiers are random, so members mix groups and sensors.
class RandomOutline {
 public:
  RandomOutline(std::uint64_t seed, bool shared, std::uint32_t depth, std::size_t widest)
      : random_(seed), shared_(shared), widest_(widest) {
    root_ = group_of("root", {});
    fill(root_, depth);
  }
  const Outline& root() const { return root_; }

 private:
  static constexpr std::size_t kMost = 12'000;

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::string name() { return std::to_string(random_() % 100) + "_" + std::to_string(next_++); }
  static std::size_t size_of(const Outline& outline) {
    std::size_t size = 1;
    for (const Outline& child : outline.children) size += size_of(child);
    return size;
  }
  std::size_t fan_out() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return 15 + below(4);
      case 2:
        return below(widest_ + 1);
      default:
        return 1 + below(9);
    }
  }
  void fill(Outline& group, std::uint32_t depth) {
    const std::size_t members = std::max<std::size_t>(fan_out(), group.identifier == "root");
    for (std::size_t i = 0; i < members && made_ < kMost; ++i) {
      ++made_;
      if (shared_ && below(4) == 0 && take_made(group, depth)) continue;
      if (depth > 0 && below(members < 20 ? 2 : 40) == 0) {
        Outline child = group_of(name(), {});
        fill(child, depth - 1);
        groups_.push_back(child);
        depths_.push_back(depth - 1);
        group.children.push_back(std::move(child));
      } else {
        group.children.push_back(sensor(name()));
        sensors_.push_back(group.children.back());
      }
    }
  }
  // Something that stands elsewhere already, unless it is a member.
  bool take_made(Outline& group, std::uint32_t depth) {
    const bool a_group = below(2) == 0 && !groups_.empty();
    if (!a_group && sensors_.empty()) return false;
    const std::size_t i = below(a_group ? groups_.size() : sensors_.size());
    if (a_group && depths_[i] >= depth) return false;
    const Outline& made = a_group ? groups_[i] : sensors_[i];
    const auto same = [&](const Outline& o) { return o.identifier == made.identifier; };
    if (std::any_of(group.children.begin(), group.children.end(), same)) return false;
    const std::size_t size = size_of(made);
    if (made_ + size > kMost) return false;
    made_ += size;
    group.children.push_back(made);
    return true;
  }

  std::mt19937_64 random_;
  bool shared_;
  std::size_t widest_, made_ = 0, next_ = 0;
  Outline root_;
  std::vector<Outline> groups_, sensors_;
  std::vector<std::uint32_t> depths_;
};

// Registries of every kind, by seed.
inline std::shared_ptr<const Registry> random_registry(std::uint64_t seed) {
  const std::size_t widest = seed % 10 == 0 ? 5'000 : seed % 3 == 0 ? 300 : 40;
  return registry_of(
      RandomOutline(seed, seed % 2 == 1, static_cast<std::uint32_t>(seed % 9), widest).root());
}

}  // namespace weir::hierarchy
