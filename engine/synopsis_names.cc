#include "engine/synopsis_names.h"

#include <fmt/format.h>

#include <vector>

#include "core/nearest.h"
#include "engine/json_text.h"

namespace weir::engine {
namespace {

std::string there_are(const synopses::Types& types) {
  std::string list;
  for (const synopses::SynopsisType* type : types.all()) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", type->name, type->id);
  }
  return list;
}

Status unknown_name(const synopses::Types& types, std::string_view name, std::string_view key) {
  std::vector<const char*> names;
  for (const synopses::SynopsisType* type : types.all()) {
    names.push_back(type->name);
    names.insert(names.end(), type->aliases.begin(), type->aliases.end());
  }
  const std::string near = core::did_you_mean(name, names);
  return {Code::kInvalid, fmt::format("{}: unknown synopsis {}{}", key, json_text(name),
                                      near.empty() ? "; there are: " + there_are(types) : near)};
}

}  // namespace

Result<const synopses::SynopsisType*> synopsis_kind(const synopses::Types& types,
                                                    std::optional<std::string_view> name,
                                                    std::string_view name_key,
                                                    std::optional<int> id,
                                                    std::string_view id_key) {
  const synopses::SynopsisType* by_id = id.has_value() ? types.find(*id) : nullptr;
  if (name.has_value()) {
    const synopses::SynopsisType* named = types.find(*name);
    if (named == nullptr) return unknown_name(types, *name, name_key);
    if (!id.has_value() || by_id == named) return named;
    return Status(
        Code::kInvalid,
        fmt::format("{} names {} (id {}), but {} is {}{}", name_key, named->name, named->id, id_key,
                    *id,
                    by_id == nullptr ? ", which there is not" : fmt::format(" ({})", by_id->name)));
  }
  if (!id.has_value()) {
    return Status(Code::kInvalid, fmt::format("{} is missing; it is the number of a synopsis: {}",
                                              id_key, there_are(types)));
  }
  if (by_id != nullptr) return by_id;
  return Status(Code::kInvalid, fmt::format("{}: unknown synopsis id {}; there are: {}", id_key,
                                            *id, there_are(types)));
}

}  // namespace weir::engine
