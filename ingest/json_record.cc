#include "ingest/json_record.h"

#include <simdjson.h>

#include <utility>
#include <vector>

#include "ingest/times.h"

namespace weir::ingest {
namespace {

namespace dom = simdjson::dom;
using core::Reason;

constexpr std::int64_t kDay = 86'400 * kNanosPerSecond;

bool array_index(std::string_view token, std::size_t& index) {
  if (token.empty() || token.size() > 9 || (token.size() > 1 && token[0] == '0')) return false;
  index = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return false;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  return true;
}

// The value at `path`; of equal keys the first. `steps` (may be null) gets the place of every token
// among its siblings.
bool find(dom::element root, const JsonPath& path, dom::element& value,
          std::vector<std::size_t>* steps = nullptr) {
  value = root;
  for (const std::string& token : path.tokens) {
    dom::object object;
    dom::array array;
    std::size_t step = 0;
    bool found = false;
    if (value.get(object) == simdjson::SUCCESS) {
      for (const auto member : object) {
        if (member.key == token) {
          value = member.value;
          found = true;
          break;
        }
        ++step;
      }
    } else if (value.get(array) == simdjson::SUCCESS && array_index(token, step)) {
      found = array.at(step).get(value) == simdjson::SUCCESS;
    }
    if (!found) return false;
    if (steps != nullptr) steps->push_back(step);
  }
  return true;
}

// A walk over JSON that is known to be valid, for the text of a number as it is written, which the
// dom does not keep.
class RawWalk {
 public:
  explicit RawWalk(std::string_view line) : at_(line.data()) {}

  std::string_view number(const std::vector<std::size_t>& steps) {
    blank();
    for (const std::size_t step : steps) enter(step);
    const char* const from = at_;
    scalar();
    return {from, static_cast<std::size_t>(at_ - from)};
  }

 private:
  void blank() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n') ++at_;
  }
  void string() {
    for (++at_; *at_ != '"'; ++at_) at_ += *at_ == '\\';
    ++at_;
  }
  void scalar() {
    while (*at_ != ',' && *at_ != '}' && *at_ != ']' && *at_ != ' ' && *at_ != '\t' &&
           *at_ != '\r' && *at_ != '\n') {
      ++at_;
    }
  }
  void value() {
    std::size_t depth = 0;
    do {
      if (*at_ == '"') {
        string();
      } else {
        if (*at_ == '{' || *at_ == '[') ++depth;
        if (*at_ == '}' || *at_ == ']') --depth;
        ++at_;
      }
    } while (depth != 0);
  }
  void one_value() {
    if (*at_ == '"') return string();
    if (*at_ == '{' || *at_ == '[') return value();
    scalar();
  }
  // Moves to the value of the child with number `step`.
  void enter(std::size_t step) {
    const bool object = *at_++ == '{';
    for (std::size_t i = 0;; ++i) {
      blank();
      if (object) {
        string();
        blank();
        ++at_;  // the colon
        blank();
      }
      if (i == step) return;
      one_value();
      blank();
      ++at_;  // the comma
    }
  }

  const char* at_;
};

Reason reason_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return Reason::kEncoding;
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return Reason::kNumber;
    default:
      return Reason::kJson;
  }
}

const char* detail_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "not UTF-8";
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return "malformed number, or out of range";
    case simdjson::STRING_ERROR:
      return "malformed string";
    case simdjson::UNESCAPED_CHARS:
      return "control character in a string";
    case simdjson::UNCLOSED_STRING:
      return "unclosed string";
    case simdjson::DEPTH_ERROR:
      return "nested too deep";
    default:
      return "malformed JSON";
  }
}

}  // namespace

JsonClock::JsonClock(const JsonLayout& layout) {
  if (layout.how != JsonTime::kFormat) return;
  Result<TimeFormat> format = TimeFormat::make(layout.time_unit, layout.zone);
  if (format.ok()) format_ = *format;
}

bool JsonClock::timestamp(std::string_view text, bool is_string, std::int64_t& nanos) {
  return (is_string && parse_iso(text, nanos)) || parse_epoch(text, EpochUnit::kAuto, nanos);
}

bool JsonClock::date_and_time(std::string_view date, std::string_view time, std::int64_t& nanos) {
  std::int64_t days = 0, clock = 0;
  if (!parse_us_date(date, days) || !parse_clock(time, clock)) return false;
  nanos = days * kDay + clock;
  return true;
}

struct JsonRecordReader::Impl {
  dom::parser parser;
  std::vector<JsonPath> fields;
  std::vector<std::size_t> steps;

  // The contents of a string, or the text of a number.
  enum class Text { kOk, kMissing, kType };
  Text text_at(std::string_view line, dom::element root, const JsonPath& path, bool allow_string,
               bool allow_number, std::string_view& text, bool* is_string = nullptr);
};

JsonRecordReader::Impl::Text JsonRecordReader::Impl::text_at(
    std::string_view line, dom::element root, const JsonPath& path, bool allow_string,
    bool allow_number, std::string_view& text, bool* is_string) {
  dom::element value;
  if (!find(root, path, value)) return Text::kMissing;
  const bool string = value.is_string();
  if (is_string != nullptr) *is_string = string;
  if (string && allow_string) {
    text = std::string_view(value);
    return Text::kOk;
  }
  if (value.is_number() && allow_number) {
    steps.clear();
    find(root, path, value, &steps);
    text = RawWalk(line).number(steps);
    return Text::kOk;
  }
  return Text::kType;
}

