// JSON text: how texts and numbers stand in every line of JSON that weir writes.
//
// Invariants
//  1. What is written is valid JSON in valid UTF-8 on one line, whatever bytes are given.
//  2. A number is the shortest text that reads back as the same double.
// Thread safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::core {

// A quoted JSON string. Bytes that are not UTF-8 become U+FFFD, one for each maximal wrong part.
std::string json_text(std::string_view text);
void append_json_text(std::string& into, std::string_view text);
// NaN and infinities are null.
std::string json_number(double value);
// The same into memory, without allocating; gives its end. REQUIRES: kNumberBytes of room at `at`.
inline constexpr std::size_t kNumberBytes = 32;
char* write_json_number(char* at, double value);

}  // namespace weir::core
