// Registries: which registries may stand together.
#include <algorithm>
#include <utility>

#include "core/check.h"
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

// Members of one registry that do not stand in the other as the same kind: visit(Member). The
// sensors of both are sorted; no `other` holds none.
template <class Visit>
void for_each_missing(const Registry& registry, const Registry* other, const Visit& visit) {
  for (std::uint32_t g = 0; g < registry.groups().size(); ++g) {
    const bool there =
        other != nullptr && other->find_group(registry.groups()[g].identifier).has_value();
    if (!there) visit(Member{true, g});
  }
  const std::size_t others = other == nullptr ? 0 : other->sensors().size();
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < registry.sensors().size(); ++i) {
    int order = 1;
    while (at < others && (order = other->sensors()[at].identifier.compare(
                               registry.sensors()[i].identifier)) < 0) {
      ++at;
    }
    if (at == others || order != 0) visit(Member{false, i});
  }
}

}  // namespace

const Registry* Registries::if_small(const Registry* registry) const {
  if (registry == nullptr) return nullptr;
  return registry->groups().size() + registry->sensors().size() < large_from_ ? registry : nullptr;
}

// What stood in the root's place before has been let in: only what it lacked can clash.
bool Registries::clashes(const Registry& added, const Registry* replaced) {
  for (const auto& standing : large_) {
    if (standing.get() != replaced && !check_apart(added, *standing).ok()) return true;
  }
  const Registry* const held_own = if_small(replaced);
  bool clash = false;
  for_each_missing(added, replaced, [&](Member member) {
    const std::string_view identifier = added.identifier(member);
    ++lookups_;
    const auto held = held_.find(identifier);
    if (held == held_.end() || !(member.group || held->second.group)) return;
    const bool own = held_own != nullptr && held_own->find(identifier).has_value();
    clash |= held->second.roots > (own ? 1 : 0);
  });
  return clash;
}

void Registries::hold(const Registry* added, const Registry* replaced) {
  if (replaced != nullptr) {
    for_each_missing(*replaced, added, [&](Member member) {
      ++lookups_;
      const auto held = held_.find(replaced->identifier(member));
      if (--held->second.roots == 0) held_.erase(held);
    });
  }
  if (added == nullptr) return;
  for_each_missing(*added, replaced, [&](Member member) {
    ++lookups_;
    Held& held = held_[std::string(added->identifier(member))];
    held.group = member.group;
    ++held.roots;
  });
}

// REQUIRES: it clashes.
Status Registries::first_clash(const Registry& added) const {
  for (const auto& [other, standing] : by_root_) {
    if (other == added.root().identifier) continue;
    if (Status status = check_apart(added, *standing); !status.ok()) return status;
  }
  WEIR_CHECK(false, "the identifiers held are those of the registries that stand");
}

Result<Registries::Outcome> Registries::put(std::shared_ptr<const Registry> registry) {
  const std::string& root = registry->root().identifier;
  const auto at = by_root_.find(root);
  const std::shared_ptr<const Registry> replaced = at == by_root_.end() ? nullptr : at->second;
  const bool same = replaced != nullptr && registry->same_as(*replaced);
  if (!same) {
    if (clashes(*registry, replaced.get())) return first_clash(*registry);
    hold(if_small(registry.get()), if_small(replaced.get()));
  }
  std::erase(large_, replaced);
  if (if_small(registry.get()) == nullptr) large_.push_back(registry);
  by_root_.insert_or_assign(root, std::move(registry));
  if (replaced == nullptr) return Outcome::kNew;
  return same ? Outcome::kUnchanged : Outcome::kReplaced;
}

Status Registries::add(std::shared_ptr<const Registry> registry) {
  const std::string& root = registry->root().identifier;
  if (by_root_.contains(root)) {
    return {Code::kConfig, "hierarchy " + shown(root) + " stands already; give its registry once"};
  }
  return put(std::move(registry)).status();
}

void Registries::drop(const std::string& root) {
  const auto at = by_root_.find(root);
  hold(nullptr, if_small(at->second.get()));
  std::erase(large_, at->second);
  by_root_.erase(at);
}

}  // namespace weir::hierarchy
