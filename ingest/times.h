// Times: every way in which a layout may write a time, to nanoseconds UTC.
//
// All functions read exactly the given characters, never past them, and answer false for what is
// malformed or implausible (before 1900 or after 2200); what they would have written is then
// unspecified. Thread safety: thread-safe (pure).
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
// ISO 8601: "2018-08-31 09:30:00", "…T…Z", "…+02:00", "… UTC", fraction of 1 to 9 digits, seconds
// or the whole clock left out; without a zone it is UTC.
bool parse_iso(std::string_view text, std::int64_t& nanos);
// The same; `has_zone` says whether the text named its zone. If not, `nanos` is a local time.
bool parse_iso(std::string_view text, std::int64_t& nanos, bool& has_zone);
// "Z", "+HH", "+HHMM" or "+HH:MM", to nanoseconds east of UTC.
bool parse_offset(std::string_view text, std::int64_t& nanos);
// A civil date to days since 1970, and a clock to nanoseconds of the day. Both check their ranges.
bool civil_to_days(unsigned year, unsigned month, unsigned day, std::int64_t& days);
bool clock_to_nanos(unsigned hour, unsigned minute, unsigned second, std::int64_t& nanos);
// Unit by magnitude for kAuto (s, ms, µs, ns).
bool epoch_to_nanos(std::int64_t value, EpochUnit unit, std::int64_t& nanos);
// An epoch as it is written, with a fraction or not ("1377986401.25"), exact to the nanosecond
// (finer digits are cut off); kAuto means: the unit by the magnitude of the integer part.
bool parse_epoch(std::string_view text, EpochUnit unit, std::int64_t& nanos);

}  // namespace weir::ingest
