// The worked cases of hierarchies (W of windows, U of changelog and changes) as scenarios, and what
// each publishes before the end of the input: "group [start) count,sum", in seconds.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/oracle/oracle_input.h"

namespace weir::tests {

struct HierarchyCase {
  std::string name;
  OracleScenario scenario;
  std::vector<std::string> published;
  std::uint64_t late = 0;
};

namespace cases {

// "R=x,G; G=a,b"; the first is the root.
inline PlainRegistry registry(const std::string& text) {
  PlainRegistry registry;
  std::istringstream groups(text);
  for (std::string group; std::getline(groups, group, ';');) {
    group.erase(0, group.find_first_not_of(' '));
    const std::size_t equals = group.find('=');
    const std::string id = group.substr(0, equals);
    if (registry.root.empty()) registry.root = id;
    std::vector<std::string>& members = registry.groups[id];
    std::istringstream names(group.substr(equals + 1));
    for (std::string name; std::getline(names, name, ',');) members.push_back(name);
  }
  return registry;
}

// "x@1=7 y@6=5"; seconds may be left out, then records are a second apart.
inline std::vector<OracleRecord> records(const std::string& text) {
  std::vector<OracleRecord> records;
  std::istringstream words(text);
  std::int64_t second = 0;
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('@'), equals = word.find('=');
    ++second;
    if (at != std::string::npos) second = std::atoll(word.c_str() + at + 1);
    OracleRecord record;
    record.stream = word.substr(0, std::min(at, equals));
    record.dataset = "titan";
    record.time = {second * kNanosPerSecond};
    record.fields = {{"valueInW", std::strtod(word.c_str() + equals + 1, nullptr)}};
    records.push_back(record);
  }
  return records;
}

inline OracleScenario scenario(const std::string& hierarchy, const std::string& input,
                               GroupOptions::Mode mode, std::int64_t grace = 10) {
  OracleScenario scenario;
  scenario.standing.push_back({registry(hierarchy), std::nullopt});
  scenario.defaults.mode = mode;
  scenario.defaults.emit = {10 * kNanosPerSecond, 0};
  scenario.defaults.grace = mode == GroupOptions::Mode::kTumbling ? grace * kNanosPerSecond : 0;
  scenario.defaults.fields = {"valueInW"};
  scenario.records = records(input);
  return scenario;
}

inline OracleScenario changed(OracleScenario scenario, std::uint64_t at, const PlainRegistry& to) {
  OracleChange change;
  change.record = at;
  change.registry = to;
  scenario.changes.push_back(change);
  return scenario;
}

// A result as the cases write it.
inline std::string short_text(const std::string& group, Time window, std::uint64_t count,
                              double sum) {
  if (!window.known()) return fmt::format("{} {},{}", group, count, sum);
  return fmt::format("{} [{}) {},{}", group, window.ns / kNanosPerSecond, count, sum);
}

}  // namespace cases

inline std::vector<HierarchyCase> hierarchy_cases() {
  using namespace cases;
  const auto w = GroupOptions::Mode::kTumbling;
  const auto u = GroupOptions::Mode::kChangelog;
  const std::string w4 = "x@2=7 y@5=5 y@16=1 x@8=20 y@26=2";
  PlainRegistry renamed = registry("R=x,y");
  renamed.labels = 7;
  OracleScenario arrival = scenario("R=x,y", "x@100=5 x@90=9", u);
  arrival.defaults.late = GroupOptions::Late::kArrival;
  const OracleScenario u5 = scenario("R=A,B; A=x,y; B=z", "x=1 y=2 z=4", u);
  return {
      {"W1", scenario("R=x,y", "x@1=7 y@6=5 y@11=1", w), {"R [0) 2,12"}, 0},
      {"W2", scenario("R=x,y", "x@2=7 y@5=5 x@8=20 y@14=1", w), {"R [0) 2,25"}, 0},
      {"W4", scenario("R=x,y", w4, w), {"R [0) 2,12", "R [0) 2,25", "R [10) 1,1"}, 0},
      {"W6",
       scenario("R=G,H; G=a,b; H=c,d", "a@1=3 c@1=4 b@6=5 d@6=6 d@11=9", w),
       {"G [0) 2,8", "H [0) 2,10", "R [0) 2,18"},
       0},
      {"W8", scenario("R=x,y", "x@3=7 x@3=8 y@4=1 y@13=0", w), {"R [0) 2,9"}, 0},
      {"W10", scenario("R=x,y", "x@3=7 y@4=1 x@13=9 x@33=1", w), {"R [0) 2,8", "R [10) 1,9"}, 0},
      {"W13", scenario("R=x,y", w4, w, 0), {"R [0) 2,12", "R [10) 1,1"}, 1},
      {"U1", scenario("R=x,y", "x=7.5 y=2.5 x=9.5", u), {"R 1,7.5", "R 2,10", "R 2,12"}, 0},
      {"U2",
       scenario("R=G,z; G=x,y", "x=4 y=6 z=1 x=0", u),
       {"G 1,4", "R 1,4", "G 2,10", "R 1,10", "R 2,11", "G 2,6", "R 2,7"},
       0},
      {"U3",
       [&] {
         OracleScenario two = scenario("P=x,y", "x=3 y=5", u);
         two.standing.push_back({registry("Q=x"), std::nullopt});
         return two;
       }(),
       {"P 1,3", "Q 1,3", "P 2,8"},
       0},
      {"U5",
       changed(u5, 3, registry("R=A,B; A=x; B=y,z")),
       {"A 1,1", "R 1,1", "A 2,3", "R 1,3", "B 1,4", "R 2,7", "A 1,1", "B 2,6"},
       0},
      {"U7", changed(scenario("R=x,y", "x=1", u), 1, renamed), {"R 1,1"}, 0},
      {"U8 reject", scenario("R=x,y", "x@100=5 x@90=9", u), {"R 1,5"}, 1},
      {"U8 arrival", arrival, {"R 1,5", "R 1,9"}, 0},
      {"U12", changed(scenario("R=x", "x=1", u), 1, registry("R=")), {"R 1,1", "R 0,0"}, 0},
      {"U15", scenario("R=G1,G2; G1=s; G2=s", "s=5", u), {"G1 1,5", "G2 1,5", "R 2,5"}, 0},
  };
}

}  // namespace weir::tests
