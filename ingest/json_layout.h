// JsonLayout: where the parts of a tuple stand in a JSON record, compiled from a Layout, so that
// saams, titan and mappings are read by one piece of code.
//
// Thread safety: immutable after it is made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/block.h"
#include "ingest/layout.h"

namespace weir::ingest {

// A JSON pointer (RFC 6901), taken apart. Empty: absent.
struct JsonPath {
  std::vector<std::string> tokens;
  bool empty() const { return tokens.empty(); }
  bool top_level() const { return tokens.size() == 1; }
  // "/a/b", as the detail of a reject names it ("a" for a top-level key).
  std::string name() const;
  friend bool operator==(const JsonPath&, const JsonPath&) = default;
};
// Text that does not begin with '/' is the name of one top-level key.
JsonPath parse_json_path(std::string_view pointer);

// How the time of a record is written.
enum class JsonTime {
  kSaams,   // `date` MM/DD/YYYY and `time` HH:MM:SS[.f]; if not both are there, `timestamp`
  kMillis,  // `timestamp`, an integer
  kFormat,  // `date` and `time` by TimeFormat
  kNone,
};

struct JsonLayout {
  JsonPath stream;
  bool stream_may_be_number = false;  // by its JSON text
  JsonPath dataset;                   // empty: dataset_constant
  std::string dataset_constant;
  JsonTime how = JsonTime::kNone;
  JsonPath date, time, timestamp;  // those that `how` reads
  std::string time_unit, zone;     // kFormat

  // Without a list, every top-level key is a field by its own name, except the reserved ones.
  bool listed_fields = false;
  std::vector<std::pair<std::string, JsonPath>> fields;
  std::vector<std::string> reserved;

  // Where the field `name` stands; empty: nowhere.
  JsonPath field(std::string_view name) const;
};

// REQUIRES: saams, titan, or a mapping of format kNdjson.
JsonLayout compile_json_layout(const Layout& layout);

}  // namespace weir::ingest
