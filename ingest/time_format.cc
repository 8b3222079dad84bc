#include "ingest/time_format.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <exception>
#include <limits>

#include "weir/types.h"

namespace weir::ingest {
namespace {

constexpr std::int64_t kDay = 86'400 * kNanosPerSecond;
constexpr std::string_view kLetters = "YymbdHMSfz%";
constexpr std::string_view kNumbers = "YymdHMSf";  // those that are digits

// Up to `most` digits at the front of `text`, at least `least`.
bool take_number(std::string_view& text, std::size_t least, std::size_t most, unsigned& value) {
  std::size_t n = 0;
  value = 0;
  for (; n < most && n < text.size() && static_cast<unsigned char>(text[n] - '0') <= 9; ++n) {
    value = value * 10 + static_cast<unsigned>(text[n] - '0');
  }
  if (n < least) return false;
  text.remove_prefix(n);
  return true;
}

bool take_fraction(std::string_view& text, std::int64_t& nanos) {
  const std::size_t before = text.size();
  unsigned value = 0;
  if (!take_number(text, 1, 9, value)) return false;
  nanos = value;
  for (std::size_t n = before - text.size(); n < 9; ++n) nanos *= 10;
  return true;
}

bool take_month_name(std::string_view& text, unsigned& month) {
  constexpr std::string_view kNames = "janfebmaraprmayjunjulaugsepoctnovdec";
  if (text.size() < 3) return false;
  char name[3];
  for (int i = 0; i < 3; ++i) name[i] = static_cast<char>(text[i] | 0x20);
  const std::size_t at = kNames.find(std::string_view(name, 3));
  if (at == std::string_view::npos || at % 3 != 0) return false;
  month = static_cast<unsigned>(at / 3 + 1);
  text.remove_prefix(3);
  return true;
}

// The longest zone suffix that parse_offset takes.
bool take_offset(std::string_view& text, std::int64_t& nanos) {
  for (const std::size_t n : {6u, 5u, 3u, 1u}) {
    if (n <= text.size() && parse_offset(text.substr(0, n), nanos)) {
      text.remove_prefix(n);
      return true;
    }
  }
  return false;
}

Status check_pattern(std::string_view pattern) {
  const auto has = [pattern](std::string_view letter) {
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
      if (pattern[i] != '%') continue;
      if (pattern.substr(i + 1, 1) == letter) return true;
      ++i;
    }
    return false;
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    ++i;
    if (i == pattern.size() || kLetters.find(pattern[i]) == std::string_view::npos) {
      return {Code::kConfig,
              fmt::format(
                  "time_unit: \"{}\" has {}, which is none of %Y %y %m %b %d %H %M %S %f %z %%",
                  pattern,
                  i == pattern.size() ? "a lone % at its end" : fmt::format("%{}", pattern[i]))};
    }
  }
  if (!(has("Y") || has("y")) || !(has("m") || has("b")) || !has("d")) {
    return {Code::kConfig,
            fmt::format("time_unit: \"{}\" is no auto, s, ms, us, ns or iso, and as a "
                        "pattern it lacks a year (%Y), month (%m) or day (%d)",
                        pattern)};
  }
  return {};
}

const date::time_zone* find_zone(std::string_view name, std::string& why) {
  try {
    return date::locate_zone(std::string(name));
  } catch (const std::exception& error) {
    why = error.what();
    return nullptr;
  }
}

}  // namespace

Result<TimeFormat> TimeFormat::make(std::string_view unit, std::string_view zone) {
  TimeFormat format;
  if (unit == "auto" || unit.empty()) {
    format.how_ = How::kAuto;
  } else if (unit == "iso") {
    format.how_ = How::kIso;
  } else if (unit == "s" || unit == "ms" || unit == "us" || unit == "ns") {
    format.how_ = How::kEpoch;
    format.unit_ = unit == "s"    ? EpochUnit::kSeconds
                   : unit == "ms" ? EpochUnit::kMillis
                   : unit == "us" ? EpochUnit::kMicros
                                  : EpochUnit::kNanos;
  } else {
    if (Status status = check_pattern(unit); !status.ok()) return status;
    format.how_ = How::kPattern;
    format.pattern_ = unit;
  }
  format.from_ = std::numeric_limits<std::int64_t>::min();
  format.until_ = std::numeric_limits<std::int64_t>::max();
  if (zone.empty() || zone == "UTC" || parse_offset(zone, format.offset_)) return format;
  std::string why;
  format.zone_ = find_zone(zone, why);
  if (format.zone_ == nullptr) {
    return Status(
        Code::kConfig,
        fmt::format("zone: \"{}\" is not known here; give UTC, +HH:MM, or an IANA name such "
                    "as \"Europe/Berlin\" (from the system's tzdata)",
                    zone));
  }
  format.until_ = format.from_;  // no rule looked up yet
  return format;
}

