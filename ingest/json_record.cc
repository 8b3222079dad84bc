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

namespace {

using Failure = JsonRecordReader::Failure;

bool fail(Failure& failure, Reason reason, std::string detail) {
  failure.reason = reason;
  failure.detail = std::move(detail);
  return false;
}

}  // namespace

// Every top-level key that any part of a tuple hangs on is looked for in one pass over the record.
struct JsonRecordReader::Impl {
  struct Top {
    std::string key;
    dom::element value;
    bool found = false;
  };
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  // A path, and where its first token is in `tops`.
  struct Place {
    JsonPath path;
    std::size_t top = kNowhere;
  };
  struct Accept {
    bool string = true;
    bool number = false;
  };

  explicit Impl(const JsonLayout& of) : layout(of) {
    stream = place(of.stream);
    dataset = place(of.dataset);
    date = place(of.date);
    time = place(of.time);
    timestamp = place(of.timestamp);
    layout_tops = tops.size();
  }

  Place place(const JsonPath& path) {
    Place made{path, kNowhere};
    if (path.empty()) return made;
    for (made.top = 0; made.top < tops.size(); ++made.top) {
      if (tops[made.top].key == path.tokens[0]) return made;
    }
    tops.push_back({path.tokens[0], {}, false});
    return made;
  }
  void bind(const core::FieldSet& set) {
    tops.resize(layout_tops);
    fields.clear();
    for (const std::string& name : set.names) fields.push_back(place(layout.field(name)));
  }

  bool parse(std::string_view record, Failure& failure);
  bool at(const Place& where, dom::element& value) const;
  bool text(const Place& where, Accept accept, std::string_view& text, Failure& failure,
            bool* is_string = nullptr);
  bool key(const Place& where, std::string_view& text, Failure& failure);
  bool saams_time(std::int64_t& nanos, Failure& failure);
  bool millis_time(std::int64_t& nanos, Failure& failure);
  bool format_time(JsonClock& clock, std::int64_t& nanos, Failure& failure);
  void put_field(std::size_t i, JsonSink& sink) const;

  const JsonLayout& layout;
  dom::parser parser;
  dom::element root;
  std::string_view line;
  std::vector<Top> tops;
  std::size_t layout_tops = 0;
  Place stream, dataset, date, time, timestamp;
  std::vector<Place> fields;
  std::vector<std::size_t> steps;
};

bool JsonRecordReader::Impl::parse(std::string_view record, Failure& failure) {
  line = record;
  const simdjson::error_code error = parser.parse(line.data(), line.size(), false).get(root);
  if (error != simdjson::SUCCESS) return fail(failure, reason_of(error), detail_of(error));
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return fail(failure, Reason::kJson, "not an object");
  for (Top& top : tops) top.found = false;
  std::size_t left = tops.size();
  for (const auto member : object) {
    if (left == 0) break;
    for (Top& top : tops) {
      if (top.key != member.key) continue;
      if (!top.found) {  // of equal keys the first counts
        top.found = true;
        top.value = member.value;
        --left;
      }
      break;
    }
  }
  return true;
}

bool JsonRecordReader::Impl::at(const Place& where, dom::element& value) const {
  if (where.top == kNowhere || !tops[where.top].found) return false;
  value = tops[where.top].value;
  return where.path.top_level() || find(root, where.path, value);
}

// The contents of a string, or the text of a number.
bool JsonRecordReader::Impl::text(const Place& where, Accept accept, std::string_view& text,
                                  Failure& failure, bool* is_string) {
  dom::element value;
  if (!at(where, value)) return fail(failure, Reason::kMissing, where.path.name());
  const bool string = value.is_string();
  if (is_string != nullptr) *is_string = string;
  if (string && accept.string) {
    text = std::string_view(value);
    return true;
  }
  if (value.is_number() && accept.number) {
    steps.clear();
    find(root, where.path, value, &steps);
    text = RawWalk(line).number(steps);
    return true;
  }
  return fail(failure, Reason::kType, where.path.name());
}

bool JsonRecordReader::Impl::key(const Place& where, std::string_view& name, Failure& failure) {
  if (!text(where, {true, layout.stream_may_be_number}, name, failure)) return false;
  return !name.empty() || fail(failure, Reason::kMissing, where.path.name() + " is empty");
}

