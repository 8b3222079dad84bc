// parse_mapping: one's own layout, from TOML.
//
//   format = "ndjson"            # or "csv"; required
//   stream = "/symbol"           # key of the stream; required
//   dataset = "/exchange"        # the dataset's key, or
//   dataset_constant = "Bars"    # one name for all; one of the two is required
//   time = "/ts"                 # leave out if records carry no time
//   date = "/day"                # its text stands before that of `time`, with one blank between
//   time_unit = "auto"           # auto, s, ms, us, ns, iso, or a pattern: ingest/time_format.h
//   zone = "UTC"                 # of times that do not name theirs: UTC, +HH:MM, "Europe/Berlin"
//   fields = ["open", "close"]   # what requests may name; left out = every number or string
//   delimiter = ","              # csv: one ASCII character
//   header = true                # csv: the first record names the columns
//
// Places are JSON pointers (RFC 6901) for ndjson. For csv they are names in the header, or numbers
// of columns from 0 (a name in the header that is a number goes first). A field that is called
// otherwise than its place is written as a table: fields = [{name = "price", at = "/p"}], or as
// name = "place" under [fields].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/nearest.h"
#include "ingest/layout.h"
#include "ingest/time_format.h"

// The shared library, not the header-only form: there a header like "[!" is an assertion, or, in a
// release build by clang, an assumption that does not hold. It throws, and is caught here.
#include <toml++/toml.h>

namespace weir::ingest {
namespace {

constexpr std::array<std::string_view, 11> kKeys = {
    "format",    "stream", "dataset", "dataset_constant", "time",     "date",
    "time_unit", "zone",   "fields",  "header",           "delimiter"};
constexpr std::array<std::string_view, 2> kFieldKeys = {"name", "at"};

template <std::size_t N>
std::string what_is_right(std::string_view key, const std::array<std::string_view, N>& known) {
  const std::string near = core::did_you_mean(key, known);
  return near.empty() ? fmt::format("; the keys are {}", fmt::join(known, ", ")) : near;
}

class MappingReader {
 public:
  explicit MappingReader(std::string_view file) : file_(file) {}

  // Reads all of it; the first thing that is wrong is status().
  Mapping read(const toml::table& table);
  const Status& status() const { return status_; }

 private:
  void fail(const toml::source_region& where, const std::string& what);
  void fail(const toml::node& where, const std::string& what) { fail(where.source(), what); }
  // Empty if the key is absent or not a string.
  std::string text(const toml::table& table, std::string_view key);
  std::string place(const toml::table& table, std::string_view key);
  std::string check_place(const toml::node& item, std::string_view key);
  template <std::size_t N>
  void check_keys(const toml::table& table, const std::array<std::string_view, N>& known,
                  std::string_view of);
  void read_format(const toml::table& table);
  void read_csv(const toml::table& table);
  void read_fields(const toml::table& table);
  void read_field(const toml::node& item);
  void add_field(const toml::node& where, std::string name, std::string at);
  void check_required(const toml::table& table);
  void check_times(const toml::table& table);
  std::string default_place(std::string_view name) const;

