// What a field of a CSV record means as a value, shared by the decoders of CSV.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/block.h"
#include "core/value.h"

namespace weir::ingest {

enum class CsvValue {
  kNumber,     // `value` is set
  kText,       // not a number
  kBadNumber,  // a number out of range, or a spelling of NaN or infinity
};
// REQUIRES: not empty.
CsvValue csv_value(std::string_view text, core::Value& value);

// "4 columns expected, 5 found".
std::string wrong_columns(std::size_t expected, std::size_t found);

// Appends the value of tuple number `tuple`, with a kind if this or an earlier one needs it.
void push_value(core::Column& column, std::uint32_t tuple, const core::Value& value);

// Makes every one of `tuples` values missing.
void fill_missing(core::Column& column, std::uint32_t tuples);

}  // namespace weir::ingest
