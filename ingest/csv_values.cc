#include "ingest/csv_values.h"

#include <fmt/format.h>

#include <cstring>

#include "ingest/numbers.h"

namespace weir::ingest {
namespace {

// NaN, Inf, Infinity in any case and with either sign: programs write them for numbers that are
// none.
bool names_no_number(std::string_view text) {
  if (text.front() == '+' || text.front() == '-') text.remove_prefix(1);
  if (text.size() != 3 && text.size() != 8) return false;
  char lower[8];
  for (std::size_t i = 0; i < text.size(); ++i) lower[i] = static_cast<char>(text[i] | 0x20);
  const std::string_view word(lower, text.size());
  return word == "nan" || word == "inf" || word == "infinity";
}

}  // namespace

CsvValue csv_value(std::string_view text, core::Value& value) {
  switch (parse_csv_number(text, value)) {
    case NumberOutcome::kOk:
      return CsvValue::kNumber;
    case NumberOutcome::kOutOfRange:
      return CsvValue::kBadNumber;
    case NumberOutcome::kNotANumber:
      break;
  }
  return names_no_number(text) ? CsvValue::kBadNumber : CsvValue::kText;
}

std::string wrong_columns(std::size_t expected, std::size_t found) {
  return fmt::format("{} columns expected, {} found", expected, found);
}

void push_value(core::Column& column, std::uint32_t tuple, const core::Value& value) {
  column.bits.push_back(value.bits);
  if (value.kind == core::Kind::kNumber && column.kinds.empty()) return;
  if (column.kinds.size() < tuple) {
    column.kinds.resize(tuple);
    std::memset(column.kinds.data(), static_cast<int>(core::Kind::kNumber), tuple);
  }
  column.kinds.push_back(value.kind);
}

void fill_missing(core::Column& column, std::uint32_t tuples) {
  column.bits.resize(tuples);
  column.kinds.resize(tuples);
  if (tuples == 0) return;
  std::memset(column.bits.data(), 0, tuples * sizeof(std::uint64_t));
  std::memset(column.kinds.data(), static_cast<int>(core::Kind::kMissing), tuples);
}

}  // namespace weir::ingest
