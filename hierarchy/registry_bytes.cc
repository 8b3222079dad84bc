#include "hierarchy/registry_bytes.h"

#include <algorithm>
#include <utility>

#include "hierarchy/registry_parts.h"
#include "hierarchy/registry_path.h"

namespace weir::hierarchy {
namespace {

using Part = RegistryParts::Part;

Status damaged(const std::string& what) { return {Code::kInvalid, "saved registry: " + what}; }

std::uint32_t code_of(Member member) { return 2 * member.index + (member.group ? 1 : 0); }

// Reads identifiers and members as parts, numbered as they stand: sensors, then groups.
class PartsReader {
 public:
  explicit PartsReader(core::Reader& in) : in_(in) {}

  Status read(RegistryParts& parts) {
    sensors_ = in_.get<std::uint32_t>();
    for (std::uint32_t i = 0; i < sensors_; ++i) {
      if (Status status = add(parts, RegistryParts::Kind::kSensor); !status.ok()) return status;
    }
    groups_ = in_.get<std::uint32_t>();
    for (std::uint32_t g = 0; g < groups_; ++g) {
      if (Status status = add(parts, RegistryParts::Kind::kGroup); !status.ok()) return status;
      if (Status status = read_members(parts.all.back(), g); !status.ok()) return status;
    }
    if (!in_.ok()) return damaged("it ends too early");
    return groups_ == 0 ? damaged("no root") : Status();
  }
  std::uint32_t sensors() const { return sensors_; }
  std::uint32_t groups() const { return groups_; }

 private:
  Status add(RegistryParts& parts, RegistryParts::Kind kind) {
    const std::string_view identifier = in_.get_text(), name = in_.get_text();
    if (!in_.ok()) return damaged("it ends too early");
    const std::string fault = identifier_fault(identifier);
    if (!fault.empty()) return damaged(fault);
    const std::size_t next = parts.all.size();
    if (parts.add(identifier) != next) return damaged(shown(identifier) + " stands twice");
    parts.all[next].name = name;
    parts.all[next].kind = kind;
    return {};
  }
  // Those of group g: only what stands before it can be a member, so there is no cycle.
  Status read_members(Part& part, std::uint32_t g) {
    std::vector<std::uint32_t> codes;
    if (!in_.get_vector(codes, in_.get<std::uint32_t>())) return damaged("it ends too early");
    part.members.reserve(codes.size());
    for (const std::uint32_t code : codes) {
      const std::uint32_t index = code / 2;
      const bool group = code % 2 != 0;
      if (index >= (group ? g : sensors_)) {
        return damaged(shown(part.identifier) + " has a member that does not stand before it");
      }
      part.members.push_back(group ? sensors_ + index : index);
    }
    return {};
  }

  core::Reader& in_;
  std::uint32_t sensors_ = 0, groups_ = 0;
};

}  // namespace

void save(const Registry& registry, core::Writer& into) {
  into.put(static_cast<std::uint32_t>(registry.sensors().size()));
  for (const Sensor& sensor : registry.sensors()) {
    into.put_text(sensor.identifier);
    into.put_text(sensor.name);
  }
  into.put(static_cast<std::uint32_t>(registry.groups().size()));
  for (const Group& group : registry.groups()) {
    into.put_text(group.identifier);
    into.put_text(group.name);
    into.put(static_cast<std::uint32_t>(group.members.size()));
    for (const Member member : group.members) into.put(code_of(member));
  }
}

Result<Registry> restore_registry(core::Reader& in) {
  const std::string_view from = in.rest();
  PartsReader reader(in);
  RegistryParts parts(64);  // how many there are, only the bytes themselves tell
  if (Status status = reader.read(parts); !status.ok()) return status;
  const std::string root(parts.all.back().identifier);
  for (Part& part : parts.all) {
    const std::size_t members = part.members.size();
    RegistryParts::make_distinct(part.members);
    if (part.members.size() != members) return damaged("a member stands twice in one group");
  }
  parts.sort();
  const auto top = std::lower_bound(
      parts.all.begin(), parts.all.end(), root,
      [](const Part& part, const std::string& id) { return part.identifier < id; });
  const auto number = static_cast<std::uint32_t>(top - parts.all.begin());
  if (const auto fault = parts.give_levels({&number, 1})) {
    return damaged(parts.path_of(fault->path) + ": " + fault->what);
  }
  Registry made = Registry::of_parts(parts, number);
  // Whatever else could be wrong (an order, something that stands below nothing) shows here.
  core::Writer again;
  save(made, again);
  if (again.bytes() != from.substr(0, from.size() - in.rest().size())) {
    return damaged("it is not as it was written");
  }
  return made;
}

}  // namespace weir::hierarchy
