#include "hierarchy/registry.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/utf8.h"
#include "hierarchy/registry_parts.h"

namespace weir::hierarchy {
namespace {

Status wrong(const std::string& path, const std::string& what) {
  return {Code::kConfig, path + ": " + what};
}

// What is wrong with an identifier, or nothing.
std::string identifier_fault(std::string_view identifier) {
  if (identifier.empty()) return "an identifier is empty";
  if (identifier.size() > kMaxIdentifier) {
    return "an identifier is longer than " + std::to_string(kMaxIdentifier) + " bytes";
  }
  if (!core::is_utf8(identifier)) return "an identifier is not UTF-8";
  return {};
}

// Reads an Outline depth first, without recursion: it may be hostile.
class OutlineReader {
 public:
  Status read(const Outline& root) {
    if (!root.group) return wrong(root.identifier, "the root has no children; it must be a group");
    if (Status status = enter(root); !status.ok()) return status;
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.outline->children.size()) {
        if (Status status = leave(); !status.ok()) return status;
        continue;
      }
      const Outline& child = top.outline->children[top.next++];
      if (Status status = enter(child); !status.ok()) return status;
    }
    return {};
  }
  RegistryParts& parts() { return parts_; }

 private:
  struct Frame {
    const Outline* outline;
    std::uint32_t part;
    std::size_t next = 0;
    std::vector<std::uint32_t> members;
  };

  std::string path_of(const Outline& outline) const {
    std::string path;
    for (const Frame& frame : stack_) path += frame.outline->identifier + "/";
    return path + outline.identifier;
  }

  Status enter(const Outline& outline) {
    if (const std::string fault = identifier_fault(outline.identifier); !fault.empty()) {
      return wrong(stack_.empty() ? "registry" : path_of(outline), fault);
    }
    if (stack_.size() == kMaxDepth) {
      return wrong(path_of(outline), "groups stand deeper than " + std::to_string(kMaxDepth));
    }
    const std::uint32_t part = parts_.add(outline.identifier);
    RegistryParts::Part& known = parts_.all[part];
    if (known.open) {
      return wrong(path_of(outline), "cycle: " + outline.identifier + " stands above itself");
    }
    if (known.kind != RegistryParts::Kind::kUnknown &&
        (known.kind == RegistryParts::Kind::kGroup) != outline.group) {
      return wrong(path_of(outline), outline.identifier + " is a " +
                                         (outline.group ? "group" : "sensor") + " here and a " +
                                         (outline.group ? "sensor" : "group") + " elsewhere");
    }
    if (known.name.empty()) known.name = outline.name;
    if (!stack_.empty()) stack_.back().members.push_back(part);
    if (!outline.group) {
      known.kind = RegistryParts::Kind::kSensor;
      return {};
    }
    known.open = true;
    stack_.push_back({&outline, part, 0, {}});
    return {};
  }

  Status leave() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    RegistryParts::make_distinct(frame.members);
    RegistryParts::Part& known = parts_.all[frame.part];
    known.open = false;
    if (known.kind == RegistryParts::Kind::kGroup && known.members != frame.members) {
      return wrong(path_of(*frame.outline),
                   "group " + frame.outline->identifier + " stands twice, with other members here");
    }
    known.kind = RegistryParts::Kind::kGroup;
    known.members = std::move(frame.members);
    return {};
  }

  RegistryParts parts_;
  std::vector<Frame> stack_;
};

}  // namespace

std::uint32_t RegistryParts::add(std::string_view identifier) {
  const auto found = numbers_.find(identifier);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(all.size());
  all.push_back({});
  all.back().identifier = identifier;
  numbers_.emplace(all.back().identifier, number);
  return number;
}

void RegistryParts::make_distinct(std::vector<std::uint32_t>& members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
}

Result<Registry> Registry::of(const Outline& root) {
  OutlineReader reader;
  if (Status status = reader.read(root); !status.ok()) return status;
  return of_parts(reader.parts(), 0);
}

