// JSON text: bytes of any origin as a quoted JSON string, for layers below the engine.
//
// What is written is valid JSON in valid UTF-8 on one line, whatever bytes are given. Thread
// safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::core {

// A quoted JSON string. Bytes that are not UTF-8 become U+FFFD, one for each maximal wrong part.
void append_json_text(std::string& into, std::string_view text);

// Length of the first character (RFC 3629: no surrogates, shortest form); 0 if it is wrong. `wrong`
// is then the length of the wrong part. REQUIRES: text is not empty.
std::size_t utf8_length(std::string_view text, std::size_t& wrong);

}  // namespace weir::core
