// JsonLine: writes one JSON object on one line, keys in the order they are added.
//
// Thread safety: thread-compatible.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

#include "core/json_text.h"

namespace weir::harness {

class JsonLine {
 public:
  JsonLine& add(std::string_view key, std::string_view text) {
    return raw(key, core::json_text(text));
  }
  JsonLine& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  JsonLine& add(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonLine& add(std::string_view key, double value) {
    return raw(key, fmt::format("{:.9g}", value));
  }
  template <std::integral T>
  JsonLine& add(std::string_view key, T value) {
    return raw(key, fmt::format("{}", value));
  }
  // `json` is JSON text already.
  JsonLine& raw(std::string_view key, std::string_view json) {
    text_ += text_.empty() ? "{" : ",";
    core::append_json_text(text_, key);
    text_ += ':';
    text_ += json;
    return *this;
  }
  std::string str() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace weir::harness