Result<std::vector<Registry>> Registry::of_edges(std::span<const Edge> edges) {
  if (edges.empty()) return Status(Code::kConfig, "no line of child,parent");
  RegistryParts parts;
  std::vector<bool> is_child;
  for (const Edge& edge : edges) {
    const std::string line = "line " + std::to_string(edge.line);
    for (const std::string& identifier : {edge.child, edge.parent}) {
      const std::string fault = identifier_fault(identifier);
      if (!fault.empty()) return wrong(line, fault);
    }
    if (edge.child == edge.parent) {
      return wrong(line, "cycle: " + edge.child + " stands above itself");
    }
    const std::uint32_t child = parts.add(edge.child), parent = parts.add(edge.parent);
    is_child.resize(parts.all.size());
    is_child[child] = true;
    parts.all[parent].kind = RegistryParts::Kind::kGroup;
    parts.all[parent].members.push_back(child);
  }
  for (RegistryParts::Part& part : parts.all) {
    if (part.kind == RegistryParts::Kind::kUnknown) part.kind = RegistryParts::Kind::kSensor;
    RegistryParts::make_distinct(part.members);
  }
  if (Status status = parts.check_cycles(); !status.ok()) return status;
  std::vector<std::uint32_t> roots;
  for (std::uint32_t part = 0; part < parts.all.size(); ++part) {
    if (!is_child[part]) roots.push_back(part);
  }
  std::sort(roots.begin(), roots.end(), [&](std::uint32_t a, std::uint32_t b) {
    return parts.all[a].identifier < parts.all[b].identifier;
  });
  std::vector<Registry> registries;
  for (const std::uint32_t root : roots) registries.push_back(of_parts(parts, root));
  return registries;
}

Status RegistryParts::check_cycles() const {
  enum class Seen : std::uint8_t { kNot, kOpen, kDone };
  std::vector<Seen> seen(all.size(), Seen::kNot);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  const auto path_to = [&](std::uint32_t last) {
    std::string path;
    for (const auto& [part, next] : stack) path += all[part].identifier + "/";
    return path + all[last].identifier;
  };
  for (std::uint32_t start = 0; start < all.size(); ++start) {
    if (seen[start] != Seen::kNot) continue;
    stack.emplace_back(start, 0);
    seen[start] = Seen::kOpen;
    while (!stack.empty()) {
      auto& [part, next] = stack.back();
      if (next == all[part].members.size()) {
        seen[part] = Seen::kDone;
        stack.pop_back();
        continue;
      }
      const std::uint32_t member = all[part].members[next++];
      if (seen[member] == Seen::kOpen) {
        return wrong(path_to(member), "cycle: " + all[member].identifier + " stands above itself");
      }
      if (seen[member] != Seen::kNot) continue;
      if (stack.size() == kMaxDepth && !all[member].members.empty()) {
        return wrong(path_to(member), "groups stand deeper than " + std::to_string(kMaxDepth));
      }
      seen[member] = Seen::kOpen;
      stack.emplace_back(member, 0);
    }
  }
  return {};
}

// REQUIRES: no cycles.
std::vector<std::uint32_t> RegistryParts::bottom_up(std::uint32_t root) const {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(all.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [part, next] = stack.back();
    if (next == all[part].members.size()) {
      order.push_back(part);
      stack.pop_back();
      continue;
    }
    const std::uint32_t member = all[part].members[next++];
    if (seen[member]) continue;
    seen[member] = true;
    stack.emplace_back(member, 0);
  }
  return order;
}

