// Splitting CSV: a run of bytes into records, and a record into fields, by RFC 4180.
//
// Invariants
//  1. A record ends at the first newline with an even number of double quotes before it, as the
//     splitter frames it (Framing::kCsv). If there is none, the quote is a stray one and the record
//     is one line.
//  2. A field is quoted whole or not at all: a quote inside an unquoted field, or characters behind
//  a
//     closing quote, are broken quoting.
// Thread safety: single-writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::ingest {

// The end of the record that starts at `at`: its newline, or `end`. REQUIRES: at < end.
const char* csv_record_end(const char* at, const char* end);

class CsvFields {
 public:
  explicit CsvFields(char delimiter) : delimiter_(delimiter) {}

  // False: broken quoting. `record` has no newline at its end and outlives what is read here; one
  // carriage return at its end is left out.
  bool split(std::string_view record);
  std::size_t size() const { return fields_.size(); }
  // The field without its quotes. Valid until the next split().
  std::string_view operator[](std::size_t i) const { return fields_[i]; }

 private:
  bool split_quoted(std::string_view record);

  char delimiter_;
  std::vector<std::string_view> fields_;
  std::string unescaped_;  // fields that held doubled quotes
};

}  // namespace weir::ingest
