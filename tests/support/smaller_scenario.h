// From a scenario in which engine and oracle part, a small one in which they still do, to be read.
#pragma once

#include <algorithm>
#include <string>

#include "tests/support/hierarchy_run.h"

namespace weir::tests {

inline std::optional<std::string> parts(const OracleScenario& scenario, const RunPlan& plan) {
  return difference(HierarchyOracle::run(scenario), run_hierarchies(scenario, plan));
}

// Takes away pieces of `list`, halves first, as long as the two still part.
template <class List>
void shrink_list(OracleScenario& scenario, List OracleScenario::*list, const RunPlan& plan,
                 int& tries) {
  for (std::size_t piece = std::max<std::size_t>((scenario.*list).size() / 2, 1);; piece /= 2) {
    for (std::size_t at = 0; at < (scenario.*list).size() && tries > 0;) {
      OracleScenario without = scenario;
      auto& items = without.*list;
      const std::size_t end = std::min(items.size(), at + piece);
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(at),
                  items.begin() + static_cast<std::ptrdiff_t>(end));
      --tries;
      if (parts(without, plan).has_value()) {
        scenario = std::move(without);
      } else {
        at += piece;
      }
    }
    if (piece <= 1 || tries <= 0) return;
  }
}

// Takes away single members of the standing registries.
inline void shrink_trees(OracleScenario& scenario, const RunPlan& plan, int& tries) {
  for (std::size_t h = 0; h < scenario.standing.size(); ++h) {
    const auto groups = scenario.standing[h].registry.groups;
    for (const auto& [id, members] : groups) {
      for (const std::string& member : members) {
        if (tries-- <= 0) return;
        if (groups.contains(member)) continue;
        OracleScenario without = scenario;
        std::erase(without.standing[h].registry.groups[id], member);
        if (parts(without, plan).has_value()) scenario = std::move(without);
      }
    }
  }
}

inline std::string options_text(const GroupOptions& o) {
  const char* const modes[] = {"changelog", "tumbling", "sliding", "latest"};
  std::string text = fmt::format(
      "{} emit {} ns {} records grace {} window {} advance {} {} age {} of '{}'",
      modes[static_cast<int>(o.mode)], o.emit.ns, o.emit.records, o.grace, o.window, o.advance,
      o.late == GroupOptions::Late::kReject ? "reject" : "arrival", o.max_age, o.dataset);
  for (const std::string& field : o.fields) text += " " + field;
  return text;
}

inline std::string dump(OracleScenario scenario, const RunPlan& plan) {
  int tries = 600;
  for (int round = 0; round < 2; ++round) {
    shrink_list(scenario, &OracleScenario::records, plan, tries);
    shrink_list(scenario, &OracleScenario::changes, plan, tries);
    shrink_list(scenario, &OracleScenario::standing, plan, tries);
    shrink_trees(scenario, plan, tries);
  }
  std::string text =
      fmt::format("a small one ({}, {} threads, blocks of {}):\ndefaults: {}\nmax jump {}\n",
                  plan.layout, plan.config.threads, plan.config.block_size,
                  options_text(scenario.defaults), scenario.max_jump);
  for (const OracleScenario::Standing& standing : scenario.standing) {
    text += standing.registry.json() + "\n";
    if (standing.options.has_value()) text += "  " + options_text(*standing.options) + "\n";
  }
  text += changes_of(scenario) + lines_of(scenario, plan.layout);
  const auto expected = HierarchyOracle::run(scenario);
  const HierarchyRun run = run_hierarchies(scenario, plan);
  text += difference(expected, run).value_or("(they agree now)") + "\n-- oracle\n";
  for (const OracleResult& r : expected.results) text += r.text() + "\n";
  text += "-- engine\n";
  for (const std::string& r : run.results) text += r + "\n";
  constexpr std::size_t kMost = 12'000;
  if (text.size() > kMost) text = text.substr(0, kMost) + "\n…";
  return text;
}

}  // namespace weir::tests
