#include "core/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/utf8.h"

namespace weir::core {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

void append_escaped(std::string& into, unsigned char c) {
  switch (c) {
    case '"':
      into += "\\\"";
      return;
    case '\\':
      into += "\\\\";
      return;
    case '\n':
      into += "\\n";
      return;
    case '\r':
      into += "\\r";
      return;
    case '\t':
      into += "\\t";
      return;
    case '\b':
      into += "\\b";
      return;
    case '\f':
      into += "\\f";
      return;
    default:
      constexpr char kHex[] = "0123456789abcdef";
      into += "\\u00";
      into += kHex[c >> 4];
      into += kHex[c & 15];
  }
}

}  // namespace

void append_json_text(std::string& into, std::string_view text) {
  into += '"';
  std::size_t plain = 0;  // start of a run that is copied as it is
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (is_plain(c)) {
      ++at;
      continue;
    }
    std::size_t wrong = 1;
    if (c >= 0x80) {
      if (const std::size_t length = utf8_length(text.substr(at), wrong); length > 0) {
        at += length;
        continue;
      }
    }
    into.append(text, plain, at - plain);
    if (c >= 0x80) {
      into += kReplacement;
    } else {
      append_escaped(into, c);
    }
    at += wrong;
    plain = at;
  }
  into.append(text, plain);
  into += '"';
}

std::string json_text(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  append_json_text(quoted, text);
  return quoted;
}

char* write_json_number(char* at, double value) {
  if (!std::isfinite(value)) return std::copy_n("null", 4, at);
  // Above the 64-bit integers plain digits would be an integer that no JSON parser of ours reads.
  const bool beyond_integers = std::fabs(value) >= 0x1p63;
  return beyond_integers
             ? std::to_chars(at, at + kNumberBytes, value, std::chars_format::scientific).ptr
             : std::to_chars(at, at + kNumberBytes, value).ptr;
}

std::string json_number(double value) {
  char text[kNumberBytes];
  return {text, write_json_number(text, value)};
}

}  // namespace weir::core
