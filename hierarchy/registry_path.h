// Which identifiers may be; and how they and paths stand in messages: on one line, and short
// however long they are, so that what is said about them is not cut off.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::hierarchy {

// What is wrong with an identifier, or nothing.
std::string identifier_fault(std::string_view identifier);
std::string shown(std::string_view identifier);
// "plant/hall_a/press"; of a path of many, both ends.
std::string shown_path(std::span<const std::string_view> path);

}  // namespace weir::hierarchy
