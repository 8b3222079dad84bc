#include "engine/synopsis_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/nearest.h"
#include "engine/json_text.h"
#include "synopses/registry.h"

namespace weir::engine {
namespace {

struct Known {
  int id;
  const char* name;
  const char* alias;
};
constexpr std::array kKnown = {Known{1, "CountMin", "CountMinSketch"},
                               Known{2, "HyperLogLog", "HLL"},
                               Known{3, "BloomFilter", "BloomFitler"},
                               Known{4, "DFT", "DFT"},
                               Known{5, "LossyCounting", "LossyCounting"},
                               Known{6, "StickySampling", "StickySampling"},
                               Known{7, "AMS", "AMSSketch"},
                               Known{8, "GKQuantiles", "GKQuantiles"},
                               Known{9, "LSH", "LSHsynopsis"},
                               Known{10, "WindowSketchQuantiles", "WindowSketchQuantiles"}};

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string there_are() {
  std::string list;
  for (const synopses::SynopsisType& type : synopses::types()) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", type.name, type.id);
  }
  return list;
}

std::string name_of(int id) {
  if (const auto* type = synopses::find_type(id)) return type->name;
  for (const Known& known : kKnown) {
    if (known.id == id) return known.name;
  }
  return {};
}

std::optional<int> id_of(std::string_view name) {
  if (const auto* type = synopses::find_type(name)) return type->id;
  for (const Known& known : kKnown) {
    if (same_letters(name, known.name) || same_letters(name, known.alias)) return known.id;
  }
  return std::nullopt;
}

Status unknown_name(std::string_view name, std::string_view key) {
  std::vector<const char*> names;
  for (const synopses::SynopsisType& type : synopses::types()) names.push_back(type.name);
  for (const Known& known : kKnown) names.push_back(known.name);
  std::string message = fmt::format("{}: unknown synopsis {}", key, json_text(name));
  const std::string near = core::did_you_mean(name, names);
  return {Code::kInvalid, message + (near.empty() ? "; there are: " + there_are() : near)};
}

}  // namespace

Result<int> synopsis_id_of(std::optional<std::string_view> name, std::string_view name_key,
                           std::optional<int> id, std::string_view id_key) {
  if (name.has_value()) {
    const std::optional<int> named = id_of(*name);
    if (!named.has_value()) return unknown_name(*name, name_key);
    if (id.has_value() && *id != *named) {
      const std::string other = name_of(*id);
      return Status(
          Code::kInvalid,
          fmt::format("{} names {} (id {}), but {} is {}{}", name_key, name_of(*named), *named,
                      id_key, *id, other.empty() ? ", which there is not" : " (" + other + ")"));
    }
    id = named;
  }
  if (!id.has_value()) {
    return Status(Code::kInvalid, fmt::format("{} is missing; it is the number of a synopsis: {}",
                                              id_key, there_are()));
  }
  if (synopses::find_type(*id) != nullptr) return *id;
  const std::string known = name_of(*id);
  if (known.empty()) {
    return Status(Code::kInvalid, fmt::format("{}: unknown synopsis id {}; there are: {}", id_key,
                                              *id, there_are()));
  }
  return Status(Code::kUnsupported,
                fmt::format("synopsis {} (id {}) is not in this version; there are: {}", known, *id,
                            there_are()));
}

}  // namespace weir::engine
