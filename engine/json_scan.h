// JsonScan: where the values of a JSON text begin and end, and where it stops being JSON.
//
// simdjson decodes requests, but its dom says neither where a text is wrong nor how a value was
// written; both are needed to answer a request. This scanner knows the grammar only: what it
// accepts may still hold a number out of range or half of a surrogate pair, which simdjson then
// refuses.
//
// Invariants
//  1. It never reads outside of the text and never recurses; nesting is bounded as simdjson's is.
// Thread safety: thread-compatible; the functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::engine {

class JsonScan {
 public:
  explicit JsonScan(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  // Passes whitespace. False at the end of the text.
  bool more();
  // Passes the value here and gives its text. False: the text is not JSON here, see what().
  bool value(std::string_view& raw);
  // Passes whitespace and `c` if it is next.
  bool take(char c);

  std::size_t offset() const { return at_; }
  // What was expected at offset(), such as "expected ',' or '}'".
  const std::string& what() const { return what_; }
  // Whether that was it: what comes here may be JSON.
  bool too_deep() const { return too_deep_; }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool fail(std::string what);
  bool scalar();
  bool string();
  bool number();
  bool digits();
  bool literal(std::string_view word);
  bool key();
  // Opens a container; `opened` = it has something in it.
  bool open(char kind, bool& opened);
  // After a value: closes containers up to the next one's start. False with what() empty: the
  // outermost value has ended.
  bool advance();

  std::string_view text_;
  std::size_t at_;
  std::string open_;  // brackets of the containers around at_
  std::string what_;
  bool too_deep_ = false;
};

// The texts of an array's elements or an object's values, in order. REQUIRES: `value` is one array
// or object that a JsonScan has accepted.
std::vector<std::string_view> json_children(std::string_view value);
// Without the whitespace around and between its tokens. REQUIRES: as above, any value.
std::string json_compact(std::string_view value);

// "line 3, column 7" of an offset, both from 1, columns in bytes.
std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace weir::engine
