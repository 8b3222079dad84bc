// Numbers are scanned once for their grammar; integers are then converted exactly, decimals with an
// exact mantissa and an exact power of ten by one division or multiplication (Clinger 1990), and
// all others by std::from_chars, which rounds correctly whatever the length.
#include "ingest/numbers.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace weir::ingest {
namespace {

constexpr bool digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr auto kWholePowers = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();
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
  } else if (number.significant <= 19 && number.exponent < 0 && number.exponent >= -19) {
    result = decimal_quotient(number.mantissa, static_cast<unsigned>(-number.exponent));
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

// Long division in 128 bits: with both operands shifted to the top of 64, one hardware division
// gives 64 bits of the quotient, and the remainder says whether more follow.
double decimal_quotient(std::uint64_t mantissa, unsigned power) {
  if (mantissa <= kMaxExactMantissa) return static_cast<double>(mantissa) / kPowers[power];
  using Wide = unsigned __int128;
  std::uint64_t divisor = kWholePowers[power];
  const int up = std::countl_zero(mantissa), divisor_up = std::countl_zero(divisor);
  mantissa <<= up;
  divisor <<= divisor_up;
  const int halved = mantissa >= divisor;
  const Wide dividend = Wide{mantissa} << (64 - halved);
  const auto quotient = static_cast<std::uint64_t>(dividend / divisor);  // in [2^63, 2^64)
  const bool more = static_cast<std::uint64_t>(dividend % divisor) != 0;
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 10;
  const std::uint64_t rest = quotient & (2 * kHalf - 1);
  std::uint64_t kept = quotient >> 11;
  kept += rest > kHalf || (rest == kHalf && (more || kept % 2 == 1));
  const int exponent = divisor_up - up - 64 + halved + 11;  // far from the ends of the range
  return static_cast<double>(kept) *
         std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

NumberOutcome parse_json_number(std::string_view text, core::Value& value) {
  return parse(text, false, value);
}

NumberOutcome parse_csv_number(std::string_view text, core::Value& value) {
  return parse(text, true, value);
}

}  // namespace weir::ingest
