#include "hierarchy/registry_path.h"

#include "core/utf8.h"

namespace weir::hierarchy {
namespace {

constexpr std::size_t kShownBytes = 60;  // of an identifier
constexpr std::size_t kShownSteps = 6;   // at either end of a path

}  // namespace

std::string shown(std::string_view identifier) {
  std::string text(identifier.substr(0, kShownBytes));
  const bool cut = text.size() < identifier.size();
  if (cut) text.resize(core::utf8_prefix(text));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return cut ? text + "..." : text;
}

std::string shown_path(std::span<const std::string_view> path) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) text += '/';
    if (i == kShownSteps && path.size() > 2 * kShownSteps + 1) {
      text += "...";
      i = path.size() - kShownSteps - 1;
    } else {
      text += shown(path[i]);
    }
  }
  return text;
}

}  // namespace weir::hierarchy
