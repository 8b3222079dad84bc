#include "engine/registry_text.h"

namespace weir::engine {

Result<std::vector<hierarchy::Registry>> parse_registries(std::string_view, std::string_view) {
  return Status(Code::kUnsupported, "to come");
}
Result<hierarchy::Registry> registry_of(simdjson::dom::element) {
  return Status(Code::kUnsupported, "to come");
}

}  // namespace weir::engine
