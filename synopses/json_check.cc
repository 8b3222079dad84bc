#include "synopses/json_check.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "core/utf8.h"

namespace weir::synopses {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A recursive descent whose depth is bounded. Every function is false after the first fault.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  std::string run() {
    blanks();
    if (value(0)) {
      blanks();
      if (at_ < text_.size()) fail("something follows the value");
    }
    return fault_;
  }

 private:
  bool fail(std::string_view what) {
    if (fault_.empty()) fault_ = fmt::format("{} at byte {}", what, at_);
    return false;
  }
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (next_is(' ')) ++at_;
  }

  bool value(int depth) {
    if (depth > kMaxJsonDepth) return fail(fmt::format("more than {} levels", kMaxJsonDepth));
    if (next_is('[')) return list(']', depth, false);
    if (next_is('{')) return list('}', depth, true);
    if (next_is('"')) return string();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return true;
    }
    return number();
  }

  bool list(char end, int depth, bool named) {
    ++at_;
    blanks();
    if (take(end)) return true;
    for (;;) {
      if (named) {
        if (!next_is('"')) return fail("no name");
        if (!string()) return false;
        blanks();
        if (!take(':')) return fail("no ':'");
        blanks();
      }
      if (!value(depth + 1)) return false;
      blanks();
      if (take(end)) return true;
      if (!take(',')) return fail(fmt::format("neither ',' nor '{}'", end));
      blanks();
    }
  }

  bool string() {
    ++at_;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return fail("a control character in a text");
      if (c == '\\') {
        if (!escape()) return false;
        continue;
      }
      std::size_t wrong = 0;
      const std::size_t length = core::utf8_length(text_.substr(at_), wrong);
      if (length == 0) return fail("no UTF-8");
      at_ += length;
    }
    return fail("a text without end");
  }

  bool escape() {
    ++at_;
    if (at_ >= text_.size()) return fail("a text without end");
    if (text_[at_] != 'u') {
      if (std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
        return fail("an unknown escape");
      }
      ++at_;
      return true;
    }
    const int first = unit();
    if (first < 0 || (first >= 0xdc00 && first < 0xe000)) return fail("a wrong \\u escape");
    if (first < 0xd800 || first >= 0xe000) return true;
    const int second = take('\\') && next_is('u') ? unit() : -1;
    return (second >= 0xdc00 && second < 0xe000) || fail("half a surrogate pair");
  }

  // The four digits after a 'u', which is under at_; -1 if they are not.
  int unit() {
    ++at_;
    int code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ >= text_.size()) return -1;
      const char c = text_[at_];
      if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) return -1;
      code = code * 16 + (is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  bool number() {
    const std::size_t begin = at_;
    const bool negative = take('-');
    const bool zero = next_is('0');
    const std::size_t first = at_;
    if (!digits()) return fail("no value");
    if (zero && at_ - first > 1) return fail("a number with a leading zero");
    bool integer = true;
    if (take('.')) {
      integer = false;
      if (!digits()) return fail("no digit after the point");
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) take('-');
      if (!digits()) return fail("no digit in the exponent");
    }
    const char* from = text_.data() + begin;
    const char* to = text_.data() + at_;
    std::errc error{};
    if (!integer) {
      double read = 0;
      error = std::from_chars(from, to, read).ec;
    } else if (negative) {
      std::int64_t read = 0;
      error = std::from_chars(from, to, read).ec;
    } else {
      std::uint64_t read = 0;
      error = std::from_chars(from, to, read).ec;
    }
    return error == std::errc() || fail("a number that neither 64 bits nor a double hold");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

}  // namespace

std::string json_fault(std::string_view text) { return Checker(text).run(); }

}  // namespace weir::synopses
