// One record of the `ticks` layout, judged field by field: what the decoder takes and what `weir
// convert` writes is the same.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/block.h"
#include "core/value.h"

namespace weir::ingest {

inline constexpr std::size_t kTicksFields = 2;
inline constexpr std::string_view kTicksFieldNames[kTicksFields] = {"price", "volume"};

struct TicksRecord {
  std::string_view date, clock;          // as they are written, in the line
  std::string_view texts[kTicksFields];  // of the values
  core::Value values[kTicksFields];
  std::int64_t day = 0;    // ns since 1970 at which the date starts
  std::int64_t nanos = 0;  // of the day

  std::int64_t time() const { return day + nanos; }
};

// Why a line is no record.
struct TicksFault {
  core::Reason reason = core::Reason::kCsv;
  std::string detail;
};

// Reads a line without its end (no newline, no carriage return before it). False: `fault` says why
// not, and `record` is unspecified.
bool read_ticks_record(std::string_view line, TicksRecord& record, TicksFault& fault);

}  // namespace weir::ingest
