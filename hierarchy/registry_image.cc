// Registry::save() and restore(): sensors, then groups, each with its members as twice their index,
// and one more for a group. What belongs to whom is checked as it is of a registry from text.
#include <limits>
#include <utility>
#include <vector>

#include "hierarchy/registry.h"
#include "hierarchy/registry_parts.h"

namespace weir::hierarchy {
namespace {

Status damaged(const std::string& what) {
  return {Code::kInvalid, "a registry that was kept is damaged: " + what};
}

// Least bytes of a sensor or group: two lengths of texts.
constexpr std::size_t kLeast = 8;

// So many as there can be in what is left, or none.
std::uint32_t get_count(core::Reader& in) {
  const auto count = in.get<std::uint32_t>();
  // An index is halved, and one more than a number is a number.
  if (count > in.rest().size() / kLeast || count >= std::numeric_limits<std::int32_t>::max()) {
    in.fail();
    return 0;
  }
  return count;
}

// The names of part `number`, which must be a new one.
Status read_part(core::Reader& in, RegistryParts& parts, std::uint32_t number) {
  const std::string_view identifier = in.get_text(), name = in.get_text();
  if (!in.ok()) return damaged("it is cut off");
  if (const std::string fault = identifier_fault(identifier); !fault.empty()) return damaged(fault);
  if (parts.add(identifier) != number) return damaged("an identifier stands twice");
  parts.all[number].name = name;
  return {};
}

}  // namespace

void Registry::save(core::Writer& out) const {
  out.put(static_cast<std::uint32_t>(sensors_.size()));
  for (const Sensor& sensor : sensors_) {
    out.put_text(sensor.identifier);
    out.put_text(sensor.name);
  }
  out.put(static_cast<std::uint32_t>(groups_.size()));
  for (const Group& group : groups_) {
    out.put_text(group.identifier);
    out.put_text(group.name);
    out.put(static_cast<std::uint32_t>(group.members.size()));
    for (const Member member : group.members) out.put(2 * member.index + (member.group ? 1 : 0));
  }
}

Result<Registry> Registry::restore(core::Reader& in) {
  const std::uint32_t sensors = get_count(in);
  RegistryParts parts(sensors);
  for (std::uint32_t i = 0; i < sensors; ++i) {
    if (Status s = read_part(in, parts, i); !s.ok()) return s;
    parts.all[i].kind = RegistryParts::Kind::kSensor;
  }
  const std::uint32_t groups = get_count(in);
  if (!in.ok() || groups == 0) return damaged("it has no root");
  for (std::uint32_t g = 0; g < groups; ++g) {
    const std::uint32_t number = sensors + g;
    if (Status s = read_part(in, parts, number); !s.ok()) return s;
    RegistryParts::Part& part = parts.all[number];
    part.kind = RegistryParts::Kind::kGroup;
    if (!in.get_vector(part.members, in.get<std::uint32_t>())) return damaged("it is cut off");
    for (std::uint32_t& member : part.members) {
      const std::uint32_t index = member >> 1;
      const bool group = (member & 1) != 0;
      // Groups that stand below others come before them.
      if (index >= (group ? g : sensors)) return damaged("a member is none");
      member = group ? sensors + index : index;
    }
    RegistryParts::make_distinct(part.members);
  }
  const std::string_view root = parts.all.back().identifier;
  parts.sort();
  std::uint32_t top = 0;
  while (parts.all[top].identifier != root) ++top;
  if (const auto fault = parts.give_levels({&top, 1})) {
    return damaged(parts.path_of(fault->path) + ": " + fault->what);
  }
  Registry registry = of_parts(parts, top);
  if (registry.groups_.size() != groups || registry.sensors_.size() != sensors) {
    return damaged("not everything stands below its root");
  }
  return registry;
}

}  // namespace weir::hierarchy
