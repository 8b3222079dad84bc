// Numbers are scanned once for their grammar; integers are then converted exactly, decimals with an
// exact mantissa and an exact power of ten by one division or multiplication (Clinger 1990), and
// all others by std::from_chars, which rounds correctly whatever the length.
#include "ingest/numbers.h"

#include <charconv>
#include <cmath>

namespace weir::ingest {
namespace {

constexpr bool digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::int64_t kMaxExactPower = 22;
constexpr std::uint64_t kMaxExactMantissa = std::uint64_t{1} << 53;

struct Scanned {
  bool negative = false;
  bool integer = false;         // neither point nor exponent
  const char* first = nullptr;  // behind the sign
  const char* last = nullptr;
  std::uint64_t mantissa = 0;    // of the first 19 significant digits
  std::int64_t significant = 0;  // digits from the first that is not zero
  std::int64_t exponent = 0;     // of ten, for the mantissa as if all digits were in it
};

// Runs over digits and counts them into `number`.
const char* take_digits(const char* p, const char* end, Scanned& number) {
  for (; p != end && digit(*p); ++p) {
    if (number.significant == 0 && *p == '0') continue;
    if (number.significant < 19) {
      number.mantissa = number.mantissa * 10 + static_cast<unsigned>(*p - '0');
    }
    ++number.significant;
  }
  return p;
}

// `lenient` is CSV's grammar. False: not a number.
bool scan(std::string_view text, bool lenient, Scanned& number) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p != end && (*p == '-' || (lenient && *p == '+'))) number.negative = *p++ == '-';
  number.first = p;
  number.last = end;
  const char* const whole = p;
  p = take_digits(p, end, number);
  std::ptrdiff_t digits = p - whole;
  if (!lenient && (digits == 0 || (digits > 1 && *whole == '0'))) return false;
  number.integer = true;
  if (p != end && *p == '.') {
    number.integer = false;
    const char* const fraction = ++p;
    p = take_digits(p, end, number);
    if (!lenient && p == fraction) return false;
    digits += p - fraction;
    number.exponent = -(p - fraction);
  }
  if (digits == 0) return false;
  if (p != end && (*p == 'e' || *p == 'E')) {
    number.integer = false;
    ++p;
    bool negative = false;
    if (p != end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    const char* const power = p;
    std::int64_t exponent = 0;
    for (; p != end && digit(*p); ++p) {
      // More would only overflow: no text is long enough to bring such a number back into range.
      if (exponent < 1'000'000'000'000) exponent = exponent * 10 + (*p - '0');
    }
    if (p == power) return false;
    number.exponent += negative ? -exponent : exponent;
  }
  return p == end;
}

NumberOutcome whole_number(const Scanned& number, core::Value& value) {
  std::uint64_t magnitude = number.mantissa;
  if (number.significant > 20) return NumberOutcome::kOutOfRange;
  if (number.significant == 20) {
    if (__builtin_mul_overflow(magnitude, std::uint64_t{10}, &magnitude) ||
        __builtin_add_overflow(magnitude, static_cast<std::uint64_t>(number.last[-1] - '0'),
                               &magnitude)) {
      return NumberOutcome::kOutOfRange;
    }
  }
  if (!number.negative) {
    value = core::integer(magnitude);
    return NumberOutcome::kOk;
  }
  if (magnitude > std::uint64_t{1} << 63) return NumberOutcome::kOutOfRange;
  value = core::integer(static_cast<std::int64_t>(0 - magnitude));
  return NumberOutcome::kOk;
}

NumberOutcome decimal_number(const Scanned& number, core::Value& value) {
  double result = 0;
  if (number.significant <= 19 && number.mantissa <= kMaxExactMantissa &&
      number.exponent >= -kMaxExactPower && number.exponent <= kMaxExactPower) {
    result = static_cast<double>(number.mantissa);
    if (number.exponent < 0) {
      result /= kPowers[-number.exponent];
    } else {
      result *= kPowers[number.exponent];
    }
  } else if (number.significant != 0) {
    const auto [end, error] = std::from_chars(number.first, number.last, result);
    if (error == std::errc::result_out_of_range) {
      // from_chars does not say which way; the place of the first digit does.
      if (number.exponent + number.significant > 0) return NumberOutcome::kOutOfRange;
      result = 0;
    } else if (error != std::errc() || end != number.last) {
      return NumberOutcome::kNotANumber;
    }
    if (std::isinf(result)) return NumberOutcome::kOutOfRange;
  }
  value = core::number(number.negative ? -result : result);
  return NumberOutcome::kOk;
}

NumberOutcome parse(std::string_view text, bool lenient, core::Value& value) {
  Scanned number;
  if (!scan(text, lenient, number)) return NumberOutcome::kNotANumber;
  return number.integer ? whole_number(number, value) : decimal_number(number, value);
}

}  // namespace

NumberOutcome parse_json_number(std::string_view text, core::Value& value) {
  return parse(text, false, value);
}

NumberOutcome parse_csv_number(std::string_view text, core::Value& value) {
  return parse(text, true, value);
}

}  // namespace weir::ingest
