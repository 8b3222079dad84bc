#include "engine/json_scan.h"

#include <algorithm>
#include <utility>

namespace weir::engine {
namespace {

constexpr std::size_t kMaxDepth = 1000;  // simdjson's limit is 1024

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

bool JsonScan::fail(std::string what) {
  what_ = std::move(what);
  return false;
}

bool JsonScan::more() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  return at_ < text_.size();
}

bool JsonScan::take(char c) {
  if (!more() || peek() != c) return false;
  ++at_;
  return true;
}

bool JsonScan::string() {
  ++at_;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      return fail(c == '\n' ? "a string is not closed on its line"
                            : "a control character stands in a string; write it as an escape");
    }
    if (c != '\\') continue;
    ++at_;
    if (peek() == 'u') {
      for (int digit = 0; digit < 4; ++digit) {
        ++at_;
        if (!is_hex(peek())) return fail("expected four hexadecimal digits after \\u");
      }
    } else if (at_ >= text_.size() ||
               std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos) {
      return fail("expected one of \" \\ / b f n r t u after a backslash");
    }
  }
  return fail("a string is not closed");
}

bool JsonScan::digits() {
  if (!is_digit(peek())) return fail("expected a digit");
  while (is_digit(peek())) ++at_;
  return true;
}

bool JsonScan::number() {
  if (peek() == '-') ++at_;
  const bool zero = peek() == '0';
  const std::size_t start = at_;
  if (!digits()) return false;
  if (zero && at_ - start > 1) {
    at_ = start;
    return fail("a number has no leading zeros");
  }
  if (peek() == '.') {
    ++at_;
    if (!digits()) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!digits()) return false;
  }
  return true;
}

bool JsonScan::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) {
    return fail("expected a value: an object, array, string, number, true, false or null");
  }
  at_ += word.size();
  return true;
}

bool JsonScan::scalar() {
  switch (peek()) {
    case '"':
      return string();
    case 't':
      return literal("true");
    case 'f':
      return literal("false");
    case 'n':
      return literal("null");
    default:
      if (peek() == '-' || is_digit(peek())) return number();
      return literal("null");  // for its message
  }
}

bool JsonScan::key() {
  if (!more() || peek() != '"') return fail("expected a key in double quotes");
  if (!string()) return false;
  if (!take(':')) return fail("expected ':' after a key");
  return true;
}

bool JsonScan::open(char kind, bool& opened) {
  if (open_.size() == kMaxDepth) {
    too_deep_ = true;
    return fail("arrays and objects are nested too deep");
  }
  ++at_;
  opened = !take(kind == '{' ? '}' : ']');
  if (!opened) return true;
  open_ += kind;
  return kind == '[' || key();
}

bool JsonScan::advance() {
  while (!open_.empty()) {
    const bool object = open_.back() == '{';
    if (take(',')) return !object || key();
    if (!take(object ? '}' : ']')) {
      return fail(object ? "expected ',' or '}' after a value"
                         : "expected ',' or ']' after a value");
    }
    open_.pop_back();
  }
  return false;
}

bool JsonScan::value(std::string_view& raw) {
  what_.clear();
  too_deep_ = false;
  open_.clear();
  if (!more()) return fail("expected a value");
  const std::size_t start = at_;
  do {
    more();
    bool opened = false;
    if (peek() == '{' || peek() == '[') {
      if (!open(peek(), opened)) return false;
      if (opened) continue;
    } else if (!scalar()) {
      return false;
    }
    if (!advance()) break;
  } while (true);
  raw = text_.substr(start, at_ - start);
  return what_.empty();
}

std::vector<std::string_view> json_children(std::string_view value) {
  std::vector<std::string_view> children;
  const bool object = value.front() == '{';
  JsonScan scan(value, 1);
  std::string_view child;
  while (scan.more() && !scan.take(object ? '}' : ']')) {
    scan.take(',');
    if (object && (!scan.value(child) || !scan.take(':'))) break;
    if (!scan.value(child)) break;
    children.push_back(child);
  }
  return children;
}

std::string json_compact(std::string_view value) {
  std::string compact;
  compact.reserve(value.size());
  bool in_string = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (!in_string && is_space(c)) continue;
    compact += c;
    if (in_string && c == '\\' && i + 1 < value.size()) {
      compact += value[++i];
    } else if (c == '"') {
      in_string = !in_string;
    }
  }
  return compact;
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start + 1);
}

}  // namespace weir::engine
