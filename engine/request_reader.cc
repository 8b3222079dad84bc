#include "engine/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/nearest.h"
#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "engine/request_values.h"
#include "engine/synopsis_names.h"
#include "ingest/times.h"
#include "synopses/registry.h"
#include "synopses/windowed.h"
#include "weir/config.h"

namespace weir::engine {
namespace {

constexpr std::size_t kMaxErrorBytes = 1000;

}  // namespace

RequestReader::RequestReader(simdjson::dom::object object, std::string_view raw, Kinds& kinds)
    : RequestReader(object, raw, kinds, Within::kText) {}

RequestReader::RequestReader(simdjson::dom::object object, std::string_view raw, Kinds& kinds,
                             Within within)
    : kinds_(kinds), within_(within) {
  request_.text = raw;
  const std::vector<std::string_view> raws = json_children(raw);
  std::size_t i = 0;
  for (const auto field : object) {
    items_.push_back({field.key, field.value, i < raws.size() ? raws[i] : std::string_view()});
    ++i;
  }
}

void RequestReader::fail(std::string message) {
  if (failed()) return;
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // it stays on one line
  }
  request_.error = shortened(std::move(message), kMaxErrorBytes);
}

const RequestReader::Item* RequestReader::find(std::string_view key) const {
  for (const Item& item : items_) {
    if (item.key == key) return item.value.is_null() ? nullptr : &item;
  }
  return nullptr;
}

void RequestReader::check_twice() {
  for (std::size_t i = 1; i < items_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (items_[i].key == items_[j].key) {
        return fail(fmt::format("{} stands twice in the request", json_text(items_[i].key)));
      }
    }
  }
}

std::optional<std::string> RequestReader::text(std::string_view key) {
  const Item* item = find(key);
  if (item == nullptr) return std::nullopt;
  std::string_view value;
  if (item->value.get(value) == simdjson::SUCCESS) return std::string(value);
  fail(fmt::format("{} is a text in quotes, but {} was given", key, shown(item->raw)));
  return std::nullopt;
}

std::optional<std::uint64_t> RequestReader::whole(std::string_view key, std::uint64_t min,
                                                  std::uint64_t max) {
  const Item* item = find(key);
  if (item == nullptr) return std::nullopt;
  const auto value = whole_number(item->value);
  if (value.has_value() && *value >= min && *value <= max) return value;
  fail(fmt::format("{} is a whole number from {} to {}, but {} was given", key, min, max,
                   shown(item->raw)));
  return std::nullopt;
}

void RequestReader::echo(std::string_view key, std::string& into) {
  const Item* item = find(key);
  if (item == nullptr) return;
  if (!scalar_of(item->value).has_value()) {
    return fail(fmt::format("{} is a text, a number, true or false, but {} was given", key,
                            shown(item->raw)));
  }
  into = item->raw;  // as it was written: no digit of a long number is lost
}

Request RequestReader::read() {
  echo("requestID", request_.request_id);
  echo("uid", request_.uid);
  echo("partition", request_.partition);
  const Item* op = find("op");
  const Item* param = find("param");
  check_twice();
  read_position();
  if (op != nullptr && param != nullptr) {
    read_identity();
    fail("\"op\" and \"param\" belong to different forms of a request; leave one of them out");
  } else if (op != nullptr) {
    read_named(*op);
  } else if (param != nullptr) {
    read_positional(*param);
  } else if (has_own_form()) {
    read_own_form();
  } else {
    read_identity();
    std::string near;
    for (const Item& item : items_) {
      if (near.empty()) near = core::did_you_mean(item.key, std::array{"op", "param"});
    }
    fail(
        "a request has \"op\" (\"build\", \"query\", …) or \"param\" "
        "([\"CountMin\",\"price\",\"Construct\",…]), and this one has neither" +
        near);
  }
  if (within_ == Within::kChange) check_within_change();
  return std::move(request_);
}

// Keys of either form, so that even a request of no form is echoed.
void RequestReader::read_identity() {
  for (const char* key : {"dataset", "dataSetKey"}) {
    if (auto value = text(key)) request_.dataset = *std::move(value);
  }
  for (const char* key : {"stream", "streamID"}) {
    if (auto value = text(key)) request_.stream = *std::move(value);
  }
}

