// What groups come to, written from docs/hierarchies.md ("Result") for clarity: recursive sets, and
// sums by halves over as many cells as there are. Knows no tree, block or cell of the library.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "hierarchy/panel.h"
#include "hierarchy/registry.h"

namespace weir::hierarchy {

class Naive {
 public:
  explicit Naive(const Registry& registry) : registry_(registry) {}

  std::map<std::uint32_t, double> values;  // of the sensors that have one

  std::set<std::uint32_t> sensors_below(std::uint32_t group) {
    if (const auto known = below_.find(group); known != below_.end()) return known->second;
    std::set<std::uint32_t> all;
    for (const Member member : members(group)) {
      for (const std::uint32_t sensor : sensors_of(member)) all.insert(sensor);
    }
    return below_[group] = all;
  }

  bool shares(std::uint32_t group) {
    std::size_t sum = 0;
    for (const Member member : members(group)) sum += sensors_of(member).size();
    return sum != sensors_below(group).size();
  }

  double sum(std::uint32_t group) {
    std::vector<double> cells;
    if (shares(group)) {
      for (const std::uint32_t sensor : sensors_below(group)) cells.push_back(value(sensor));
    } else {
      for (const Member member : members(group)) {
        cells.push_back(member.group ? sum(member.index) : value(member.index));
      }
    }
    return by_halves(cells);
  }

  Aggregate at(std::uint32_t group) {
    Aggregate result;
    result.sum = sum(group);
    for (const std::uint32_t sensor : sensors_below(group)) {
      const auto found = values.find(sensor);
      if (found == values.end()) continue;
      result.min = result.present == 0 ? found->second : std::min(result.min, found->second);
      result.max = result.present == 0 ? found->second : std::max(result.max, found->second);
      ++result.present;
    }
    for (const Member member : members(group)) {
      for (const std::uint32_t sensor : sensors_of(member)) {
        if (!values.contains(sensor)) continue;
        ++result.count;
        break;
      }
    }
    return result;
  }

 private:
  const std::vector<Member>& members(std::uint32_t group) const {
    return registry_.groups()[group].members;
  }
  std::set<std::uint32_t> sensors_of(Member member) {
    if (member.group) return sensors_below(member.index);
    return {member.index};
  }
  double value(std::uint32_t sensor) const {
    const auto found = values.find(sensor);
    return found == values.end() ? 0 : found->second;
  }
  static double by_halves(std::vector<double> cells) {
    do {
      std::vector<double> results;
      for (std::size_t begin = 0; begin < cells.size() || begin == 0; begin += 16) {
        double block[16] = {};
        for (std::size_t i = begin; i < cells.size() && i < begin + 16; ++i) {
          block[i - begin] = cells[i];
        }
        for (int half = 8; half > 0; half /= 2) {
          for (int i = 0; i < half; ++i) block[i] += block[i + half];
        }
        results.push_back(block[0]);
      }
      cells = results;
    } while (cells.size() > 1);
    return cells[0];
  }

  const Registry& registry_;
  std::map<std::uint32_t, std::set<std::uint32_t>> below_;
};

}  // namespace weir::hierarchy
