// The nearest of the names there are to one that was mistyped, for messages that say what would be
// right.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace weir::core {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; upper and
// lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name that `given` was probably meant to be, the first of equals; empty when more than a third
// of its letters (and more than one) would be wrong. `names`: a range of texts that outlive the
// call.
template <class Names>
std::string_view nearest(std::string_view given, const Names& names) {
  constexpr std::size_t kLongestName = 64;  // longer ones are nobody's typing error
  if (given.size() > kLongestName) return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const auto& name : names) {
    const std::size_t wrong = edit_distance(given, name);
    if (wrong >= least) continue;
    best = name;
    least = wrong;
  }
  return best;
}

// `; did you mean "NAME"?`, or nothing when no name is near.
template <class Names>
std::string did_you_mean(std::string_view given, const Names& names) {
  const std::string_view near = nearest(given, names);
  return near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?";
}

}  // namespace weir::core
