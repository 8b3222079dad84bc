#include "core/json_text.h"

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

std::size_t utf8_length(std::string_view text, std::size_t& wrong) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  wrong = 1;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range keeps out overlong forms, surrogates and what is beyond U+10FFFF.
  unsigned char low = 0x80, high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  for (; wrong < length; ++wrong) {
    if (wrong >= text.size() || byte(wrong) < low || byte(wrong) > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

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

}  // namespace weir::core
