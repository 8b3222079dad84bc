// JSON text: what the engine writes beside plain texts and numbers (core/json_text.h): objects,
// times, bytes.
//
// Invariants
//  1. What is written is valid JSON in valid UTF-8 on one line, whatever bytes are given.
// Thread safety: thread-safe (pure); JsonObject is thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json_text.h"
#include "weir/types.h"

namespace weir::engine {

using core::append_json_text;
using core::json_number;
using core::json_text;

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
