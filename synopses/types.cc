#include "synopses/types.h"

#include <fmt/format.h>

#include <algorithm>

#include "synopses/plugin.h"

namespace weir::synopses {
namespace {

std::string origin(const SynopsisType& type) {
  return type.plugin == nullptr
             ? fmt::format("weir's {} (id {})", type.name, type.id)
             : fmt::format("plug-in {} (id {}) of {}", type.name, type.id, type.plugin->path());
}

}  // namespace

Types::Types() {
  for (const SynopsisType& type : types()) all_.push_back(&type);
}

const SynopsisType* Types::find(int id) const {
  const auto at = std::lower_bound(all_.begin(), all_.end(), id,
                                   [](const auto* type, int wanted) { return type->id < wanted; });
  return at != all_.end() && (*at)->id == id ? *at : nullptr;
}

const SynopsisType* Types::find(std::string_view name) const {
  for (const SynopsisType* type : all_) {
    if (equal_ignoring_case(type->name, name)) return type;
    for (const char* alias : type->aliases) {
      if (equal_ignoring_case(alias, name)) return type;
    }
  }
  return nullptr;
}

Status Types::add(std::shared_ptr<const SynopsisType> type) {
  const SynopsisType* taken = find(type->id);
  if (taken != nullptr && taken->plugin != nullptr && type->plugin != nullptr &&
      taken->plugin->same_library(*type->plugin)) {
    return {};
  }
  const char* what = "id";
  if (taken == nullptr) {
    what = "name";
    taken = find(std::string_view(type->name));
    for (std::size_t i = 0; taken == nullptr && i < type->aliases.size(); ++i) {
      taken = find(std::string_view(type->aliases[i]));
    }
  }
  if (taken != nullptr) {
    return Status(Code::kInvalid, fmt::format("{} has the {} of {}; a plug-in needs its own",
                                              origin(*type), what, origin(*taken)));
  }
  const auto at = std::upper_bound(all_.begin(), all_.end(), type->id,
                                   [](int id, const auto* other) { return id < other->id; });
  all_.insert(at, type.get());
  added_.push_back(std::move(type));
  return {};
}

}  // namespace weir::synopses
