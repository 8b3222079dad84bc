// What reading a request's values needs, whatever its form: texts, whole numbers, scalars, and how
// messages show them.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <simdjson.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "synopses/synopsis.h"

namespace weir::engine {

// `text` cut to `limit` bytes, at a character, with "..." if it was.
std::string shortened(std::string text, std::size_t limit);
// A JSON text as messages show it: on one line and not too long. REQUIRES: valid JSON.
std::string shown(std::string_view raw);
bool same_letters(std::string_view a, std::string_view b);
// "\"a\", \"b\" or \"c\"".
std::string quoted_list(std::span<const char* const> words);

// A whole number written as a number or, as the released code does, as a text of digits.
std::optional<std::uint64_t> whole_number(const simdjson::dom::element& value);
// Empty when it is no text.
std::string_view text_of(const simdjson::dom::element& value);
// Absent for arrays and objects.
std::optional<synopses::Scalar> scalar_of(const simdjson::dom::element& value);

}  // namespace weir::engine