void RequestReader::require_dataset(std::string_view key) {
  if (!request_.dataset.empty()) return;
  std::string near;
  const std::array<std::string_view, 1> wanted = {key};
  for (const Item& item : items_) {
    if (item.key != key && !core::nearest(item.key, wanted).empty()) {
      near = fmt::format("; {} was given, did you mean \"{}\"?", json_text(item.key), key);
    }
  }
  fail(fmt::format("{} is missing; it names the dataset, such as \"Forex\"{}", key, near));
}

void RequestReader::require_field() {
  if (request_.field.empty()) {
    fail("field is missing; it names the value to summarise, such as \"price\"");
  }
}

void RequestReader::read_weight() {
  if (failed()) return;
  auto weight = text("weight");
  if (!weight.has_value()) return;
  if (weight->empty()) return fail("weight names a field, such as \"volume\"");
  const auto* type = request_.type;
  if (type->weights == synopses::Weights::kNone) {
    std::string takers;
    const synopses::Types all = kinds_.all();
    for (const auto* other : all.all()) {
      if (other->weights == synopses::Weights::kNone) continue;
      takers += fmt::format("{}{}", takers.empty() ? "" : ", ", other->name);
    }
    return fail(
        fmt::format("weight: {} counts every value once; {} take a weight", type->name, takers));
  }
  request_.weight = *std::move(weight);
}

// A duration: a text such as "5m", or seconds.
std::int64_t RequestReader::read_span(simdjson::dom::element value, std::string_view key,
                                      std::string_view raw) {
  std::string_view text;
  double seconds = 0;
  if (value.get(text) == simdjson::SUCCESS) {
    if (const auto span = parse_duration(text); span.ok()) return *span;
  } else if (value.is_number() && value.get(seconds) == simdjson::SUCCESS) {
    // Decimal fractions such as 4.1 are not exact: what is that near to a whole number is meant.
    const double exact = seconds * static_cast<double>(kNanosPerSecond);
    const double ns = std::nearbyint(exact);
    if (std::fabs(ns) < 9e18 && std::fabs(exact - ns) <= 1e-6 + 1e-12 * std::fabs(ns)) {
      return static_cast<std::int64_t>(ns);
    }
  }
  fail(fmt::format("window: {} is a duration such as \"5m\", or seconds, but {} was given", key,
                   shown(raw)));
  return 0;
}

void RequestReader::read_window() {
  const Item* window = find("window");
  if (failed() || window == nullptr) return;
  constexpr std::string_view kRight =
      "window is an object such as {\"size\":\"5m\",\"slide\":\"1m\",\"grace\":\"10s\"}";
  simdjson::dom::object object;
  if (window->value.get(object) != simdjson::SUCCESS) {
    return fail(fmt::format("{}, but {} was given", kRight, shown(window->raw)));
  }
  synopses::WindowSpec spec;
  bool slides = false, sized = false;
  const std::vector<std::string_view> raws = json_children(window->raw);
  std::size_t i = 0;
  for (const auto field : object) {
    const std::string_view raw = i < raws.size() ? raws[i] : std::string_view();
    ++i;
    static constexpr std::array kKeys = {"size", "slide", "grace"};
    if (field.key == "size") {
      sized = true;
      spec.size = read_span(field.value, field.key, raw);
    } else if (field.key == "slide") {
      slides = true;
      spec.slide = read_span(field.value, field.key, raw);
    } else if (field.key == "grace") {
      spec.grace = read_span(field.value, field.key, raw);
    } else {
      std::string right = core::did_you_mean(field.key, kKeys);
      if (right.empty()) right = fmt::format("; {}", kRight);
      return fail(fmt::format("unknown key {} in window{}", json_text(field.key), right));
    }
  }
  if (failed()) return;
  if (!sized) return fail(fmt::format("window: size is missing; {}", kRight));
  if (!slides) spec.slide = spec.size;
  const Status fine = synopses::Windowed::check(*request_.type, spec);
  if (!fine.ok()) return fail(fine.message());
  request_.window = spec;
}