JsonRecordReader::JsonRecordReader(const JsonLayout& layout, core::KeyTable& keys)
    : layout_(layout), keys_(keys), clock_(layout), impl_(std::make_unique<Impl>()) {}
JsonRecordReader::~JsonRecordReader() = default;

void JsonRecordReader::bind(const core::FieldSet& fields) {
  impl_->fields.clear();
  for (const std::string& name : fields.names) impl_->fields.push_back(layout_.field(name));
}

namespace {

bool fail(JsonRecordReader::Failure& failure, Reason reason, std::string detail) {
  failure.reason = reason;
  failure.detail = std::move(detail);
  return false;
}

}  // namespace

bool JsonRecordReader::read(std::string_view line, std::uint32_t record, JsonSink& sink,
                            Failure& failure) {
  using Text = Impl::Text;
  dom::element root;
  const simdjson::error_code error = impl_->parser.parse(line.data(), line.size(), false).get(root);
  if (error != simdjson::SUCCESS) return fail(failure, reason_of(error), detail_of(error));
  if (!root.is_object()) return fail(failure, Reason::kJson, "not an object");

  const auto text_at = [&](const JsonPath& path, bool allow_string, bool allow_number,
                           std::string_view& text, bool* is_string = nullptr) {
    const Text got = impl_->text_at(line, root, path, allow_string, allow_number, text, is_string);
    if (got == Text::kOk) return true;
    return fail(failure, got == Text::kMissing ? Reason::kMissing : Reason::kType, path.name());
  };
  const auto key_at = [&](const JsonPath& path, std::string_view& text) {
    if (!text_at(path, true, layout_.stream_may_be_number, text)) return false;
    return !text.empty() || fail(failure, Reason::kMissing, path.name() + " is empty");
  };

  std::string_view stream, dataset = layout_.dataset_constant;
  if (!key_at(layout_.stream, stream)) return false;
  if (!layout_.dataset.empty() && !key_at(layout_.dataset, dataset)) return false;

  std::int64_t nanos = kNoTime.ns;
  std::string_view date, time;
  bool is_string = false;
  switch (layout_.how) {
    case JsonTime::kSaams: {
      dom::element value;
      const bool has_date = find(root, layout_.date, value);
      const bool has_time = find(root, layout_.time, value);
      if (has_date && has_time) {
        if (!text_at(layout_.date, true, false, date)) return false;
        if (!text_at(layout_.time, true, false, time)) return false;
        if (!JsonClock::date_and_time(date, time, nanos)) {
          std::int64_t days = 0;
          return fail(failure, Reason::kTime, parse_us_date(date, days) ? "time" : "date");
        }
        break;
      }
      if (!find(root, layout_.timestamp, value)) {
        return fail(failure, Reason::kMissing,
                    has_date   ? "time"
                    : has_time ? "date"
                               : "date and time, or timestamp");
      }
      if (!text_at(layout_.timestamp, true, true, time, &is_string)) return false;
      if (!JsonClock::timestamp(time, is_string, nanos)) {
        return fail(failure, Reason::kTime, "timestamp");
      }
      break;
    }
    case JsonTime::kMillis: {
      dom::element value;
      std::int64_t millis = 0;
      if (!find(root, layout_.timestamp, value)) {
        return fail(failure, Reason::kMissing, layout_.timestamp.name());
      }
      if (value.is_uint64() && !value.is_int64()) {
        return fail(failure, Reason::kTime, layout_.timestamp.name());
      }
      if (value.get(millis) != simdjson::SUCCESS) {
        return fail(failure, Reason::kType, layout_.timestamp.name());
      }
      if (!epoch_to_nanos(millis, EpochUnit::kMillis, nanos)) {
        return fail(failure, Reason::kTime, layout_.timestamp.name());
      }
      break;
    }
    case JsonTime::kFormat:
      if (!layout_.date.empty() && !text_at(layout_.date, true, true, date)) return false;
      if (!layout_.time.empty() && !text_at(layout_.time, true, true, time)) return false;
      if (!clock_.format(date, time, nanos)) {
        return fail(failure, Reason::kTime,
                    (layout_.time.empty() ? layout_.date : layout_.time).name());
      }
      break;
    case JsonTime::kNone:
      break;
  }

  for (std::size_t i = 0; i < impl_->fields.size(); ++i) {
    const JsonPath& path = impl_->fields[i];
    dom::element value;
    if (path.empty() || !find(root, path, value)) {
      sink.put(i, {});
      continue;
    }
    switch (value.type()) {
      case dom::element_type::INT64:
        sink.put(i, core::integer(std::int64_t(value)));
        break;
      case dom::element_type::UINT64:
        sink.put(i, core::integer(std::uint64_t(value)));
        break;
      case dom::element_type::DOUBLE:
        sink.put(i, core::number(double(value)));
        break;
      case dom::element_type::STRING:
        sink.put_text(i, std::string_view(value));
        break;
      default:
        sink.put(i, {});
        break;
    }
  }
  sink.commit(record, keys_.find_or_add(keys_.dataset(dataset), stream), nanos);
  return true;
}

}  // namespace weir::ingest
