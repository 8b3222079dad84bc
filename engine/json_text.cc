#include "engine/json_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "synopses/synopsis.h"

namespace weir::engine {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

void append_number(std::string& into, std::uint64_t value) {
  char text[32];
  into.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

void append_escaped(std::string& into, unsigned char c) {
  switch (c) {
    case '"':
      into += "\\\"";
      return;
    case '\\':
      into += "\\\\";
      return;
    case '\n':
      into += "\\n";
      return;
    case '\r':
      into += "\\r";
      return;
    case '\t':
      into += "\\t";
      return;
    case '\b':
      into += "\\b";
      return;
    case '\f':
      into += "\\f";
      return;
    default:
      constexpr char kHex[] = "0123456789abcdef";
      into += "\\u00";
      into += kHex[c >> 4];
      into += kHex[c & 15];
  }
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t& wrong) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  wrong = 1;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range keeps out overlong forms, surrogates and what is beyond U+10FFFF.
  unsigned char low = 0x80, high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  for (; wrong < length; ++wrong) {
    if (wrong >= text.size() || byte(wrong) < low || byte(wrong) > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0, wrong = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at), wrong);
    if (length == 0) break;
    at += length;
  }
  return at;
}

bool is_cut_utf8(std::string_view text) {
  if (text.empty()) return false;
  std::size_t wrong = 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  return lead >= 0xc2 && lead <= 0xf4 && utf8_length(text, wrong) == 0 && wrong == text.size();
}

void append_json_text(std::string& into, std::string_view text) {
  into += '"';
  std::size_t plain = 0;  // start of a run that is copied as it is
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (is_plain(c)) {
      ++at;
      continue;
    }
    std::size_t wrong = 1;
    if (c >= 0x80) {
      if (const std::size_t length = utf8_length(text.substr(at), wrong); length > 0) {
        at += length;
        continue;
      }
    }
    into.append(text, plain, at - plain);
    if (c >= 0x80) {
      into += kReplacement;
    } else {
      append_escaped(into, c);
    }
    at += wrong;
    plain = at;
  }
  into.append(text, plain);
  into += '"';
}

std::string json_text(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  append_json_text(quoted, text);
  return quoted;
}

std::string json_number(double value) {
  return std::isfinite(value) ? synopses::json_number(value) : "null";
}

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
