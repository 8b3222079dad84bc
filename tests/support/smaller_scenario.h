// From a scenario in which engine and oracle part, a small one in which they still do, to be read.
#pragma once

#include <algorithm>
#include <string>

#include "tests/support/hierarchy_run.h"

namespace weir::tests {

inline std::optional<std::string> parts(const OracleScenario& scenario, const RunPlan& plan) {
  return difference(HierarchyOracle::run(scenario), run_hierarchies(scenario, plan));
}

// A smaller scenario that the engine refuses is not the same fault.
inline bool still_parts(const OracleScenario& scenario, const RunPlan& plan) {
  if (scenario.records.empty()) return false;
  const HierarchyRun run = run_hierarchies(scenario, plan);
  return run.error.empty() && difference(HierarchyOracle::run(scenario), run).has_value();
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
      if (still_parts(without, plan)) {
        scenario = std::move(without);
      } else {
        at += piece;
      }
    }
    if (piece <= 1 || tries <= 0) return;
  }
}

// Takes away single sensors of the registry that `of` gives of a scenario.
template <class Of>
void shrink_tree(OracleScenario& scenario, const Of& of, const RunPlan& plan, int& tries) {
  const auto groups = of(scenario).groups;
  for (const auto& [id, members] : groups) {
    for (std::size_t piece = std::max<std::size_t>(members.size() / 2, 1);; piece /= 2) {
      for (std::size_t at = 0; at < of(scenario).groups[id].size();) {
        if (tries-- <= 0) return;
        OracleScenario without = scenario;
        auto& left = of(without).groups[id];
        const auto end = std::min(left.size(), at + piece);
        const auto first = left.begin() + static_cast<std::ptrdiff_t>(at);
        left.erase(std::remove_if(first, left.begin() + static_cast<std::ptrdiff_t>(end),
                                  [&](const std::string& m) { return !groups.contains(m); }),
                   left.begin() + static_cast<std::ptrdiff_t>(end));
        const bool smaller = left.size() < of(scenario).groups[id].size();
        if (smaller && still_parts(without, plan)) {
          scenario = std::move(without);
        } else {
          at += piece;
        }
      }
      if (piece == 1) break;
    }
  }
}

inline void shrink_trees(OracleScenario& scenario, const RunPlan& plan, int& tries) {
  for (std::size_t i = 0; i < scenario.standing.size(); ++i) {
    shrink_tree(
        scenario, [i](OracleScenario& s) -> PlainRegistry& { return s.standing[i].registry; }, plan,
        tries);
  }
  for (std::size_t i = 0; i < scenario.changes.size(); ++i) {
    shrink_tree(
        scenario, [i](OracleScenario& s) -> PlainRegistry& { return s.changes[i].registry; }, plan,
        tries);
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
  int tries = 1500;
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
