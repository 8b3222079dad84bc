// convert(): `ticks` CSV files to `saams` NDJSON, record by record.
//
// Invariants
//  1. A number keeps its text if JSON allows it; "+5", "007", ".5" and "5." get the shortest JSON
//     form of the same digits. The tuples are those of the ticks layout, so replaying either gives
//     the same state.
//  2. Every record is written or rejected; blank lines are neither. What is rejected is what the
//     ticks layout rejects.
//  3. Every file keeps its own order. With merge_time the next record is always the one with the
//     smallest time among the next records of all files, the file given first on a tie. A record
//     that is older than its predecessor in the file follows it at once; it is not moved back.
// Thread safety: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weir/answer.h"
#include "weir/source.h"
#include "weir/status.h"

namespace weir::replay {

struct ConvertOptions {
  bool merge_time = false;
  std::size_t max_record_bytes = 1 << 20;
  std::size_t max_reject_samples = 10'000;  // further rejects are counted, not listed
  std::string output_name = "the output";   // what an error calls it
};

struct Converted {
  std::uint64_t records = 0;  // written + rejected
  std::uint64_t written = 0;
  std::map<std::string, std::uint64_t> rejected;  // by reason
  std::vector<Reject> rejects;  // with source, line, byte offset, reason, detail, raw bytes
  std::uint64_t rejected_total() const;
};

// An error for the first source that convert() would refuse for its name.
Status check_ticks_names(std::span<const std::unique_ptr<Source>> sources);

// Every name follows the rule for ticks files (ingest/layout.h), which gives dataset and stream.
// With merge_time all files are open at once. Writes to an open descriptor; a reader that goes away
// (EPIPE) ends it without an error. On an error `converted` says what was done before.
Status convert(std::vector<std::unique_ptr<Source>> sources, const ConvertOptions& options,
               int descriptor, Converted& converted);

}  // namespace weir::replay
