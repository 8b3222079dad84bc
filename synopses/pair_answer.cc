#include "synopses/pair_answer.h"

#include <fmt/format.h>

namespace weir::synopses {
namespace {

// Length of the first character if it is UTF-8 (shortest form, no surrogates), else 0 and in
// `wrong` the length of its wrong part.
std::size_t character(std::string_view text, std::size_t& wrong) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  wrong = 1;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (; wrong < length; ++wrong) {
    if (wrong >= text.size() || byte(wrong) < low || byte(wrong) > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    std::size_t wrong = 1;
    const std::size_t length = character(text, wrong);
    const auto lead = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (lead == '"' || lead == '\\') {
      out += '\\';
      out += text[0];
    } else if (lead == '\n') {
      out += "\\n";
    } else if (lead == '\t') {
      out += "\\t";
    } else if (lead < 0x20) {
      out += fmt::format("\\u{:04x}", lead);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? wrong : length);
  }
  return out + '"';
}

bool begins_with(const Query& query, std::string_view word) {
  if (!query.was_array || query.args.empty()) return false;
  const auto* first = std::get_if<std::string>(&query.args[0].value);
  return first != nullptr && *first == word;
}

Result<double> threshold_of(const Query& query, const char* kind, const char* word) {
  if (begins_with(query, word) && query.args.size() == 2) {
    const auto* given = std::get_if<core::Value>(&query.args[1].value);
    if (given != nullptr && given->kind <= core::Kind::kUint64) {
      const double threshold = core::as_double(given->bits, given->kind);
      if (threshold > 0.0 && threshold <= 1.0) return threshold;
    }
  }
  return Status(Code::kInvalid,
                fmt::format("{}: a search over the streams is [\"{}\", T] with a correlation T "
                            "above 0 and at most 1, but got {}",
                            kind, word, describe(query)));
}

Result<std::string> partner_of(const Query& query, const char* kind) {
  if (begins_with(query, "with") && query.args.size() == 2) {
    if (const auto* stream = std::get_if<std::string>(&query.args[1].value)) return *stream;
  }
  return Status(Code::kInvalid,
                fmt::format("{}: two streams are compared by [\"with\", \"the other stream\"], "
                            "but got {}",
                            kind, describe(query)));
}

Estimate pairs_answer(const FoundPairs& found, const std::vector<std::string_view>& names,
                      std::size_t streams) {
  Estimate answer;
  answer.json = "{\"pairs\":[";
  bool first = true;
  for (const FoundPair& pair : found.pairs) {
    answer.json +=
        fmt::format("{}{{\"streams\":[{},{}],\"correlation\":{}}}", first ? "" : ",",
                    quoted(names[pair.a]), quoted(names[pair.b]), json_number(pair.correlation));
    first = false;
  }
  answer.json += fmt::format("],\"compared\":{},\"possible\":{},\"streams\":{},\"left_out\":{}}}",
                             found.compared, found.possible, streams, streams - names.size());
  answer.confidence = 1.0;
  answer.exact = true;
  return answer;
}

}  // namespace weir::synopses
