#include "hierarchy/registry_parts.h"

#include <algorithm>
#include <utility>

#include "core/utf8.h"
#include "hierarchy/registry.h"
#include "hierarchy/registry_path.h"

namespace weir::hierarchy {
namespace {

// Eight bytes of a text, so that most comparisons are those of integers. `left`: how many bytes
// there were, at most 9; between texts that agree in all bytes, the shorter is the less.
struct SortKey {
  std::uint64_t bytes;
  std::uint32_t left;
  std::uint32_t part;
  friend bool operator<(const SortKey& a, const SortKey& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.left < b.left;
  }
};
constexpr std::size_t kWord = sizeof(SortKey::bytes);

void load(SortKey& key, std::string_view text, std::size_t depth) {
  const std::size_t left = text.size() - std::min(text.size(), depth);
  key.bytes = 0;
  for (std::size_t i = 0; i < kWord; ++i) {
    const auto byte = i < left ? static_cast<unsigned char>(text[depth + i]) : 0;
    key.bytes = key.bytes << 8 | byte;
  }
  key.left = static_cast<std::uint32_t>(std::min(left, kWord + 1));
}

// The numbers of the parts in the order of their bytes: sorted by the first eight, then what agrees
// in them by the next eight, and so on.
std::vector<SortKey> in_order(const std::vector<RegistryParts::Part>& parts) {
  std::vector<SortKey> keys(parts.size());
  for (std::uint32_t part = 0; part < parts.size(); ++part) keys[part].part = part;
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, keys.size(), 0}};
  while (!ranges.empty()) {
    const Range range = ranges.back();
    ranges.pop_back();
    bool differ = false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      load(keys[i], parts[keys[i].part].identifier, range.depth);
      differ |= keys[range.begin] < keys[i] || keys[i] < keys[range.begin];
    }
    if (differ) {
      std::sort(keys.begin() + static_cast<std::ptrdiff_t>(range.begin),
                keys.begin() + static_cast<std::ptrdiff_t>(range.end));
    }
    for (std::size_t begin = range.begin, end = begin; begin < range.end; begin = end) {
      while (end < range.end && !(keys[begin] < keys[end])) ++end;
      if (end - begin > 1) ranges.push_back({begin, end, range.depth + kWord});
    }
  }
  return keys;
}

}  // namespace

std::string identifier_fault(std::string_view identifier) {
  if (identifier.empty()) return "an identifier is empty";
  if (identifier.size() > kMaxIdentifier) {
    return "an identifier is longer than " + std::to_string(kMaxIdentifier) + " bytes";
  }
  if (!core::is_utf8(identifier)) return "an identifier is not UTF-8";
  return {};
}

RegistryParts::RegistryParts(std::size_t expected) : numbers_(expected * 8 / 5 + 1) {
  all.reserve(expected);
}

std::uint32_t RegistryParts::add(std::string_view identifier) {
  const core::PackedKey key = numbers_.pack(0, identifier.data(), identifier.size());
  const std::uint32_t found = numbers_.find(key, identifier.data(), identifier.size());
  if (found != core::KeyIndex::kNone) return found;
  const auto number = static_cast<std::uint32_t>(all.size());
  numbers_.insert(key, identifier, number);
  all.push_back({});
  all.back().identifier = identifier;
  return number;
}

void RegistryParts::make_distinct(std::vector<std::uint32_t>& members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
}

void RegistryParts::sort() {
  std::vector<std::uint32_t> number_of(all.size());
  std::vector<Part> sorted;
  sorted.reserve(all.size());
  for (const SortKey& key : in_order(all)) {
    number_of[key.part] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(all[key.part]));
  }
  all = std::move(sorted);
  for (Part& part : all) {
    for (std::uint32_t& member : part.members) member = number_of[member];
    std::sort(part.members.begin(), part.members.end());
  }
}

RegistryParts::Fault RegistryParts::fault(std::optional<std::uint32_t> last,
                                          std::string what) const {
  Fault fault;
  for (const Step& step : stack_) fault.path.push_back(step.part);
  if (last.has_value()) fault.path.push_back(*last);
  fault.what = std::move(what);
  return fault;
}

std::optional<RegistryParts::Fault> RegistryParts::descend(std::uint32_t start, bool is_root) {
  stack_.assign(1, {start, 0});
  all[start].open = true;
  all[start].level = 1;
  all[start].root = start + 1;
  while (!stack_.empty()) {
    Step& step = stack_.back();
    Part& part = all[step.part];
    if (step.next == part.members.size()) {
      if (part.level > kMaxDepth) {
        return fault({}, "groups stand deeper than " + std::to_string(kMaxDepth));
      }
      part.open = false;
      stack_.pop_back();
      if (!stack_.empty()) {
        std::uint32_t& above = all[stack_.back().part].level;
        above = std::max(above, part.level + 1);
      }
      continue;
    }
    const std::uint32_t number = part.members[step.next++];
    Part& member = all[number];
    if (member.kind != Kind::kGroup) continue;
    if (member.open) {
      Fault cycle = fault(number, "cycle: " + shown(member.identifier) + " stands above itself");
      cycle.cycle = true;
      return cycle;
    }
    if (member.level != 0) {  // it was here before
      if (is_root && member.root != start + 1) {
        return fault(number, "group " + shown(member.identifier) + " is a group of hierarchy " +
                                 shown(all[member.root - 1].identifier) +
                                 "; identifiers of groups are unique");
      }
      part.level = std::max(part.level, member.level + 1);
      continue;
    }
    member.open = true;
    member.level = 1;
    member.root = start + 1;
    stack_.push_back({number, 0});
  }
  return std::nullopt;
}

std::optional<RegistryParts::Fault> RegistryParts::give_levels(
    std::span<const std::uint32_t> roots) {
  for (const std::uint32_t root : roots) {
    if (auto wrong = descend(root, true)) return wrong;
  }
  // What stands below no root stands in a cycle or below one.
  for (std::uint32_t part = 0; part < all.size(); ++part) {
    if (all[part].kind != Kind::kGroup || all[part].level != 0) continue;
    if (auto wrong = descend(part, false)) return wrong;
  }
  return std::nullopt;
}

std::string RegistryParts::path_of(std::span<const std::uint32_t> path) const {
  std::vector<std::string_view> identifiers;
  for (const std::uint32_t part : path) identifiers.push_back(all[part].identifier);
  return shown_path(identifiers);
}

}  // namespace weir::hierarchy
