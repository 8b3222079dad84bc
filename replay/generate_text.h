// Digits and constant text into a line, without a call or a branch where it can be helped: a
// generator must be able to outrun what it is to load.
//
// Each function writes at `out`, may scribble up to 15 bytes behind what it writes, and returns the
// end of it. Thread safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir::replay {

namespace text_detail {
struct Pairs {
  char digits[200];
  constexpr Pairs() : digits() {
    for (int i = 0; i < 100; ++i) {
      digits[2 * i] = static_cast<char>('0' + i / 10);
      digits[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
  }
};
inline constexpr Pairs kPairs{};
}  // namespace text_detail

// Exactly two digits. REQUIRES: value < 100.
inline char* put_two(char* out, std::uint32_t value) {
  std::memcpy(out, text_detail::kPairs.digits + 2 * value, 2);
  return out + 2;
}
// Exactly four digits. REQUIRES: value < 10000.
inline char* put_four(char* out, std::uint32_t value) {
  return put_two(put_two(out, value / 100), value % 100);
}
// As many digits as it takes. REQUIRES: value < 10000.
inline char* put_short(char* out, std::uint32_t value) {
  // In a register: bytes written one by one and read back together would stall the loads.
  std::uint16_t high, low;
  std::memcpy(&high, text_detail::kPairs.digits + 2 * (value / 100), 2);
  std::memcpy(&low, text_detail::kPairs.digits + 2 * (value % 100), 2);
  std::uint32_t word = high | std::uint32_t{low} << 16;
  const unsigned leading = (value < 10) + (value < 100) + (value < 1000);
  word >>= 8 * leading;  // little-endian: the first digits are the low bytes
  std::memcpy(out, &word, 4);
  return out + 4 - leading;
}
// As many digits as it takes.
inline char* put_number(char* out, std::uint64_t value) {
  if (value < 10000) return put_short(out, static_cast<std::uint32_t>(value));
  out = put_number(out, value / 10000);
  return put_four(out, static_cast<std::uint32_t>(value % 10000));
}
template <std::size_t size>
inline char* put_text(char* out, const char (&literal)[size]) {
  std::memcpy(out, literal, size - 1);
  return out + size - 1;
}
inline char* put_text(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

}  // namespace weir::replay