void RequestReader::read_type(std::optional<std::string> name, std::string_view name_key) {
  std::optional<int> id;
  if (const Item* item = find("synopsisID")) {
    const auto number = whole_number(item->value);
    if (number.has_value() && *number >= 1 && *number <= 1'000'000) {
      id = static_cast<int>(*number);
      request_.synopsis_id = *id;
    } else {
      return fail(
          fmt::format("synopsisID is a whole number from 1, but {} was given", shown(item->raw)));
    }
  }
  const auto known = synopsis_kind(kinds_.all(), name, name_key, id, "synopsisID");
  if (!known.ok()) return fail(known.status().message());
  request_.synopsis_id = (*known)->id;
  request_.type = *known;
}

void RequestReader::read_parallelism(std::string_view key) {
  if (const auto parts = whole(key, 1, kMaxParallelism)) {
    request_.parallelism = static_cast<unsigned>(*parts);
  }
}

void RequestReader::read_query_value(simdjson::dom::element value, std::string_view raw) {
  request_.query_json = json_compact(raw);
  simdjson::dom::array array;
  request_.query.was_array = value.get(array) == simdjson::SUCCESS;
  const auto take = [this, raw](const simdjson::dom::element& part) {
    if (auto scalar = scalar_of(part)) {
      request_.query.args.push_back(*std::move(scalar));
      return;
    }
    fail(
        fmt::format("a query value is a number, a text, true, false, null or an array of those, "
                    "but {} was given",
                    shown(raw)));
  };
  if (!request_.query.was_array) return take(value);
  for (const simdjson::dom::element part : array) take(part);
}

// Positions.

void RequestReader::read_position() {
  const Item* at = find("at");
  if (at == nullptr) return;
  constexpr std::string_view kRight =
      "at is {\"record\":N}, {\"time\":…}, {\"start\":true} or {\"end\":true}";
  const auto wrong = [&] { fail(fmt::format("{}, but {} was given", kRight, shown(at->raw))); };
  simdjson::dom::object object;
  if (at->value.get(object) != simdjson::SUCCESS || object.size() != 1) return wrong();
  const auto field = *object.begin();
  const Item item{field.key, field.value, json_children(at->raw).front()};
  Position position;
  if (item.key == "record") {
    const auto record = whole_number(item.value);
    if (!record.has_value()) {
      return fail(fmt::format("at.record is a number of records, 0 or more, but {} was given",
                              shown(item.raw)));
    }
    position.kind = Position::Kind::kRecord;
    position.record = RecordPosition{*record};
  } else if (item.key == "time") {
    read_time(item, position);
  } else if (item.key == "start" || item.key == "end") {
    bool set = false;
    if (item.value.get(set) != simdjson::SUCCESS || !set) {
      return fail(fmt::format("at.{} is true, but {} was given", item.key, shown(item.raw)));
    }
    position.kind = item.key == "start" ? Position::Kind::kStart : Position::Kind::kEnd;
  } else {
    std::string right = core::did_you_mean(item.key, std::array{"record", "time", "start", "end"});
    if (right.empty()) right = fmt::format("; {}", kRight);
    return fail(fmt::format("unknown key {} in at{}", json_text(item.key), right));
  }
  request_.at = position;
}

void RequestReader::read_time(const Item& item, Position& position) {
  position.kind = Position::Kind::kTime;
  std::string_view iso;
  const bool known =
      item.value.get(iso) == simdjson::SUCCESS
          ? ingest::parse_iso(iso, position.time.ns)
          : item.value.is_number() &&
                ingest::parse_epoch(item.raw, ingest::EpochUnit::kAuto, position.time.ns);
  if (known) return;
  fail(
      fmt::format("at.time is an epoch (1546387201, in s, ms, us or ns) or an ISO time "
                  "(\"2019-01-02T00:00:01Z\") between 1900 and 2200, but {} was given",
                  shown(item.raw)));
}

}  // namespace weir::engine
