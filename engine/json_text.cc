#include "engine/json_text.h"

#include <charconv>
#include <cstdio>

namespace weir::engine {
namespace {

void append_number(std::string& into, std::uint64_t value) {
  char text[32];
  into.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0u);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const bool padding = i + digit > bytes.size();
      text += padding ? '=' : kDigits[group >> (18 - 6 * digit) & 63];
    }
  }
  return text;
}

std::string iso_time(Time time) {
  constexpr std::int64_t kDay = 86'400 * kNanosPerSecond;
  std::int64_t days = time.ns / kDay, rest = time.ns % kDay;
  if (rest < 0) {
    rest += kDay;
    --days;
  }
  // Days to civil date: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
  const std::int64_t z = days + 719'468;
  const std::int64_t era = (z >= 0 ? z : z - 146'096) / 146'097;
  const std::int64_t doe = z - era * 146'097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const auto day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  const auto month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  const auto year = static_cast<int>(yoe + era * 400 + (month <= 2 ? 1 : 0));
  const auto second = static_cast<int>(rest / kNanosPerSecond);
  char text[64];
  int length = std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day,
                             second / 3600, second / 60 % 60, second % 60);
  std::string iso(text, static_cast<std::size_t>(length));
  if (const auto fraction = static_cast<int>(rest % kNanosPerSecond); fraction != 0) {
    length = std::snprintf(text, sizeof text, ".%09d", fraction);
    iso.append(text, static_cast<std::size_t>(length));
    iso.erase(iso.find_last_not_of('0') + 1);
  }
  return iso + "Z";
}

void JsonObject::key(const char* key) {
  if (text_.size() > 1) text_ += ',';
  text_ += '"';
  text_ += key;
  text_ += "\":";
}

JsonObject& JsonObject::json(const char* name, std::string_view value) {
  key(name);
  text_ += value;
  return *this;
}

JsonObject& JsonObject::text(const char* name, std::string_view value) {
  key(name);
  append_json_text(text_, value);
  return *this;
}

JsonObject& JsonObject::count(const char* name, std::uint64_t value) {
  key(name);
  append_number(text_, value);
  return *this;
}

JsonObject& JsonObject::real(const char* name, std::optional<double> value) {
  key(name);
  text_ += value.has_value() ? json_number(*value) : "null";
  return *this;
}

JsonObject& JsonObject::flag(const char* name, bool value) {
  return json(name, value ? "true" : "false");
}

std::string JsonObject::finish() {
  text_ += '}';
  return std::move(text_);
}

}  // namespace weir::engine
