// PlanLog: hierarchies that come at cuts.
#include "engine/plan.h"
#include "engine/plan_making.h"
#include "hierarchy/groups.h"

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

void PlanLog::registry(const std::shared_ptr<const Request>& request, Making& making) {
  const std::string& root = request->registry->root().identifier;
  const auto known = group_options_.find(root);
  const GroupOptions& options = known == group_options_.end() ? options_.groups : known->second;
  if (Status fits = hierarchy::Groups::check_size(*request->registry, {options, {}}); !fits.ok()) {
    return making.fail(*request, fits.message());
  }
  const auto outcome = registries_.put(request->registry);
  if (!outcome.ok()) return making.fail(*request, outcome.status().message());
  if (*outcome == hierarchy::Registries::Outcome::kUnchanged) {
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