bool JsonRecordReader::Impl::saams_time(std::int64_t& nanos, Failure& failure) {
  dom::element value;
  const bool has_date = at(date, value), has_time = at(time, value);
  if (has_date && has_time) {
    std::string_view day, clock;
    if (!text(date, {}, day, failure) || !text(time, {}, clock, failure)) return false;
    if (JsonClock::date_and_time(day, clock, nanos)) return true;
    std::int64_t days = 0;
    return fail(failure, Reason::kTime, parse_us_date(day, days) ? "time" : "date");
  }
  if (!at(timestamp, value)) {
    return fail(failure, Reason::kMissing,
                has_date   ? "time"
                : has_time ? "date"
                           : "date and time, or timestamp");
  }
  std::string_view stamp;
  bool is_string = false;
  if (!text(timestamp, {true, true}, stamp, failure, &is_string)) return false;
  return JsonClock::timestamp(stamp, is_string, nanos) ||
         fail(failure, Reason::kTime, timestamp.path.name());
}

bool JsonRecordReader::Impl::millis_time(std::int64_t& nanos, Failure& failure) {
  dom::element value;
  const std::string name = timestamp.path.name();
  if (!at(timestamp, value)) return fail(failure, Reason::kMissing, name);
  if (value.type() == dom::element_type::UINT64) return fail(failure, Reason::kTime, name);
  if (value.type() != dom::element_type::INT64) return fail(failure, Reason::kType, name);
  return epoch_to_nanos(std::int64_t(value), EpochUnit::kMillis, nanos) ||
         fail(failure, Reason::kTime, name);
}

bool JsonRecordReader::Impl::format_time(JsonClock& clock, std::int64_t& nanos, Failure& failure) {
  std::string_view day, hour;
  if (date.top != kNowhere && !text(date, {true, true}, day, failure)) return false;
  if (time.top != kNowhere && !text(time, {true, true}, hour, failure)) return false;
  return clock.format(day, hour, nanos) ||
         fail(failure, Reason::kTime, (time.top == kNowhere ? date : time).path.name());
}

void JsonRecordReader::Impl::put_field(std::size_t i, JsonSink& sink) const {
  dom::element value;
  if (!at(fields[i], value)) return sink.put(i, {});
  switch (value.type()) {
    case dom::element_type::INT64:
      return sink.put(i, core::integer(std::int64_t(value)));
    case dom::element_type::UINT64:
      return sink.put(i, core::integer(std::uint64_t(value)));
    case dom::element_type::DOUBLE:
      return sink.put(i, core::number(double(value)));
    case dom::element_type::STRING:
      return sink.put_text(i, std::string_view(value));
    default:
      return sink.put(i, {});
  }
}

JsonRecordReader::JsonRecordReader(const JsonLayout& layout, core::KeyTable& keys)
    : keys_(keys), clock_(layout), impl_(std::make_unique<Impl>(layout)) {}
JsonRecordReader::~JsonRecordReader() = default;

void JsonRecordReader::bind(const core::FieldSet& fields) { impl_->bind(fields); }

bool JsonRecordReader::read(std::string_view line, std::uint32_t record, JsonSink& sink,
                            Failure& failure) {
  const JsonLayout& layout = impl_->layout;
  if (!impl_->parse(line, failure)) return false;
  std::string_view stream, dataset = layout.dataset_constant;
  if (!impl_->key(impl_->stream, stream, failure)) return false;
  if (!layout.dataset.empty() && !impl_->key(impl_->dataset, dataset, failure)) return false;
  std::int64_t nanos = kNoTime.ns;
  bool timed = true;
  switch (layout.how) {
    case JsonTime::kSaams:
      timed = impl_->saams_time(nanos, failure);
      break;
    case JsonTime::kMillis:
      timed = impl_->millis_time(nanos, failure);
      break;
    case JsonTime::kFormat:
      timed = impl_->format_time(clock_, nanos, failure);
      break;
    case JsonTime::kNone:
      break;
  }
  if (!timed) return false;
  for (std::size_t i = 0; i < impl_->fields.size(); ++i) impl_->put_field(i, sink);
  sink.commit(record, keys_.find_or_add(keys_.dataset(dataset), stream), nanos);
  return true;
}

}  // namespace weir::ingest
