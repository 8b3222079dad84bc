// Units: how sizes, counts, rates and durations are read from options and shown to people.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "weir/config.h"
#include "weir/status.h"

namespace weir::replay {

// "65536", "64K", "64KiB", "1M", "2G": powers of 1024. An error says what was expected.
Result<std::uint64_t> parse_size(std::string_view text);
// A whole number from `min` to `max`, both included.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max);
// Which of the words "auto|none" it is, from 0. An error lists them.
Result<std::size_t> parse_choice(std::string_view text, std::string_view words);
// The text that parse_size reads back, as short as it can be exactly: "64K".
std::string size_text(std::uint64_t bytes);
// The text that Period::parse reads back: "60s", "1500ms", "100000 records".
std::string period_text(const Period& period);

// 1234567 is "1,234,567".
std::string grouped(std::uint64_t count);
// A double for reading: seven significant digits, or to the next whole number if that says more, so
// that counts stand as they are for as long as doubles count (up to 2^53).
std::string number_text(double value);
// Three significant digits with k, M or G: 14200000 is "14.2 M", 950 is "950".
std::string short_count(double value);
// "512 B", "64.0 KiB", "1.00 GiB".
std::string short_bytes(double bytes);
// "380 ms", "12.3 s", "4 min 05 s", "2 h 03 min".
std::string short_seconds(double seconds);
// Time left or taken as a clock: "0:07", "12:03", "1:02:03", "4d 03:12"; "--:--" when it is
// negative, infinite or not a number.
std::string clock_text(double seconds);
// Nanoseconds since 1970 as "2019-01-02T00:00:01Z", with a fraction where there is one; "-" when
// the time is unknown.
std::string time_text(Time time);

}  // namespace weir::replay
