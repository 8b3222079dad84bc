#include "core/utf8.h"

namespace weir::core {

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

std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0, wrong = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at), wrong);
    if (length == 0) break;
    at += length;
  }
  return at;
}

bool is_cut_utf8(std::string_view text) {
  if (text.empty()) return false;
  std::size_t wrong = 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  return lead >= 0xc2 && lead <= 0xf4 && utf8_length(text, wrong) == 0 && wrong == text.size();
}

}  // namespace weir::core
