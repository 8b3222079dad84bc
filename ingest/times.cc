#include "ingest/times.h"

#include "ingest/digits.h"

namespace weir::ingest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

// Howard Hinnant, "chrono-compatible low-level date algorithms": days since 1970 of a civil date.
constexpr std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + static_cast<std::int64_t>(day_of_era) - 719'468;
}
constexpr std::int64_t kFirstDay = days_from_civil(1900, 1, 1);
constexpr std::int64_t kEndDay = days_from_civil(2201, 1, 1);
static_assert(days_from_civil(1970, 1, 1) == 0);
static_assert(days_from_civil(2000, 3, 1) == 11'017);
static_assert(kEndDay < INT64_MAX / kDay && kFirstDay > INT64_MIN / kDay,
              "every plausible time fits 64 bits of nanoseconds");

constexpr bool plausible(std::int64_t nanos) {
  return nanos >= kFirstDay * kDay && nanos < kEndDay * kDay;
}

bool two_digits(const char* from, unsigned& value) {
  const auto tens = static_cast<unsigned>(from[0]) - '0';
  const auto ones = static_cast<unsigned>(from[1]) - '0';
  value = tens * 10 + ones;
  return tens <= 9 && ones <= 9;
}

// A fraction of 1 to 9 digits, as billionths; `text` is moved behind it.
bool take_fraction(std::string_view& text, std::int64_t& nanos) {
  std::int64_t value = 0;
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) {
    if (n == 9) return false;
    value = value * 10 + (text[n] - '0');
    ++n;
  }
  if (n == 0) return false;
  for (std::size_t i = n; i < 9; ++i) value *= 10;
  nanos = value;
  text.remove_prefix(n);
  return true;
}

// "HH:MM:SS[.f]" or "HH:MM" at the front of `text`, which is moved behind it.
bool take_clock(std::string_view& text, std::int64_t& nanos) {
  if (text.size() < 8 || text[5] != ':') {
    unsigned hour = 0, minute = 0;
    if (text.size() < 5 || text[2] != ':') return false;
    if (!two_digits(text.data(), hour) || !two_digits(text.data() + 3, minute)) return false;
    text.remove_prefix(5);
    return clock_to_nanos(hour, minute, 0, nanos);
  }
  std::uint64_t pairs = 0;
  if (!three_pairs(text.data(), ':', pairs)) return false;
  if (!clock_to_nanos(pair_at(pairs, 0), pair_at(pairs, 3), pair_at(pairs, 6), nanos)) return false;
  text.remove_prefix(8);
  if (text.empty() || (text[0] != '.' && text[0] != ',')) return true;
  text.remove_prefix(1);
  std::int64_t fraction = 0;
  if (!take_fraction(text, fraction)) return false;
  nanos += fraction;
  return true;
}

struct Scale {
  std::int64_t nanos;  // of one unit
  int digits;          // of its fraction down to the nanosecond
};
// SEMANTICS A, public report A18: a second count of this century has 10 digits, and each finer unit
// three more, so magnitudes tell the units apart for every time from 1973 on.
constexpr Scale scale_of(std::uint64_t magnitude, EpochUnit unit) {
  switch (unit) {
    case EpochUnit::kSeconds:
      return {kSecond, 9};
    case EpochUnit::kMillis:
      return {1'000'000, 6};
    case EpochUnit::kMicros:
      return {1'000, 3};
    case EpochUnit::kNanos:
      return {1, 0};
    case EpochUnit::kAuto:
      break;
  }
  if (magnitude < 100'000'000'000u) return {kSecond, 9};
  if (magnitude < 100'000'000'000'000u) return {1'000'000, 6};
  if (magnitude < 100'000'000'000'000'000u) return {1'000, 3};
  return {1, 0};
}

}  // namespace

bool civil_to_days(unsigned year, unsigned month, unsigned day, std::int64_t& days) {
  constexpr unsigned char kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1900 || year > 2200 || month - 1 > 11 || day == 0) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day > kDays[month - 1] + (month == 2 && leap ? 1u : 0u)) return false;
  days = days_from_civil(year, month, day);
  return true;
}

bool clock_to_nanos(unsigned hour, unsigned minute, unsigned second, std::int64_t& nanos) {
  if (hour > 23 || minute > 59 || second > 59) return false;
  nanos = (hour * 3600 + minute * 60 + second) * kSecond;
  return true;
}

