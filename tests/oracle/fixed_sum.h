// The documented sum, min, max and count of a group, worked out value by value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/plain_registry.h"

namespace weir::tests {

// 16 cells at a time by halves, the results again until there is one.
inline double fixed_sum(std::vector<double> cells) {
  if (cells.empty()) return 0;
  do {
    std::vector<double> folded;
    for (std::size_t first = 0; first < cells.size(); first += 16) {
      double sixteen[16] = {};
      for (std::size_t i = 0; i < 16 && first + i < cells.size(); ++i) {
        sixteen[i] = cells[first + i];
      }
      for (std::size_t half = 8; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) sixteen[i] = sixteen[i] + sixteen[i + half];
      }
      folded.push_back(sixteen[0]);
    }
    cells = std::move(folded);
  } while (cells.size() > 1);
  return cells[0];
}

// What a group comes to; `there` is false of one that no registry holds.
struct GroupState {
  std::uint64_t count = 0, members = 0, sensors = 0, missing = 0;
  double sum = 0;
  std::optional<double> min, max;
  std::vector<std::string> member_names;

  bool publishes_alike(const GroupState& other) const {
    return count == other.count && sum == other.sum && min == other.min && max == other.max &&
           missing == other.missing;
  }
  bool same_as(const GroupState& other) const {
    return publishes_alike(other) && members == other.members && sensors == other.sensors &&
           member_names == other.member_names;
  }
};

// The value of a sensor, if it has one.
using ValueOf = std::function<std::optional<double>(const std::string&)>;

inline double sum_of(const WorkedOutRegistry& registry, const std::string& id,
                     const ValueOf& value_of) {
  const WorkedOutRegistry::Group& group = registry.groups().at(id);
  std::vector<double> cells;
  for (const std::string& cell : group.shared ? group.sensors : group.members) {
    cells.push_back(registry.is_group(cell) ? sum_of(registry, cell, value_of)
                                            : value_of(cell).value_or(0));
  }
  return fixed_sum(std::move(cells));
}

inline GroupState state_of(const WorkedOutRegistry& registry, const std::string& id,
                           const ValueOf& value_of) {
  GroupState state;
  const auto found = registry.groups().find(id);
  if (found == registry.groups().end()) return state;
  const WorkedOutRegistry::Group& group = found->second;
  state.members = group.members.size();
  state.sensors = group.sensors.size();
  state.member_names = group.members;
  for (const std::string& sensor : group.sensors) {
    const std::optional<double> value = value_of(sensor);
    if (!value.has_value()) {
      ++state.missing;
      continue;
    }
    state.min = std::min(state.min.value_or(*value), *value);
    state.max = std::max(state.max.value_or(*value), *value);
  }
  if (state.missing == state.sensors) return state;
  for (const std::string& member : group.members) {
    bool has = false;
    if (registry.is_group(member)) {
      for (const std::string& sensor : registry.groups().at(member).sensors) {
        has = has || value_of(sensor).has_value();
      }
    } else {
      has = value_of(member).has_value();
    }
    if (has) ++state.count;
  }
  state.sum = sum_of(registry, id, value_of);
  return state;
}

}  // namespace weir::tests
