// PlanLog: hierarchies that come at cuts.
#include "engine/plan.h"
#include "engine/plan_making.h"

namespace weir::engine {

void PlanLog::start_hierarchies(Making& making) {
  for (const HierarchyChange& change : options_.hierarchies) {
    // They were put together before, when the configuration was read.
    if (!registries_.put(change.registry).ok()) continue;
    group_options_.emplace(change.registry->root().identifier, change.options);
    making.crossing->actions.push_back({Action::Kind::kHierarchy, nullptr, nullptr, 0,
                                        std::make_shared<const HierarchyChange>(change)});
    making.changed = true;
  }
}

// REQUIRES: Groups::check_size(), which was done as the request came: here other workers wait.
void PlanLog::registry(const std::shared_ptr<const Request>& request, Making& making) {
  const std::string& root = request->registry->root().identifier;
  const auto standing = registries_.all().find(root);
  const auto before = standing == registries_.all().end() ? nullptr : standing->second;
  const auto known = group_options_.find(root);
  const GroupOptions& options = known == group_options_.end() ? options_.groups : known->second;
  const auto outcome = registries_.put(request->registry);
  if (!outcome.ok()) return making.fail(*request, outcome.status().message());
  const bool unchanged = *outcome == hierarchy::Registries::Outcome::kUnchanged;
  if (making.undo != nullptr) making.undo->put.push_back({root, before, unchanged});
  if (unchanged) {
    return making.acknowledge(*request, "unchanged");
  }
  making.crossing->actions.push_back(
      {Action::Kind::kHierarchy, nullptr, nullptr, 0,
       std::make_shared<const HierarchyChange>(HierarchyChange{request->registry, options})});
  group_options_.emplace(root, options);
  making.changed = true;
  making.acknowledge(*request);
}

}  // namespace weir::engine
