#include "engine/request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "core/utf8.h"
#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "engine/request_reader.h"

namespace weir::engine {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Status not_json(std::string_view text, std::size_t offset, std::string_view what) {
  return {Code::kInvalid,
          fmt::format("{}: this is not JSON: {}", line_and_column(text, offset), what)};
}

// Where a scan that failed should say it did. Records of a file are one a line as a rule, so when a
// line is broken the fault is there, though an open bracket lets the scan go on into the next one.
Status fault(std::string_view text, std::size_t start, const JsonScan& scan) {
  const std::size_t line_end = std::min(text.find('\n', start), text.size());
  const bool next_is_object = text.substr(line_end).starts_with("\n{");
  if (text[start] == '{' && next_is_object && scan.offset() > line_end) {
    JsonScan line(text.substr(0, line_end), start);
    std::string_view raw;
    if (!line.value(raw)) return not_json(text, line.offset(), line.what());
  }
  // What is missing at the end is missing after the last character, not after empty lines.
  const std::size_t last = text.find_last_not_of(" \t\r\n") + 1;
  return not_json(text, std::min(scan.offset(), last), scan.what());
}

class RequestTexts {
 public:
  explicit RequestTexts(Kinds& kinds) : kinds_(kinds) {}
  // One request for each object in the value `raw`.
  void add(std::string_view raw) {
    if (raw.front() != '[') return add_one(raw);
    for (const std::string_view child : json_children(raw)) add_one(child);
  }
  std::vector<Request> take() { return std::move(requests_); }

 private:
  void add_one(std::string_view raw) {
    simdjson::dom::element element;
    const auto error = parser_.parse(raw.data(), raw.size()).get(element);
    simdjson::dom::object object;
    if (error != simdjson::SUCCESS) {
      return add_error(raw, error == simdjson::NUMBER_ERROR
                                ? "a number in it is out of range; whole numbers go from "
                                  "-9223372036854775808 to 18446744073709551615"
                                : simdjson::error_message(error));
    }
    if (element.get(object) != simdjson::SUCCESS) {
      return add_error(raw, "a request is an object such as {\"op\":\"list\"}");
    }
    requests_.push_back(RequestReader(object, raw, kinds_).read());
  }
  void add_error(std::string_view raw, std::string_view what) {
    Request request;
    request.text = raw;
    request.error = fmt::format("request {}: {}", requests_.size() + 1, what);
    requests_.push_back(std::move(request));
  }

  Kinds& kinds_;
  simdjson::dom::parser parser_;
  std::vector<Request> requests_;
};

}  // namespace

Position Request::position() const {
  if (at.has_value()) return *at;
  const bool start = op == Op::kBuild || op == Op::kLoad || op == Op::kPlugin ||
                     op == Op::kRegistry || op == Op::kWorkers || op == Op::kChange ||
                     (op == Op::kQuery && continuous);
  Position position;
  position.kind = start ? Position::Kind::kStart : Position::Kind::kEnd;
  return position;
}

Result<std::vector<Request>> parse_requests(std::string_view text) {
  Kinds built_in;
  return parse_requests(text, built_in);
}

Result<std::vector<Request>> parse_requests(std::string_view text, Kinds& kinds) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t prefix = core::utf8_prefix(text); prefix < text.size()) {
    return not_json(text, prefix, "a byte that is not UTF-8");
  }
  JsonScan scan(text);
  if (!scan.more()) {
    return Status(
        Code::kInvalid,
        "there is no request in it; write a JSON object, an array of them, or one a line");
  }
  RequestTexts texts(kinds);
  while (scan.more()) {
    const std::size_t start = scan.offset();
    std::string_view raw;
    if (!scan.value(raw)) return fault(text, start, scan);
    texts.add(raw);
  }
  return texts.take();
}

}  // namespace weir::engine
