// Spread: the median and the extremes of repeated measurements.
//
// Thread safety: immutable values.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness/json_line.h"

namespace weir::harness {

struct Spread {
  double median = 0, min = 0, max = 0;

  // REQUIRES: !values.empty().
  static Spread of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back()};
  }
  std::string to_json() const {
    JsonLine line;
    return line.add("median", median).add("min", min).add("max", max).str();
  }
};

}  // namespace weir::harness
