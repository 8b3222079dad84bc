// BlockWalk: where in its block a decoder of lines stands, for record numbers, line numbers and
// byte offsets, and the rejects that carry them.
//
// Invariants
//  1. A record that the splitter passed over (Block::skipped) is a kTooLong reject in its place,
//  and
//     counts as one record and as the lines it had.
//  2. next_skip() is the number of newlines before the next skipped record, or kNoSkip.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/block.h"

namespace weir::ingest {

class BlockWalk {
 public:
  static constexpr std::uint32_t kNoSkip = std::numeric_limits<std::uint32_t>::max();

  BlockWalk(const core::Block& block, core::Columns& out);

  std::uint32_t next_skip() const { return next_skip_; }
  // Rejects the skipped records that stand before the byte with `newlines` newlines of the block
  // before it. `records` is the number of records so far and is moved on.
  void take_skips(std::uint32_t newlines, std::uint32_t& records);
  // Line of the block on which a record starts that has `newlines` newlines before it.
  std::uint32_t line(std::uint32_t newlines) const { return newlines + skipped_lines_; }
  // `raw` lies in the block.
  void reject(std::uint32_t record, std::uint32_t newlines, std::string_view raw,
              core::Reason reason, std::string detail);

 private:
  const core::Block& block_;
  core::Columns& out_;
  std::uint32_t next_skip_ = kNoSkip;
  std::uint32_t skipped_ = 0;
  std::uint32_t skipped_lines_ = 0;
  std::uint64_t skipped_bytes_ = 0;  // by which offsets of the block's bytes are moved on
};

// Only blanks, tabs and carriage returns: no record.
inline bool blank_line(const char* from, const char* end) {
  while (from != end && (*from == ' ' || *from == '\t' || *from == '\r')) ++from;
  return from == end;
}

}  // namespace weir::ingest
