// Hostile texts as registries: no byte sequence may crash, every message is one line that names the
// file, and what was read keeps the invariants of Registry.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/registry_text.h"

namespace {

using weir::hierarchy::Registries;
using weir::hierarchy::Registry;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Registry& registry) {
  require(!registry.groups().empty());
  for (std::uint32_t g = 0; g < registry.groups().size(); ++g) {
    const auto& group = registry.groups()[g];
    require(registry.find_group(group.identifier) == g);
    require(!registry.find_sensor(group.identifier).has_value());
    std::uint32_t level = 1;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      const auto member = group.members[i];
      require(!member.group || member.index < g);
      if (member.group) level = std::max(level, registry.groups()[member.index].level + 1);
      if (i > 0) require(registry.identifier(group.members[i - 1]) < registry.identifier(member));
    }
    require(group.level == level && level <= weir::hierarchy::kMaxDepth);
  }
  for (std::uint32_t s = 0; s < registry.sensors().size(); ++s) {
    require(registry.find_sensor(registry.sensors()[s].identifier) == s);
    require(s == 0 || registry.sensors()[s - 1].identifier < registry.sensors()[s].identifier);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto read = weir::engine::parse_registries(text, "fuzz");
  if (!read.ok()) {
    require(read.status().message().starts_with("fuzz: "));
    require(read.status().message().find('\n') == std::string::npos);
    return 0;
  }
  require(!read->empty());
  Registries standing;
  for (Registry& registry : *read) {
    check(registry);
    require(registry.same_as(registry));
    // No group stands below two roots of one file, and none is a sensor of another.
    const auto put = standing.put(std::make_shared<const Registry>(std::move(registry)));
    require(put.ok() && *put == Registries::Outcome::kNew);
  }
  return 0;
}
