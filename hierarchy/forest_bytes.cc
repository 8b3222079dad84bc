// A forest as bytes: its identifiers in the order of their numbers, then which of them were met,
// then its registries. Where sensors stand follows from these.
#include "hierarchy/forest.h"

namespace weir::hierarchy {

void Forest::save(core::Writer& into) const {
  into.put(sensors());
  for (std::uint32_t sensor = 0; sensor < sensors(); ++sensor) into.put_text(identifier(sensor));
  const std::vector<bool> were_met = met();
  for (const bool was_met : were_met) into.put(static_cast<std::uint8_t>(was_met));
  into.put(trees());
  for (const Standing& standing : trees_) standing.tree->registry().save(into);
}

Status Forest::restore(core::Reader& in) {
  const Status damaged(Code::kInvalid, "saved hierarchies: their sensors are no such thing");
  const auto saved = in.get<std::uint32_t>();
  for (std::uint32_t sensor = 0; sensor < saved; ++sensor) {
    const std::string_view identifier = in.get_text();
    if (!in.ok() || number_of(identifier) != sensor) return damaged;
  }
  std::vector<std::uint8_t> were_met;
  if (!in.get_vector(were_met, saved)) return damaged;
  met_before_.assign(were_met.begin(), were_met.end());
  const auto trees = in.get<std::uint32_t>();
  for (std::uint32_t t = 0; t < trees; ++t) {
    Result<Registry> registry = Registry::restore(in);
    if (!registry.ok()) return registry.status();
    if (Status status = Tree::check(*registry); !status.ok()) return status;
    put(t, std::make_shared<const Registry>(*std::move(registry)));
  }
  return in.ok() && sensors() == saved ? Status() : damaged;
}

}  // namespace weir::hierarchy
