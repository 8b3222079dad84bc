// TimeFormat: how a mapping says that its times are written (`time_unit`, `zone`), compiled once,
// and the reading of one time by it.
//
// Units: `auto` (a number is an epoch by magnitude, anything else ISO 8601), `s`, `ms`, `us`, `ns`,
// `iso`, or a pattern of literal characters and
//   %Y four-digit year   %y two-digit year (69-99 are 19xx)   %m month   %b Jan…Dec, any case
//   %d day   %H hour 0-23   %M minute   %S second   %f fraction of 1 to 9 digits
//   %z Z, +HH, +HHMM or +HH:MM   %% a percent sign
// where a number of two digits may be written with one, unless another number touches it. A time
// without a zone of its own is local to `zone` (UTC, +HH:MM, or an IANA name). A local time that a
// change of clocks skips or repeats is refused: which instant was meant cannot be known.
//
// Thread safety: single-writer (it keeps the last zone rule); copies are independent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/times.h"
#include "weir/status.h"

namespace date {
class time_zone;
}

namespace weir::ingest {

class TimeFormat {
 public:
  // Errors name the key (time_unit or zone), the value and what would be right.
  static Result<TimeFormat> make(std::string_view unit, std::string_view zone);

  // The characters of a time: a CSV field, the contents of a JSON string, or a JSON number as it is
  // written. False: malformed, implausible (times.h), or a skipped or repeated local time.
  bool parse(std::string_view text, std::int64_t& nanos);
  // Date and time that stand apart; they are read as `date`, one blank, `time`. One of them may be
  // empty, which leaves the other alone.
  bool parse(std::string_view date, std::string_view time, std::int64_t& nanos);

 private:
  enum class How { kAuto, kEpoch, kIso, kPattern };

  bool parse_pattern(std::string_view text, std::int64_t& nanos, bool& has_zone) const;
  bool local_to_utc(std::int64_t& nanos);

  How how_ = How::kAuto;
  EpochUnit unit_ = EpochUnit::kAuto;
  std::string pattern_;
  const date::time_zone* zone_ = nullptr;  // null: `offset_` always holds
  std::int64_t offset_ = 0;                // ns east of UTC, for local times in [from_, until_)
  std::int64_t from_ = 0, until_ = 0;
};

}  // namespace weir::ingest
