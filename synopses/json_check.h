// Whether a text from outside is one JSON value that may stand in a line of answers.
//
// Stricter than RFC 8259: no line breaks or tabs between parts (an answer is one line), at most
// kMaxJsonDepth deep, and only numbers that every reader of ours reads: an integer without fraction
// or exponent is one of 64 bits, any other a finite double that is not rounded to zero.
// Thread safety: thread-safe (pure).
#pragma once

#include <string>
#include <string_view>

namespace weir::synopses {

inline constexpr int kMaxJsonDepth = 32;

// What is wrong and at which byte, in words; empty if nothing is.
std::string json_fault(std::string_view text);

}  // namespace weir::synopses
