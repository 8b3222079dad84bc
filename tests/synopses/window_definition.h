// What windows are, value by value: the oracle of synopses/windowed.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "synopses/synopsis.h"

namespace weir::synopses {

struct Definition {
  WindowSpec windows;
  std::int64_t clock = kNoTime.ns;
  std::uint64_t late = 0, timeless = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> taken;  // time, index

  void take(std::int64_t time, std::size_t index) {
    if (time == kNoTime.ns) {
      ++timeless;
      return;
    }
    clock = std::max(clock, time);
    // The first window that holds it: the smallest k with k·slide + size > time.
    std::int64_t k = time / windows.slide;
    while (k * windows.slide + windows.size > time) --k;
    ++k;
    if (clock - windows.grace >= k * windows.slide + windows.size) {
      ++late;
      return;
    }
    taken.emplace_back(time, index);
  }
  std::vector<std::size_t> of_window(std::int64_t end) const {
    std::vector<std::size_t> indices;
    for (const auto& [time, index] : taken) {
      if (time >= end - windows.size && time < end) indices.push_back(index);
    }
    return indices;
  }
};

}  // namespace weir::synopses
