// JsonRecordReader: one record by simdjson's dom, whatever it looks like. It decides what is valid;
// the shape path (ingest/shape.h) only takes records that this reader takes, with the same result.
//
// Thread safety: single-writer. The KeyTable is shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/block.h"
#include "core/keys.h"
#include "ingest/json_layout.h"
#include "ingest/json_sink.h"
#include "ingest/time_format.h"

namespace weir::ingest {

// The time of a JSON string or number (as it is written) of the layouts, shared by both paths.
class JsonClock {
 public:
  // REQUIRES: time_unit and zone were checked by parse_mapping.
  explicit JsonClock(const JsonLayout& layout);
  // `timestamp` of saams: a string holds ISO 8601 or else an epoch, a number an epoch.
  static bool timestamp(std::string_view text, bool is_string, std::int64_t& nanos);
  // Day and time of day of saams.
  static bool date_and_time(std::string_view date, std::string_view time, std::int64_t& nanos);
  // kFormat; one of the two may be absent (empty).
  bool format(std::string_view date, std::string_view time, std::int64_t& nanos) {
    return format_.parse(date, time, nanos);
  }

 private:
  TimeFormat format_;
};

class JsonRecordReader {
 public:
  struct Failure {
    core::Reason reason = core::Reason::kJson;
    std::string detail;
  };

  // REQUIRES: `layout` outlives the reader.
  JsonRecordReader(const JsonLayout& layout, core::KeyTable& keys);
  ~JsonRecordReader();
  void bind(const core::FieldSet& fields);

  // Writes the tuple of `line` to `sink`, or says why there is none. REQUIRES: 64 readable bytes
  // behind the line; what they are does not matter.
  bool read(std::string_view line, std::uint32_t record, JsonSink& sink, Failure& failure);

  JsonClock& clock() { return clock_; }

 private:
  struct Impl;
  core::KeyTable& keys_;
  JsonClock clock_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::ingest