Registry Registry::of_parts(const RegistryParts& parts, std::uint32_t root) {
  std::vector<std::uint32_t> groups, sensors;
  std::vector<std::uint32_t> level(parts.all.size(), 0);
  for (const std::uint32_t part : parts.bottom_up(root)) {
    const RegistryParts::Part& it = parts.all[part];
    if (it.kind != RegistryParts::Kind::kGroup) {
      sensors.push_back(part);
      continue;
    }
    level[part] = 1;
    for (const std::uint32_t m : it.members) level[part] = std::max(level[part], level[m] + 1);
    groups.push_back(part);
  }
  const auto by_identifier = [&](std::uint32_t a, std::uint32_t b) {
    return parts.all[a].identifier < parts.all[b].identifier;
  };
  std::sort(sensors.begin(), sensors.end(), by_identifier);
  std::sort(groups.begin(), groups.end(), [&](std::uint32_t a, std::uint32_t b) {
    return level[a] != level[b] ? level[a] < level[b] : by_identifier(a, b);
  });
  Registry registry;
  std::vector<Member> members(parts.all.size());
  registry.sensors_.reserve(sensors.size());
  for (const std::uint32_t part : sensors) {
    members[part] = {false, static_cast<std::uint32_t>(registry.sensors_.size())};
    registry.sensors_.push_back({parts.all[part].identifier, parts.all[part].name});
  }
  for (std::uint32_t i = 0; i < groups.size(); ++i) members[groups[i]] = {true, i};
  registry.groups_.reserve(groups.size());
  for (const std::uint32_t part : groups) {
    Group group{parts.all[part].identifier, parts.all[part].name, level[part], {}};
    std::vector<std::uint32_t> sorted = parts.all[part].members;
    std::sort(sorted.begin(), sorted.end(), by_identifier);
    for (const std::uint32_t member : sorted) group.members.push_back(members[member]);
    registry.groups_.push_back(std::move(group));
  }
  registry.group_order_.resize(registry.groups_.size());
  std::iota(registry.group_order_.begin(), registry.group_order_.end(), 0u);
  std::sort(registry.group_order_.begin(), registry.group_order_.end(),
            [&](std::uint32_t a, std::uint32_t b) {
              return registry.groups_[a].identifier < registry.groups_[b].identifier;
            });
  return registry;
}

std::optional<std::uint32_t> Registry::find_group(std::string_view identifier) const {
  const auto at = std::lower_bound(
      group_order_.begin(), group_order_.end(), identifier,
      [&](std::uint32_t g, std::string_view id) { return groups_[g].identifier < id; });
  if (at == group_order_.end() || groups_[*at].identifier != identifier) return std::nullopt;
  return *at;
}

std::optional<std::uint32_t> Registry::find_sensor(std::string_view identifier) const {
  const auto at = std::lower_bound(
      sensors_.begin(), sensors_.end(), identifier,
      [](const Sensor& sensor, std::string_view id) { return sensor.identifier < id; });
  if (at == sensors_.end() || at->identifier != identifier) return std::nullopt;
  return static_cast<std::uint32_t>(at - sensors_.begin());
}

std::string Registry::path_to(Member member) const {
  std::string path(identifier(member));
  // A group's members stand below it, so what holds it comes later among the groups.
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const auto& members = groups_[g].members;
    if (std::find(members.begin(), members.end(), member) == members.end()) continue;
    path = groups_[g].identifier + "/" + path;
    member = {true, g};
  }
  return path;
}

bool Registry::same_as(const Registry& other) const {
  return std::equal(groups_.begin(), groups_.end(), other.groups_.begin(), other.groups_.end(),
                    [](const Group& a, const Group& b) {
                      return a.identifier == b.identifier && a.members == b.members;
                    }) &&
         std::equal(sensors_.begin(), sensors_.end(), other.sensors_.begin(), other.sensors_.end(),
                    [](const Sensor& a, const Sensor& b) { return a.identifier == b.identifier; });
}

namespace {

// Whether two registries of other roots may stand together.
Status check_apart(const Registry& added, const Registry& standing) {
  const std::string& there = standing.root().identifier;
  for (std::uint32_t g = 0; g < added.groups().size(); ++g) {
    const std::string& id = added.groups()[g].identifier;
    const bool group = standing.find_group(id).has_value();
    if (!group && !standing.find_sensor(id).has_value()) continue;
    return wrong(added.path_to({true, g}), "group " + id + " is a " + (group ? "group" : "sensor") +
                                               " of hierarchy " + there +
                                               "; identifiers of groups are unique");
  }
  for (std::uint32_t s = 0; s < added.sensors().size(); ++s) {
    const std::string& id = added.sensors()[s].identifier;
    if (!standing.find_group(id).has_value()) continue;
    return wrong(added.path_to({false, s}), "sensor " + id + " is a group of hierarchy " + there);
  }
  return {};
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

}  // namespace weir::hierarchy
