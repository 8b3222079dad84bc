// JSON text: how everything that leaves the engine is written, and nothing else of JSON.
//
// Invariants
//  1. What is written is valid JSON in valid UTF-8 on one line, whatever bytes are given.
//  2. Numbers are the shortest text that reads back as the same double; NaN and infinities are
//  null.
// Thread safety: thread-safe (pure); JsonObject is thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/types.h"

namespace weir::engine {

// A quoted JSON string. Bytes that are not UTF-8 become U+FFFD, one for each maximal wrong part.
std::string json_text(std::string_view text);
void append_json_text(std::string& into, std::string_view text);
std::string json_number(double value);

// Number of leading bytes that are complete, valid UTF-8 (RFC 3629: no surrogates, shortest form).
std::size_t utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }
// Length of the first character; 0 if it is wrong. `wrong` is then the length of the wrong part.
std::size_t utf8_length(std::string_view text, std::size_t& wrong);

// Whether `text` is one character that was cut short, such as the first two of its three bytes.
bool is_cut_utf8(std::string_view text);

std::string base64(std::string_view bytes);

// "2019-01-02T00:00:01Z", with as many digits of a fraction as it has. REQUIRES: time.known().
std::string iso_time(Time time);

// Writes one object, key after key. Keys are literals that need no escaping.
class JsonObject {
 public:
  JsonObject& json(const char* key, std::string_view value);  // JSON already
  JsonObject& text(const char* key, std::string_view value);
  JsonObject& count(const char* key, std::uint64_t value);
  JsonObject& real(const char* key, std::optional<double> value);  // null when absent
  JsonObject& flag(const char* key, bool value);
  JsonObject& null(const char* key) { return json(key, "null"); }
  // REQUIRES: the last call.
  std::string finish();

 private:
  void key(const char* key);
  std::string text_ = "{";
};

}  // namespace weir::engine
