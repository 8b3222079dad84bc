// Digits: numbers out of characters, eight at a time in one 64-bit register, for the record paths
// that cannot afford a call or a loop for each digit.
//
// Invariants
//  1. Every load is of eight bytes; callers see to it that they are readable (core::kBlockPadding).
//  2. Nothing is converted that was not checked to be a digit.
// Source: Lemire, "Quickly parsing eight digits", 2018, and the SWAR tests of simdjson.
// Thread safety: thread-safe (pure).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace weir::ingest {

inline std::uint64_t load8(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

// Eight characters of the shape "DDxDDxDD" with separators x: the three numbers of two digits go to
// bytes 0, 3 and 6 of `pairs`.
inline bool three_pairs(const char* from, char separator, std::uint64_t& pairs) {
  const std::uint64_t mark = static_cast<unsigned char>(separator);
  const std::uint64_t digits = load8(from) ^ (0x3030003030003030u | mark << 16 | mark << 40);
  constexpr std::uint64_t kHigh = 0xF0F0FFF0F0FFF0F0u;
  if (((digits | (digits + 0x0606000606000606u)) & kHigh) != 0) return false;
  pairs = digits * 10 + (digits >> 8);
  return true;
}
inline unsigned pair_at(std::uint64_t pairs, unsigned byte) {
  return static_cast<unsigned>(pairs >> (8 * byte)) & 0xFF;
}

// How many of the eight characters before the first that is no digit, 0 to 8.
inline unsigned leading_digits(std::uint64_t word) {
  const std::uint64_t digits = word ^ 0x3030303030303030u;
  // A carry out of a byte needs a byte of 0xFA or more, which the first operand marks itself, so
  // only bytes after the first mark can be wrong.
  const std::uint64_t other = (digits | (digits + 0x0606060606060606u)) & 0xF0F0F0F0F0F0F0F0u;
  return other == 0 ? 8u : static_cast<unsigned>(std::countr_zero(other)) / 8;
}
// The number that the first `count` characters write. REQUIRES: 1 <= count <= leading_digits(word).
inline std::uint64_t digits_value(std::uint64_t word, unsigned count) {
  // Shifting in zero bytes puts the digits at the end; those bytes count as leading zeros.
  std::uint64_t digits = (word ^ 0x3030303030303030u) << (64 - 8 * count);
  digits = digits * 10 + (digits >> 8);
  return (((digits & 0x000000FF000000FFu) * 0x000F424000000064u) +
          (((digits >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
         32;
}

inline constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
inline constexpr std::uint64_t kWholePowersOfTen[] = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

// A plain decimal ("-12.50", no exponent) of at most 7 digits on either side of its point,
// correctly rounded: with both parts below 2^53 and a power of ten that is exact, one division
// rounds once. Moves `at` behind it and is true only if it could do it; false says nothing but "ask
// elsewhere".
inline bool take_short_decimal(const char*& at, double& value) {
  const char* p = at;
  const bool negative = *p == '-';
  p += negative;
  const std::uint64_t front = load8(p);
  const unsigned whole_digits = leading_digits(front);
  if (whole_digits - 1 > 6) return false;
  std::uint64_t mantissa = digits_value(front, whole_digits);
  p += whole_digits;
  double result = static_cast<double>(mantissa);
  if (*p == '.') {
    const std::uint64_t back = load8(++p);
    const unsigned digits = leading_digits(back);
    if (digits - 1 > 6) return false;
    mantissa = mantissa * kWholePowersOfTen[digits] + digits_value(back, digits);
    result = static_cast<double>(mantissa) / kPowersOfTen[digits];
    p += digits;
  }
  at = p;
  value = negative ? -result : result;
  return true;
}

}  // namespace weir::ingest
