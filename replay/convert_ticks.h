// TickReader: the good records of ticks files, one after the other, with their place and time.
//
// Invariants
//  1. A record is good if and only if the ticks layout takes it (ingest/ticks_record.h); every
//     other one is counted and sampled in Converted.
//  2. tick() stays valid until the next call of advance().
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/block.h"
#include "ingest/splitter.h"
#include "ingest/ticks_record.h"
#include "replay/convert.h"

namespace weir::replay {

struct Tick {
  ingest::TicksRecord record;
  std::uint32_t source = 0;  // among the reader's
};

class TickReader {
 public:
  TickReader(std::vector<std::unique_ptr<Source>> sources, std::size_t block_size,
             const ConvertOptions& options, Converted& converted);

  // On to the next good record. False: there is none, or a source failed, see status().
  bool advance();
  const Tick& tick() const { return tick_; }
  const Status& status() const { return status_; }

 private:
  bool next_block();
  void reject(std::uint64_t byte_offset, std::string_view raw, std::uint64_t length,
              core::Reason reason, std::string detail);

  ingest::Splitter splitter_;
  const ConvertOptions& options_;
  Converted& converted_;
  core::Block block_;
  std::size_t at_ = 0;      // in block_, of the next record
  std::uint64_t line_ = 1;  // of the next record
  Tick tick_;
  Status status_;
};

// Appends `text`, a number that parse_csv_number takes, as JSON with the same digits.
void append_json_number(std::string& out, std::string_view text);

}  // namespace weir::replay
