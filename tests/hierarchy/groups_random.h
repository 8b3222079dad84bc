// Random registries and tuples for the laws of Groups, and specs of all modes.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/hierarchy/groups_run.h"

namespace weir::hierarchy {

inline constexpr std::size_t kSensors = 12;

inline std::string name_of(std::size_t sensor) { return "s" + std::to_string(sensor); }

// Sensors in random groups; some are in none, some in several.
inline std::string random_groups(const std::string& root, std::mt19937_64& random) {
  std::string text = root + "{";
  for (int g = 0; g < 3; ++g) {
    if (random() % 5 == 0) continue;
    text += root + std::to_string(g) + "{";
    for (std::size_t s = 0; s < kSensors; ++s) {
      if (random() % 3 == 0) text += name_of(s) + ",";
    }
    text += "},";
  }
  if (random() % 2 == 0) text += name_of(random() % kSensors);
  return text + "}";
}

// Out of order by seconds, sometimes by minutes, sometimes without a time or a value.
inline std::vector<Given> random_tuples(std::mt19937_64& random, std::size_t n,
                                        std::size_t fields) {
  std::vector<Given> tuples;
  std::int64_t now = -100 * kS;
  for (std::size_t i = 0; i < n; ++i) {
    now += static_cast<std::int64_t>(random() % 5) * kS / 3;
    if (random() % 97 == 0) now += static_cast<std::int64_t>(random() % 100) * kS;
    Given tuple{name_of(random() % (kSensors + 2)), now, {}, random() % 9 == 0 ? "E" : "D", 0};
    if (random() % 4 == 0) tuple.time -= static_cast<std::int64_t>(random() % 25) * kS;
    if (random() % 50 == 0) tuple.time = kNoTime.ns;
    if (random() % 20 == 0) tuple.rejects = 1 + static_cast<std::uint32_t>(random() % 3);
    for (std::size_t f = 0; f < fields; ++f) {
      std::optional<double> value = static_cast<double>(random() % 1000) / 7;
      if (random() % 10 == 0) value.reset();
      tuple.values.push_back(value);
    }
    tuples.push_back(std::move(tuple));
  }
  return tuples;
}

inline std::vector<Spec> specs() {
  Spec arrival = changelog();
  arrival.options.late = GroupOptions::Late::kArrival;
  Spec one_dataset = tumbling();
  one_dataset.options.dataset = "D";
  std::vector<Spec> all{
      changelog(), arrival,      latest(10),  latest(7, 20),         tumbling(),
      tumbling(0), tumbling(25), one_dataset, sliding(30, 10, 5, 8), sliding(7, 3, 4, 0)};
  for (Spec& spec : all) spec = spec_of(spec.options, {"a", "b"});
  return all;
}

}  // namespace weir::hierarchy
