#include "hierarchy/registry.h"

#include <algorithm>
#include <utility>

#include "hierarchy/registry_parts.h"
#include "hierarchy/registry_path.h"

namespace weir::hierarchy {
namespace {

Status wrong(const std::string& path, const std::string& what) {
  return {Code::kConfig, path + ": " + what};
}

std::string line_of(const Edge& edge) { return "line " + std::to_string(edge.line); }

// Reads an Outline depth first, without recursion: it may be hostile.
class OutlineReader {
 public:
  explicit OutlineReader(std::size_t size) : parts_(size) {}
  Status read(const Outline& root) {
    if (Status status = enter(root); !status.ok()) return status;
    if (!root.group) {
      return wrong(shown(root.identifier), "the root has no children; it must be a group");
    }
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

  // The path of what stands below all that is open, or of the last that is open.
  std::string path_of(const Outline* last) const {
    std::vector<std::string_view> path;
    for (const Frame& frame : stack_) path.push_back(frame.outline->identifier);
    if (last != nullptr) path.push_back(last->identifier);
    return shown_path(path);
  }

  // Of what is entered now, whose identifier is none: "plant/hall/child 3".
  std::string place() const {
    if (stack_.empty()) return "registry";
    return path_of(nullptr) + "/child " + std::to_string(stack_.back().next);
  }

  Status enter(const Outline& outline) {
    if (const std::string fault = identifier_fault(outline.identifier); !fault.empty()) {
      return wrong(place(), fault);
    }
    if (outline.group && stack_.size() == kMaxDepth) {
      return wrong(path_of(&outline), "groups stand deeper than " + std::to_string(kMaxDepth));
    }
    const std::uint32_t part = parts_.add(outline.identifier);
    RegistryParts::Part& known = parts_.all[part];
    if (known.open) {
      return wrong(path_of(&outline),
                   "cycle: " + shown(outline.identifier) + " stands above itself");
    }
    if (known.kind != RegistryParts::Kind::kUnknown &&
        (known.kind == RegistryParts::Kind::kGroup) != outline.group) {
      return wrong(path_of(&outline), shown(outline.identifier) + " is a " +
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
      return wrong(path_of(frame.outline), "group " + shown(frame.outline->identifier) +
                                               " stands twice, with other members here");
    }
    known.kind = RegistryParts::Kind::kGroup;
    known.members = std::move(frame.members);
    return {};
  }

  RegistryParts parts_;
  std::vector<Frame> stack_;
};

}  // namespace

namespace {

std::size_t size_of(const Outline& root) {
  std::size_t size = 1;
  std::vector<const Outline*> stack{&root};
  while (!stack.empty()) {
    const Outline* outline = stack.back();
    stack.pop_back();
    size += outline->children.size();
    for (const Outline& child : outline->children) {
      if (!child.children.empty()) stack.push_back(&child);
    }
  }
  return size;
}

}  // namespace

Result<Registry> Registry::of(const Outline& root) {
  OutlineReader reader(size_of(root));
  if (Status status = reader.read(root); !status.ok()) return status;
  RegistryParts& parts = reader.parts();
  parts.sort();
  const auto at = std::lower_bound(
      parts.all.begin(), parts.all.end(), root.identifier,
      [](const RegistryParts::Part& part, const std::string& id) { return part.identifier < id; });
  const auto top = static_cast<std::uint32_t>(at - parts.all.begin());
  if (const auto fault = parts.give_levels({&top, 1})) {
    return wrong(parts.path_of(fault->path), fault->what);
  }
  return of_parts(parts, top);
}

namespace {

// Fills the parts from lines. Every part is a group or a sensor afterwards.
Status read_edges(std::span<const Edge> edges, RegistryParts& parts) {
  for (const Edge& edge : edges) {
    for (const std::string* identifier : {&edge.child, &edge.parent}) {
      const std::string fault = identifier_fault(*identifier);
      if (!fault.empty()) return wrong(line_of(edge), fault);
    }
    if (edge.child == edge.parent) {
      const std::string id = shown(edge.child);
      return wrong(line_of(edge), id + "/" + id + ": cycle: " + id + " stands above itself");
    }
    const std::uint32_t child = parts.add(edge.child), parent = parts.add(edge.parent);
    parts.all[parent].kind = RegistryParts::Kind::kGroup;
    parts.all[parent].members.push_back(child);
  }
  for (RegistryParts::Part& part : parts.all) {
    if (part.kind == RegistryParts::Kind::kUnknown) part.kind = RegistryParts::Kind::kSensor;
    RegistryParts::make_distinct(part.members);
  }
  return {};
}

// What is wrong, with the line that closes the cycle if it is one.
Status described(const RegistryParts& parts, const RegistryParts::Fault& fault,
                 std::span<const Edge> edges) {
  const Status status = wrong(parts.path_of(fault.path), fault.what);
  if (!fault.cycle) return status;
  const std::string_view child = parts.all[fault.path.back()].identifier;
  const std::string_view parent = parts.all[fault.path[fault.path.size() - 2]].identifier;
  const auto edge = std::find_if(edges.begin(), edges.end(), [&](const Edge& e) {
    return e.child == child && e.parent == parent;
  });
  return edge == edges.end() ? status : status.with(line_of(*edge));
}

}  // namespace

Result<std::vector<Registry>> Registry::of_edges(std::span<const Edge> edges) {
  if (edges.empty()) return Status(Code::kConfig, "no line of child,parent");
  RegistryParts parts(edges.size());
  if (Status status = read_edges(edges, parts); !status.ok()) return status;
  parts.sort();
  std::vector<bool> is_child(parts.all.size());
  for (const RegistryParts::Part& part : parts.all) {
    for (const std::uint32_t member : part.members) is_child[member] = true;
  }
  std::vector<std::uint32_t> roots;
  for (std::uint32_t part = 0; part < parts.all.size(); ++part) {
    if (!is_child[part]) roots.push_back(part);
  }
  if (const auto fault = parts.give_levels(roots)) return described(parts, *fault, edges);
  std::vector<Registry> registries;
  registries.reserve(roots.size());
  for (const std::uint32_t root : roots) registries.push_back(of_parts(parts, root));
  return registries;
}

namespace {

struct Below {
  std::vector<std::uint32_t> groups, sensors;  // numbers of parts, in no order
};

Below below(RegistryParts& parts, std::uint32_t root) {
  Below found;
  std::vector<std::uint32_t> stack{root};
  while (!stack.empty()) {
    const std::uint32_t group = stack.back();
    stack.pop_back();
    found.groups.push_back(group);
    for (const std::uint32_t number : parts.all[group].members) {
      RegistryParts::Part& member = parts.all[number];
      if (std::exchange(member.taken, root + 1) == root + 1) continue;
      (member.kind == RegistryParts::Kind::kGroup ? stack : found.sensors).push_back(number);
    }
  }
  return found;
}

}  // namespace

Registry Registry::of_parts(RegistryParts& parts, std::uint32_t root) {
  const auto& all = parts.all;
  auto [groups, sensors] = below(parts, root);
  std::sort(sensors.begin(), sensors.end());
  std::sort(groups.begin(), groups.end(), [&](std::uint32_t a, std::uint32_t b) {
    return all[a].level != all[b].level ? all[a].level < all[b].level : a < b;
  });
  Registry registry;
  // At most 5/8 of an index are in use: so large it never grows.
  registry.index_ =
      std::make_unique<core::KeyIndex>((groups.size() + sensors.size()) * 8 / 5 + 1, parts.seed());
  const auto place = [&](const std::string& identifier, std::uint32_t number) {
    registry.index_->insert(registry.index_->pack(0, identifier.data(), identifier.size()),
                            identifier, number);
  };
  registry.sensors_.reserve(sensors.size());
  for (std::uint32_t i = 0; i < sensors.size(); ++i) {
    RegistryParts::Part& part = parts.all[sensors[i]];
    part.index = i;
    registry.sensors_.push_back({std::string(part.identifier), std::string(part.name)});
    place(registry.sensors_.back().identifier, 2 * i);
  }
  registry.groups_.reserve(groups.size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    RegistryParts::Part& part = parts.all[groups[i]];
    part.index = i;
    Group& group = registry.groups_.emplace_back();
    group = {std::string(part.identifier), std::string(part.name), part.level, {}};
    place(group.identifier, 2 * i + 1);
    group.members.reserve(part.members.size());
    for (const std::uint32_t member : part.members) {  // they stand before it
      group.members.push_back({all[member].kind == RegistryParts::Kind::kGroup, all[member].index});
    }
  }
  return registry;
}

std::optional<Member> Registry::find(std::string_view identifier) const {
  const std::uint32_t number = index_->find(index_->pack(0, identifier.data(), identifier.size()),
                                            identifier.data(), identifier.size());
  if (number == core::KeyIndex::kNone) return std::nullopt;
  return Member{(number & 1) != 0, number >> 1};
}

std::optional<std::uint32_t> Registry::find_group(std::string_view identifier) const {
  const auto found = find(identifier);
  if (!found.has_value() || !found->group) return std::nullopt;
  return found->index;
}

std::optional<std::uint32_t> Registry::find_sensor(std::string_view identifier) const {
  const auto found = find(identifier);
  if (!found.has_value() || found->group) return std::nullopt;
  return found->index;
}

std::string Registry::path_to(Member member) const {
  std::vector<std::string_view> path{identifier(member)};
  // A group's members stand below it, so what holds it comes later among the groups.
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const auto& members = groups_[g].members;
    if (std::find(members.begin(), members.end(), member) == members.end()) continue;
    path.push_back(groups_[g].identifier);
    member = {true, g};
  }
  std::reverse(path.begin(), path.end());
  return shown_path(path);
}

bool Registry::same_as(const Registry& other) const {
  return std::equal(groups_.begin(), groups_.end(), other.groups_.begin(), other.groups_.end(),
                    [](const Group& a, const Group& b) {
                      return a.identifier == b.identifier && a.members == b.members;
                    }) &&
         std::equal(sensors_.begin(), sensors_.end(), other.sensors_.begin(), other.sensors_.end(),
                    [](const Sensor& a, const Sensor& b) { return a.identifier == b.identifier; });
}

}  // namespace weir::hierarchy