bool TimeFormat::parse(std::string_view text, std::int64_t& nanos) {
  bool has_zone = false;
  switch (how_) {
    case How::kEpoch:
      return parse_epoch(text, unit_, nanos);
    case How::kIso:
      if (!parse_iso(text, nanos, has_zone)) return false;
      break;
    case How::kPattern:
      if (!parse_pattern(text, nanos, has_zone)) return false;
      break;
    case How::kAuto:
      if (parse_epoch(text, EpochUnit::kAuto, nanos)) return true;
      if (!parse_iso(text, nanos, has_zone)) return false;
      break;
  }
  return has_zone || local_to_utc(nanos);
}

bool TimeFormat::parse(std::string_view date, std::string_view time, std::int64_t& nanos) {
  if (date.empty()) return parse(time, nanos);
  if (time.empty()) return parse(date, nanos);
  // Longer than every time that can be read: a pattern's literals are bounded by its own length.
  char joined[256];
  if (date.size() + time.size() + 1 > sizeof joined) return false;
  date.copy(joined, date.size());
  joined[date.size()] = ' ';
  time.copy(joined + date.size() + 1, time.size());
  return parse({joined, date.size() + 1 + time.size()}, nanos);
}

bool TimeFormat::parse_pattern(std::string_view text, std::int64_t& nanos, bool& has_zone) const {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  std::int64_t fraction = 0, offset = 0;
  bool after_number = false;
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    bool ok = false;
    if (pattern_[i] != '%' || pattern_[i + 1] == '%') {
      i += pattern_[i] == '%';
      after_number = false;
      ok = !text.empty() && text[0] == pattern_[i];
      if (ok) text.remove_prefix(1);
    } else {
      const char letter = pattern_[++i];
      const bool before_number = i + 2 < pattern_.size() && pattern_[i + 1] == '%' &&
                                 kNumbers.find(pattern_[i + 2]) != std::string_view::npos;
      const std::size_t least = after_number || before_number ? 2 : 1;
      after_number = kNumbers.find(letter) != std::string_view::npos;
      switch (letter) {
        case 'Y':
          ok = take_number(text, 4, 4, year);
          break;
        case 'y':
          ok = take_number(text, 2, 2, year);
          year += year < 69 ? 2000 : 1900;
          break;
        case 'm':
          ok = take_number(text, least, 2, month);
          break;
        case 'b':
          ok = take_month_name(text, month);
          break;
        case 'd':
          ok = take_number(text, least, 2, day);
          break;
        case 'H':
          ok = take_number(text, least, 2, hour);
          break;
        case 'M':
          ok = take_number(text, least, 2, minute);
          break;
        case 'S':
          ok = take_number(text, least, 2, second);
          break;
        case 'f':
          ok = take_fraction(text, fraction);
          break;
        case 'z':
          ok = has_zone = take_offset(text, offset);
          break;
      }
    }
    if (!ok) return false;
  }
  std::int64_t days = 0, clock = 0;
  if (!text.empty() || !civil_to_days(year, month, day, days)) return false;
  if (!clock_to_nanos(hour, minute, second, clock)) return false;
  nanos = days * kDay + clock + fraction - offset;
  return true;
}

// A rule of the zone holds for all local times but those within a day of its ends: offsets differ
// by less than a day, so there no other rule can claim the same local time.
bool TimeFormat::local_to_utc(std::int64_t& nanos) {
  if (nanos < from_ || nanos >= until_) {
    const std::int64_t seconds =
        nanos >= 0 ? nanos / kNanosPerSecond : -((-nanos + kNanosPerSecond - 1) / kNanosPerSecond);
    date::local_info info;
    try {
      info = zone_->get_info(date::local_seconds(std::chrono::seconds(seconds)));
    } catch (const std::exception&) {
      return false;  // the system's zone file went away or is broken
    }
    if (info.result != date::local_info::unique) return false;
    const std::int64_t offset = info.first.offset.count();
    constexpr std::int64_t kDaySeconds = 86'400;
    constexpr std::int64_t kFarthest = 8'000'000'000;  // after 2200, and safe as nanoseconds
    const auto clamp = [](std::int64_t s) {
      return s < -kFarthest ? -kFarthest : s > kFarthest ? kFarthest : s;
    };
    const std::int64_t begin = clamp(info.first.begin.time_since_epoch().count()) + offset;
    const std::int64_t end = clamp(info.first.end.time_since_epoch().count()) + offset;
    offset_ = offset * kNanosPerSecond;
    // Inside the last day of a rule the answer is right for this time alone.
    from_ = until_ = 0;
    if (begin + kDaySeconds < end - kDaySeconds) {
      from_ = (begin + kDaySeconds) * kNanosPerSecond;
      until_ = (end - kDaySeconds) * kNanosPerSecond;
    }
  }
  nanos -= offset_;
  return true;
}

}  // namespace weir::ingest
