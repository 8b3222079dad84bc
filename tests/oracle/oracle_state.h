// What the oracle of hierarchies remembers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "tests/oracle/oracle_input.h"

namespace weir::tests {

struct OracleKept {
  double value = 0;
  Time time;
};
using OracleValues = std::unordered_map<std::string, OracleKept>;  // by stream
// A window, or in modes without windows the only one there is.
struct OracleSlice {
  Time start, end;
  OracleValues values;
  std::map<std::string, GroupState> published;      // last, by group
  std::map<std::string, std::int64_t> unpublished;  // time of the first update, by group
};
struct OracleHierarchy {
  std::size_t family = 0;
  std::unique_ptr<WorkedOutRegistry> registry;
  // Sensors that have no value although one is kept: it was too old. By field.
  std::map<std::string, std::set<std::string>> aged;
};
struct OracleFamily {
  GroupOptions options;
  // By field, then start of the window.
  std::map<std::string, std::map<std::int64_t, OracleSlice>> slices;
  std::set<std::string> heard;  // streams that had a value since the options stand
  bool windowed() const {
    return options.mode == GroupOptions::Mode::kTumbling ||
           options.mode == GroupOptions::Mode::kSliding;
  }
};
struct OracleRow {
  OracleResult result;
  int level = 0;
};

}  // namespace weir::tests
