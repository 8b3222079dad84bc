// UTF-8 by RFC 3629: shortest forms, no surrogates, nothing above U+10FFFF.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::core {

// Length of the first character; 0 if it is wrong. `wrong` is then the length of the maximal wrong
// part, for which one U+FFFD stands. REQUIRES: text is not empty.
std::size_t utf8_length(std::string_view text, std::size_t& wrong);

// Number of leading bytes that are complete characters.
std::size_t utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

// Whether `text` is one character that was cut short, such as the first two of its three bytes.
bool is_cut_utf8(std::string_view text);

}  // namespace weir::core
