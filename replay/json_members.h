// JSON members: what a line of JSON holds by key, as it is written.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace weir::replay {

using Members = std::vector<std::pair<std::string_view, std::string_view>>;

// Keys without their quotes, values as they are written; up to where the text is no object.
Members members_of(std::string_view object);
// The value of a key as it is written; empty if there is none.
std::string_view value_of(const Members& members, std::string_view key);

}  // namespace weir::replay
