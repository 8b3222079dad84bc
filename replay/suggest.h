// Suggestions for a name that was mistyped: the nearest of the names there are.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::replay {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);
// "; did you mean NAME?" with the nearest name, or "" when none is near (more than a third of its
// letters differ).
std::string did_you_mean(std::string_view wrong, std::span<const std::string> names);

}  // namespace weir::replay
