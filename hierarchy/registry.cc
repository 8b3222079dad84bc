#include "hierarchy/registry.h"

namespace weir::hierarchy {

Result<Registry> Registry::of(const Outline&) { return Status(Code::kUnsupported, "to come"); }
Result<std::vector<Registry>> Registry::of_edges(std::span<const Edge>) {
  return Status(Code::kUnsupported, "to come");
}
std::optional<std::uint32_t> Registry::find_group(std::string_view) const { return {}; }
std::optional<std::uint32_t> Registry::find_sensor(std::string_view) const { return {}; }
std::string Registry::path_to(Member) const { return {}; }
bool Registry::same_as(const Registry&) const { return false; }
Result<Registries::Outcome> Registries::put(std::shared_ptr<const Registry> registry) {
  by_root_[registry->root().identifier] = registry;
  return Outcome::kNew;
}

}  // namespace weir::hierarchy
