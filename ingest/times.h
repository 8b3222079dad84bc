// Times: every way in which a layout may write a time, to nanoseconds UTC.
//
// All functions read exactly the given characters, never past them, and answer false for what is
// malformed or implausible (before 1900 or after 2200). Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::ingest {

enum class EpochUnit { kAuto, kSeconds, kMillis, kMicros, kNanos };

// "01/02/2019" (MM/DD/YYYY) to days since 1970. Checks the calendar.
bool parse_us_date(std::string_view text, std::int64_t& days);
// "HH:MM:SS" with an optional fraction of 1 to 9 digits, to nanoseconds of the day. 24:00:00 and
// leap seconds are refused.
bool parse_clock(std::string_view text, std::int64_t& nanos);
// ISO 8601: "2018-08-31 09:30:00", "…T…Z", "…+02:00", fraction of 1 to 9 digits; without a zone it
// is UTC.
bool parse_iso(std::string_view text, std::int64_t& nanos);
// Unit by magnitude for kAuto (s, ms, µs, ns).
bool epoch_to_nanos(std::int64_t value, EpochUnit unit, std::int64_t& nanos);
// A fractional epoch in seconds ("1377986401.25"), exact to the nanosecond; kAuto means: an integer
// part by magnitude.
bool parse_epoch(std::string_view text, EpochUnit unit, std::int64_t& nanos);

}  // namespace weir::ingest