bool parse_us_date(std::string_view text, std::int64_t& days) {
  if (text.size() != 10) return false;
  std::uint64_t pairs = 0;
  unsigned tail = 0;
  if (!three_pairs(text.data(), '/', pairs) || !two_digits(text.data() + 8, tail)) return false;
  return civil_to_days(pair_at(pairs, 6) * 100 + tail, pair_at(pairs, 0), pair_at(pairs, 3), days);
}

bool parse_clock(std::string_view text, std::int64_t& nanos) {
  if (text.size() < 8) return false;
  if (text.size() > 8 && text[8] != '.') return false;
  return take_clock(text, nanos) && text.empty();
}

bool parse_offset(std::string_view text, std::int64_t& nanos) {
  if (text == "Z" || text == "z") {
    nanos = 0;
    return true;
  }
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return false;
  unsigned hours = 0, minutes = 0;
  if (!two_digits(text.data() + 1, hours)) return false;
  const bool colon = text.size() == 6 && text[3] == ':';
  if (text.size() != 3) {
    if (text.size() != 5 && !colon) return false;
    if (!two_digits(text.data() + (colon ? 4 : 3), minutes)) return false;
  }
  if (hours > 18 || minutes > 59) return false;
  nanos = (hours * 3600 + minutes * 60) * kSecond;
  if (text[0] == '-') nanos = -nanos;
  return true;
}

bool parse_iso(std::string_view text, std::int64_t& nanos, bool& has_zone) {
  unsigned century = 0, year = 0, month = 0, day = 0;
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return false;
  if (!two_digits(text.data(), century) || !two_digits(text.data() + 2, year) ||
      !two_digits(text.data() + 5, month) || !two_digits(text.data() + 8, day)) {
    return false;
  }
  std::int64_t days = 0;
  if (!civil_to_days(century * 100 + year, month, day, days)) return false;
  nanos = days * kDay;
  has_zone = false;
  text.remove_prefix(10);
  if (text.empty()) return true;
  if (text[0] != ' ' && text[0] != 'T' && text[0] != 't') return false;
  text.remove_prefix(1);
  std::int64_t clock = 0;
  if (!take_clock(text, clock)) return false;
  nanos += clock;
  if (text.empty()) return true;
  if (text[0] == ' ') text.remove_prefix(1);
  std::int64_t offset = 0;
  if (text != "UTC" && !parse_offset(text, offset)) return false;
  nanos -= offset;
  has_zone = true;
  return plausible(nanos);
}

bool parse_iso(std::string_view text, std::int64_t& nanos) {
  bool has_zone = false;
  return parse_iso(text, nanos, has_zone);
}

bool epoch_to_nanos(std::int64_t value, EpochUnit unit, std::int64_t& nanos) {
  const std::uint64_t magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  if (__builtin_mul_overflow(value, scale_of(magnitude, unit).nanos, &nanos)) return false;
  return plausible(nanos);
}

bool parse_epoch(std::string_view text, EpochUnit unit, std::int64_t& nanos) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  std::uint64_t whole = 0;
  std::size_t n = 0;
  for (; n < text.size() && is_digit(text[n]); ++n) {
    if (n == 19) return false;  // beyond 64 bits, so beyond every plausible time
    whole = whole * 10 + static_cast<unsigned>(text[n] - '0');
  }
  if (n == 0 || whole > INT64_MAX) return false;
  const Scale scale = scale_of(whole, unit);
  std::int64_t fraction = 0;
  if (n < text.size()) {
    if (text[n] != '.' || n + 1 == text.size()) return false;
    int taken = 0;
    for (++n; n < text.size(); ++n) {
      if (!is_digit(text[n])) return false;
      if (taken == scale.digits) continue;  // finer than a nanosecond: cut off
      fraction = fraction * 10 + (text[n] - '0');
      ++taken;
    }
    for (; taken < scale.digits; ++taken) fraction *= 10;
  }
  if (__builtin_mul_overflow(static_cast<std::int64_t>(whole), scale.nanos, &nanos)) return false;
  if (__builtin_add_overflow(nanos, fraction, &nanos)) return false;
  if (negative) nanos = -nanos;
  return plausible(nanos);
}

}  // namespace weir::ingest