  std::string_view file_;
  Status status_;
  Mapping mapping_;
};

void MappingReader::fail(const toml::source_region& where, const std::string& what) {
  if (!status_.ok()) return;
  status_ = Status(Code::kConfig,
                   fmt::format("{}:{}:{}: {}", file_, where.begin.line, where.begin.column, what));
}

std::string MappingReader::text(const toml::table& table, std::string_view key) {
  const toml::node* item = table.get(key);
  if (item == nullptr) return {};
  if (const auto* value = item->as_string()) return value->get();
  fail(*item, fmt::format("{}: a string is expected", key));
  return {};
}

std::string MappingReader::place(const toml::table& table, std::string_view key) {
  const toml::node* item = table.get(key);
  return item == nullptr ? std::string() : check_place(*item, key);
}

std::string MappingReader::check_place(const toml::node& item, std::string_view key) {
  const bool csv = mapping_.format == Mapping::Format::kCsv;
  if (const auto* number = item.as_integer(); csv && number != nullptr && number->get() >= 0) {
    return std::to_string(number->get());
  }
  const auto* value = item.as_string();
  if (value == nullptr) {
    fail(item, fmt::format("{}: a {} is expected", key,
                           csv ? "column's name or its number from 0" : "JSON pointer, a string,"));
    return {};
  }
  const std::string& at = value->get();
  if (at.empty()) {
    fail(item, fmt::format("{}: an empty place; leave the key out if records do not have it", key));
  } else if (!csv && at[0] != '/') {
    fail(item, fmt::format("{}: \"{}\" is no JSON pointer; did you mean \"/{}\"?", key, at, at));
  } else if (csv && !mapping_.header &&
             (at.find_first_not_of("0123456789") != std::string::npos || at.size() > 9)) {
    fail(item, fmt::format("{}: \"{}\" is no number of a column, and header = false leaves the "
                           "columns without names",
                           key, at));
  }
  return at;
}

template <std::size_t N>
void MappingReader::check_keys(const toml::table& table,
                               const std::array<std::string_view, N>& known, std::string_view of) {
  // In the order of the file, since the table is sorted by name.
  const toml::key* first = nullptr;
  for (const auto& [key, item] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    if (first == nullptr || key.source().begin < first->source().begin) first = &key;
  }
  if (first != nullptr) {
    fail(first->source(), fmt::format("unknown key \"{}\"{}{}", first->str(), of,
                                      what_is_right(first->str(), known)));
  }
}

void MappingReader::read_format(const toml::table& table) {
  const toml::node* item = table.get("format");
  if (item == nullptr) {
    fail(table, "format is missing; it is \"ndjson\" or \"csv\"");
    return;
  }
  const std::string format = text(table, "format");
  if (format == "csv") {
    mapping_.format = Mapping::Format::kCsv;
  } else if (format != "ndjson") {
    fail(*item, fmt::format("format: \"{}\" is unknown; it is \"ndjson\" or \"csv\"", format));
  }
}

void MappingReader::read_csv(const toml::table& table) {
  const bool csv = mapping_.format == Mapping::Format::kCsv;
  for (const std::string_view key : {"header", "delimiter"}) {
    const toml::node* item = table.get(key);
    if (item != nullptr && !csv) fail(*item, fmt::format("{} is for format = \"csv\" only", key));
  }
  if (const toml::node* item = table.get("header")) {
    if (const auto* value = item->as_boolean()) {
      mapping_.header = value->get();
    } else {
      fail(*item, "header: true or false is expected");
    }
  }
  if (const toml::node* item = table.get("delimiter")) {
    const std::string delimiter = text(table, "delimiter");
    const bool plain = delimiter.size() == 1 && static_cast<unsigned char>(delimiter[0]) < 0x80 &&
                       std::string_view("\"\n\r").find(delimiter[0]) == std::string_view::npos;
    if (plain) {
      mapping_.delimiter = delimiter[0];
    } else {
      fail(*item,
           "delimiter: one ASCII character is expected, and no quote or newline, such as "
           "\";\" or \"\\t\"");
    }
  }
}

std::string MappingReader::default_place(std::string_view name) const {
  if (mapping_.format == Mapping::Format::kCsv) return std::string(name);
  std::string pointer = "/";
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

void MappingReader::add_field(const toml::node& where, std::string name, std::string at) {
  if (name.empty()) fail(where, "fields: a field needs a name");
  for (const Mapping::Field& other : mapping_.fields) {
    if (other.name == name) fail(where, fmt::format("fields: \"{}\" is there twice", name));
  }
  mapping_.fields.push_back({std::move(name), std::move(at)});
}

void MappingReader::read_field(const toml::node& item) {
  if (const auto* plain = item.as_string()) {
    if (mapping_.format == Mapping::Format::kCsv) check_place(item, "fields");
    add_field(item, plain->get(), default_place(plain->get()));
  } else if (const auto* table = item.as_table()) {
    check_keys(*table, kFieldKeys, " of a field");
    std::string name = text(*table, "name");
    std::string at = table->contains("at") ? place(*table, "at") : default_place(name);
    add_field(item, std::move(name), std::move(at));
  } else {
    fail(item, "fields: a name or {name = …, at = …} is expected");
  }
}

void MappingReader::read_fields(const toml::table& table) {
  const toml::node* item = table.get("fields");
  if (item == nullptr) return;
  if (const auto* list = item->as_array()) {
    for (const toml::node& field : *list) read_field(field);
    if (list->empty()) {
      fail(*item, "fields: an empty list; leave the key out to have every number or string");
    }
  } else if (const auto* places = item->as_table()) {
    std::vector<const toml::key*> order;
    for (const auto& [key, at] : *places) order.push_back(&key);
    std::sort(order.begin(), order.end(),
              [](auto* a, auto* b) { return a->source().begin < b->source().begin; });
    for (const toml::key* key : order) {
      const toml::node& at = *places->get(key->str());
      add_field(at, std::string(key->str()), check_place(at, key->str()));
    }
  } else {
    fail(*item, "fields: a list of names, or a table of names and places, is expected");
  }
}

void MappingReader::check_required(const toml::table& table) {
  if (mapping_.stream.empty()) {
    fail(table,
         "stream is missing; it says where a record's stream key stands, such as \"/symbol\"");
  }
  if (mapping_.dataset.empty() && mapping_.dataset_constant.empty()) {
    fail(table,
         "dataset or dataset_constant is missing; the first says where a record's dataset key "
         "stands, the second is one for all");
  }
  if (!mapping_.dataset.empty() && !mapping_.dataset_constant.empty()) {
    fail(*table.get("dataset_constant"), "dataset and dataset_constant exclude each other");
  }
}

void MappingReader::check_times(const toml::table& table) {
  const toml::node* unit = table.get("time_unit");
  const toml::node* zone = table.get("zone");
  if (mapping_.time.empty() && mapping_.date.empty()) {
    if (const toml::node* idle = unit != nullptr ? unit : zone) {
      fail(*idle, "time is missing; it says where a record's time stands");
    }
  }
  constexpr std::array<std::string_view, 4> kEpochs = {"s", "ms", "us", "ns"};
  const bool epoch = std::find(kEpochs.begin(), kEpochs.end(), mapping_.time_unit) != kEpochs.end();
  if (epoch && !mapping_.date.empty()) {
    fail(*unit, "time_unit: an epoch has no date beside it");
  }
  const auto format = TimeFormat::make(mapping_.time_unit, "UTC");
  if (!format.ok()) fail(unit != nullptr ? *unit : table, format.status().message());
  const auto zoned = TimeFormat::make("auto", mapping_.zone);
  if (!zoned.ok()) fail(zone != nullptr ? *zone : table, zoned.status().message());
}

Mapping MappingReader::read(const toml::table& table) {
  check_keys(table, kKeys, "");
  read_format(table);
  read_csv(table);
  mapping_.stream = place(table, "stream");
  mapping_.dataset = place(table, "dataset");
  mapping_.dataset_constant = text(table, "dataset_constant");
  mapping_.time = place(table, "time");
  mapping_.date = place(table, "date");
  if (table.contains("time_unit")) mapping_.time_unit = text(table, "time_unit");
  if (table.contains("zone")) mapping_.zone = text(table, "zone");
  read_fields(table);
  check_required(table);
  check_times(table);
  return std::move(mapping_);
}

}  // namespace

Result<Layout> parse_mapping(std::string_view toml_text, std::string_view file) {
  toml::table table;
  try {
    table = toml::parse(toml_text, std::string(file));
  } catch (const toml::parse_error& error) {
    return Status(Code::kConfig, fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                             error.source().begin.column, error.description()));
  }
  MappingReader reader(file);
  Layout layout;
  layout.kind = LayoutKind::kMapping;
  layout.mapping = reader.read(table);
  if (!reader.status().ok()) return reader.status();
  return layout;
}

}  // namespace weir::ingest
