#include "synopses/pair_answer.h"

#include <fmt/format.h>

#include "core/json_text.h"

namespace weir::synopses {

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
  if (found.too_many) {
    answer.reason = fmt::format("more than {} pairs reach the threshold; ask for a greater one",
                                kMaxFoundPairs);
    return answer;
  }
  answer.json = "{\"pairs\":[";
  bool first = true;
  for (const FoundPair& pair : found.pairs) {
    answer.json += fmt::format("{}{{\"streams\":[{},{}],\"correlation\":{}}}", first ? "" : ",",
                               core::json_text(names[pair.a]), core::json_text(names[pair.b]),
                               json_number(pair.correlation));
    first = false;
  }
  answer.json += fmt::format("],\"compared\":{},\"possible\":{},\"streams\":{},\"left_out\":{}}}",
                             found.compared, found.possible, streams, streams - names.size());
  answer.confidence = 1.0;
  answer.exact = true;
  return answer;
}

}  // namespace weir::synopses
