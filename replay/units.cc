#include "replay/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/json_text.h"

namespace weir::replay {
namespace {

struct SizeUnit {
  std::string_view name;
  unsigned shift;
};
constexpr std::array kSizeUnits = {SizeUnit{"", 0},    SizeUnit{"B", 0},    SizeUnit{"K", 10},
                                   SizeUnit{"KB", 10}, SizeUnit{"KiB", 10}, SizeUnit{"M", 20},
                                   SizeUnit{"MB", 20}, SizeUnit{"MiB", 20}, SizeUnit{"G", 30},
                                   SizeUnit{"GB", 30}, SizeUnit{"GiB", 30}};

bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] | 0x20) != (b[i] | 0x20)) return false;
  }
  return true;
}

// Reads leading digits into `value`; the rest stays in `text`.
bool take_number(std::string_view& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto wrong = [&] {
    return Status(Code::kInvalid,
                  fmt::format("'{}' is no size; expected bytes such as 65536, 64K or 1M", text));
  };
  std::string_view rest = text;
  std::uint64_t value = 0;
  if (!take_number(rest, value)) return wrong();
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  for (const SizeUnit& unit : kSizeUnits) {
    if (!same_letters(rest, unit.name)) continue;
    if (value > (std::numeric_limits<std::uint64_t>::max() >> unit.shift)) return wrong();
    return value << unit.shift;
  }
  return wrong();
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max) {
  std::string_view rest = text;
  std::uint64_t value = 0;
  if (take_number(rest, value) && rest.empty() && value >= min && value <= max) return value;
  if (max == std::numeric_limits<std::uint64_t>::max()) {
    return Status(Code::kInvalid,
                  fmt::format("'{}' is wrong; expected a whole number from {}", text, min));
  }
  return Status(Code::kInvalid, fmt::format("'{}' is wrong; expected a whole number from {} to {}",
                                            text, min, max));
}

Result<std::size_t> parse_choice(std::string_view text, std::string_view words) {
  std::vector<std::string_view> choices;
  for (std::size_t bar = 0; bar != std::string_view::npos;) {
    bar = words.find('|');
    choices.push_back(words.substr(0, bar));
    if (bar != std::string_view::npos) words.remove_prefix(bar + 1);
  }
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  return Status(Code::kInvalid,
                fmt::format("'{}' is unknown; expected one of {}", text, fmt::join(choices, ", ")));
}

std::string size_text(std::uint64_t bytes) {
  if (bytes != 0 && bytes % (1u << 30) == 0) return fmt::format("{}G", bytes >> 30);
  if (bytes != 0 && bytes % (1u << 20) == 0) return fmt::format("{}M", bytes >> 20);
  if (bytes != 0 && bytes % (1u << 10) == 0) return fmt::format("{}K", bytes >> 10);
  return fmt::format("{}", bytes);
}

std::string period_text(const Period& period) {
  if (period.records != 0) return fmt::format("{} records", period.records);
  const std::int64_t ns = period.ns;
  if (ns % kNanosPerSecond == 0) return fmt::format("{}s", ns / kNanosPerSecond);
  if (ns % 1'000'000 == 0) return fmt::format("{}ms", ns / 1'000'000);
  if (ns % 1'000 == 0) return fmt::format("{}us", ns / 1'000);
  return fmt::format("{}ns", ns);
}

std::string number_text(double value) {
  constexpr double kSevenDigits = 1e7;
  constexpr double kCounts = 9007199254740992.0;
  const double size = std::fabs(value);
  return size >= kSevenDigits && size < kCounts ? fmt::format("{:.0f}", value)
                                                : fmt::format("{:.7g}", value);
}

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

namespace {

std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string short_count(double value) {
  if (!std::isfinite(value) || value < 0) return "-";
  if (value < 999.5) return fmt::format("{:.0f}", value);
  if (value < 999.5e3) return three_digits(value / 1e3) + " k";
  if (value < 999.5e6) return three_digits(value / 1e6) + " M";
  return three_digits(value / 1e9) + " G";
}

std::string short_bytes(double bytes) {
  if (!std::isfinite(bytes) || bytes < 0) return "-";
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  constexpr std::array kNames = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  bytes /= 1024;
  while (bytes >= 1023.5 && unit + 1 < kNames.size()) {
    bytes /= 1024;
    ++unit;
  }
  return three_digits(bytes) + " " + kNames[unit];
}

std::string short_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return three_digits(seconds) + " s";
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "--:--";
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  const std::uint64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days != 0) return fmt::format("{}d {:02}:{:02}", days, hours, minutes);
  if (hours != 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string time_text(Time time) { return time.known() ? engine::iso_time(time) : "-"; }

}  // namespace weir::replay
