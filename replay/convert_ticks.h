// TickReader: the good records of ticks files, one after the other, with their place and time.
//
// Invariants
//  1. A record is good if and only if the ticks layout takes it (ingest/csv_ticks.cc); every other
//     one is counted and sampled in Converted.
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
#include "replay/convert.h"

namespace weir::replay {

struct Tick {
  std::int64_t time = 0;     // ns since 1970
  std::uint32_t source = 0;  // among the reader's
  std::string_view date, clock, price, volume;
};

class TickReader {
 public:
  TickReader(std::vector<std::unique_ptr<Source>> sources, std::size_t block_size,
             const ConvertOptions& options, Converted& converted);

  // On to the next good record. False: there is none, or a source failed, see status().
  bool advance();
  const Tick& tick() const { return tick_; }
  const Status& status() const { return status_; }
  const std::string& source_name(std::uint32_t source) const {
    return splitter_.source_name(source);
  }

 private:
  struct Judgement {
    bool good = true;
    core::Reason reason = core::Reason::kCsv;
    std::string detail;
  };

  bool next_block();
  Judgement judge(std::string_view line);
  void reject(std::uint64_t byte_offset, std::string_view raw, std::uint64_t length,
              core::Reason reason, std::string detail);

  ingest::Splitter splitter_;
  const ConvertOptions& options_;
  Converted& converted_;
  core::Block block_;
  std::size_t at_ = 0;      // in block_, of the next record
  std::uint64_t line_ = 1;  // of the next record
  Tick tick_;
  std::string last_date_;  // the date of the record before, as written
  std::int64_t last_day_ = 0;
  Status status_;
};

// Appends `text`, a number that parse_csv_number takes, as JSON with the same digits.
void append_json_number(std::string& out, std::string_view text);

}  // namespace weir::replay
