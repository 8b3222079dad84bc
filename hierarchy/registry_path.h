// How identifiers and paths stand in messages: on one line, and short however long they are, so
// that what is said about them is not cut off.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::hierarchy {

std::string shown(std::string_view identifier);
// "plant/hall_a/press"; of a path of many, both ends.
std::string shown_path(std::span<const std::string_view> path);

}  // namespace weir::hierarchy
