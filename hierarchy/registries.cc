// Registries: which registries may stand together.
#include <algorithm>
#include <utility>

#include "hierarchy/registry.h"
#include "hierarchy/registry_path.h"

namespace weir::hierarchy {
namespace {

Status clash(const Registry& added, Member member, const Registry& standing, bool group_there) {
  const std::string what = std::string(member.group ? "group " : "sensor ") +
                           shown(added.identifier(member)) + " is a " +
                           (group_there ? "group" : "sensor") + " of hierarchy " +
                           shown(standing.root().identifier) +
                           (member.group ? "; identifiers of groups are unique" : "");
  return {Code::kConfig, added.path_to(member) + ": " + what};
}

// Looks for a group of one registry that stands in the other, as whatever. The one that has less is
// gone through, so that many small hierarchies cost a large one little.
template <class Found>  // Found(Member of groups, Member of others)
bool find_common(const Registry& groups, const Registry& others, Found found) {
  const std::size_t all = others.groups().size() + others.sensors().size();
  if (groups.groups().size() <= all) {
    for (std::uint32_t g = 0; g < groups.groups().size(); ++g) {
      const auto other = others.find(groups.groups()[g].identifier);
      if (other.has_value()) return found(Member{true, g}, *other), true;
    }
    return false;
  }
  for (const bool group : {true, false}) {
    const std::size_t size = group ? others.groups().size() : others.sensors().size();
    for (std::uint32_t i = 0; i < size; ++i) {
      const Member other{group, i};
      const auto own = groups.find_group(others.identifier(other));
      if (own.has_value()) return found(Member{true, *own}, other), true;
    }
  }
  return false;
}

// Whether two registries of other roots may stand together.
Status check_apart(const Registry& added, const Registry& standing) {
  Status status;
  const auto ours = [&](Member own, Member other) {
    status = clash(added, own, standing, other.group);
  };
  const auto theirs = [&](Member, Member own) { status = clash(added, own, standing, true); };
  if (!find_common(added, standing, ours)) find_common(standing, added, theirs);
  return status;
}

}  // namespace

Result<Registries::Outcome> Registries::put(std::shared_ptr<const Registry> registry) {
  const std::string& root = registry->root().identifier;
  for (const auto& [other, standing] : by_root_) {
    if (other == root) continue;
    if (Status status = check_apart(*registry, *standing); !status.ok()) return status;
  }
  const auto [at, added] = by_root_.try_emplace(root, registry);
  if (added) return Outcome::kNew;
  const bool same = registry->same_as(*at->second);
  at->second = std::move(registry);
  return same ? Outcome::kUnchanged : Outcome::kReplaced;
}

Status Registries::add(std::shared_ptr<const Registry> registry) {
  const std::string& root = registry->root().identifier;
  if (by_root_.contains(root)) {
    return {Code::kConfig, "hierarchy " + shown(root) + " stands already; give its registry once"};
  }
  return put(std::move(registry)).status();
}

}  // namespace weir::hierarchy
