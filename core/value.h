// Value: one field of one tuple, in the canonical form that is stored, hashed and compared.
//
// Invariants
//  1. A number that a double holds exactly is kNumber with the double's bits, whatever its text was
//     (6 and 6.0 and 6e0 are one value); -0 is stored as +0; NaN and infinities never occur.
//  2. An integer that no double holds exactly is kInt64 (negative) or kUint64 (positive), exact.
//  3. Text is an offset (high 32 bits) and length (low 32 bits) into the text bytes of its batch.
// Thread safety: immutable values.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace weir::core {

enum class Kind : std::uint8_t { kNumber = 0, kInt64 = 1, kUint64 = 2, kText = 3, kMissing = 4 };

struct Value {
  std::uint64_t bits = 0;
  Kind kind = Kind::kMissing;
  friend bool operator==(const Value&, const Value&) = default;
};

// REQUIRES: finite.
constexpr Value number(double value) {
  return {std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value), Kind::kNumber};
}
constexpr Value integer(std::uint64_t value) {
  const auto nearest = static_cast<double>(value);
  // 2^64 as a double does not fit back; it can only be reached by rounding up, so it is inexact.
  const bool exact =
      nearest < 18446744073709551616.0 && static_cast<std::uint64_t>(nearest) == value;
  return exact ? number(nearest) : Value{value, Kind::kUint64};
}
constexpr Value integer(std::int64_t value) {
  if (value >= 0) return integer(static_cast<std::uint64_t>(value));
  const auto nearest = static_cast<double>(value);
  return static_cast<std::int64_t>(nearest) == value
             ? number(nearest)
             : Value{static_cast<std::uint64_t>(value), Kind::kInt64};
}
constexpr Value text(std::uint32_t offset, std::uint32_t length) {
  return {std::uint64_t{offset} << 32 | length, Kind::kText};
}
// REQUIRES: value.kind == kText and `base` is the text of its batch.
inline std::string_view text_of(const Value& value, const char* base) {
  return {base + (value.bits >> 32), static_cast<std::size_t>(value.bits & 0xffffffffu)};
}
// The value as a double, rounded for kInt64 and kUint64. REQUIRES: a number of some kind.
constexpr double as_double(std::uint64_t bits, Kind kind) {
  switch (kind) {
    case Kind::kInt64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case Kind::kUint64:
      return static_cast<double>(bits);
    default:
      return std::bit_cast<double>(bits);
  }
}

}  // namespace weir::core
