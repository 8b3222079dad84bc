// Numbers: text to the canonical core::Value, exactly.
//
// Integers keep 64 bits; everything else is the correctly rounded double. Results equal simdjson's
// `dom` for JSON numbers. Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/value.h"

namespace weir::ingest {

enum class NumberOutcome { kOk, kNotANumber, kOutOfRange };

// A number by JSON's grammar, and nothing around it. kOutOfRange: an integer beyond uint64/int64,
// or a double that overflows.
NumberOutcome parse_json_number(std::string_view text, core::Value& value);
// A number as CSV files write it: JSON's grammar plus a leading '+', leading zeros ("0071"), "5."
// and
// ".5". Not "NaN", "inf" or hexadecimal.
NumberOutcome parse_csv_number(std::string_view text, core::Value& value);

// mantissa / 10^power, correctly rounded. REQUIRES: power <= 19.
double decimal_quotient(std::uint64_t mantissa, unsigned power);

}  // namespace weir::ingest
