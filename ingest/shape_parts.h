// The parts of the shape kernel (ingest/shape_kernel.cc) that are the same on every SIMD target:
// what a record came to, and the values that are not plain.
//
// Characters are loaded eight at a time, up to kLongestText + 64 bytes behind the value's first.
// Thread safety: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/value.h"
#include "ingest/digits.h"
#include "ingest/numbers.h"
#include "ingest/shape.h"
#include "ingest/times.h"
#include "weir/types.h"

namespace weir::ingest {
namespace shape_parts {

inline constexpr double kPowerOfGap[16] = {1e0, 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,
                                           1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};

// Up to 15 characters of a plain decimal.
struct Plain {
  std::uint32_t length = 0;
  std::uint32_t gap = 0;
  std::uint64_t mantissa = 0;
  bool negative = false;
  std::int64_t whole() const {
    return negative ? -static_cast<std::int64_t>(mantissa) : static_cast<std::int64_t>(mantissa);
  }
  // -0 gives +0: the sign goes through an integer.
  double value() const { return static_cast<double>(whole()) / kPowerOfGap[gap]; }
};

// The text of a number, whatever it holds: up to kLongestNumber characters. 0: longer.
inline std::size_t number_text(const char* p) {
  std::size_t n = 0;
  while (n < kLongestNumber) {
    const char c = p[n];
    if (!is_digit(c) && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') return n;
    ++n;
  }
  return 0;
}

// A decimal without exponent of up to 19 digits in all, exactly. 0: another number, or none.
[[gnu::noinline]] inline std::size_t long_decimal(const char* from, core::Value& value) {
  const char* p = from;
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t mantissa = 0;
  const auto take = [&] {
    const char* const first = p;
    for (unsigned n = 8; n == 8 && p - from < 32;) {
      const std::uint64_t word = load8(p);
      n = leading_digits(word);
      if (n == 0) break;
      mantissa = mantissa * kWholePowersOfTen[n] + digits_value(word, n);
      p += n;
    }
    return static_cast<std::size_t>(p - first);
  };
  const char* const first = p;
  std::size_t digits = take();
  if (digits == 0 || (digits > 1 && *first == '0')) return 0;
  std::size_t fraction = 0;
  const bool point = *p == '.';
  if (point) {
    ++p;
    fraction = take();
    digits += fraction;
    if (fraction == 0) return 0;
  }
  // 19 digits fit 64 bits whatever they are; with more the mantissa may have wrapped around.
  if (digits > 19 || (*p | 0x20) == 'e') return 0;
  if (point) {
    const double magnitude = decimal_quotient(mantissa, static_cast<unsigned>(fraction));
    value = core::number(negative ? -magnitude : magnitude);
  } else if (!negative) {
    value = core::integer(mantissa);
  } else {
    if (mantissa > std::uint64_t{1} << 63) return 0;
    value = core::integer(static_cast<std::int64_t>(0 - mantissa));
  }
  return static_cast<std::size_t>(p - from);
}

// Of a fraction of n digits, in nanoseconds.
inline constexpr std::int64_t kScale[] = {
    1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10};

// ".f" behind a clock: its length, 0 if it is none.
[[gnu::noinline]] inline std::size_t clock_fraction(const char* p, std::int64_t& nanos) {
  const std::uint64_t front = load8(p + 1);
  const unsigned n = leading_digits(front);
  if (n == 0) return 0;
  nanos = static_cast<std::int64_t>(digits_value(front, n)) * kScale[n];
  if (n < 8 || !is_digit(p[9])) return 1 + n;
  nanos += p[9] - '0';
  return 10;
}

struct Text {
  const char* data;
  std::size_t length;
  std::string_view view() const { return {data, length}; }
};

// A value that is no kNumber; it is put down when the whole record is known to be good.
struct Odd {
  std::uint16_t column;
  core::Value value;  // kText: `text` instead
  Text text;
};

// The parts of a record that most layouts do not have.
struct Rare {
  Text dataset{nullptr, 0}, date{nullptr, 0}, time{nullptr, 0};
  std::size_t odds = 0;
  Odd odd[64];
};

// An epoch as times.h has it; kNoTime: implausible.
[[gnu::noinline]] inline std::int64_t any_epoch(std::int64_t value, bool millis) {
  std::int64_t nanos = 0;
  const bool plausible =
      epoch_to_nanos(value, millis ? EpochUnit::kMillis : EpochUnit::kAuto, nanos);
  return plausible ? nanos : kNoTime.ns;
}
// Milliseconds until the year 2100 are plausible whatever the unit.
inline std::int64_t epoch(std::int64_t value, bool millis) {
  constexpr std::uint64_t kLastMillis = 4'102'444'800'000, kFirstMillis = 100'000'000'000;
  const auto count = static_cast<std::uint64_t>(value);
  if (count <= kLastMillis && (millis || count >= kFirstMillis)) return value * 1'000'000;
  return any_epoch(value, millis);
}

}  // namespace shape_parts
}  // namespace weir::ingest
