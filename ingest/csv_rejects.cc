#include "ingest/csv_rejects.h"

#include <algorithm>
#include <utility>

namespace weir::ingest {

BlockWalk::BlockWalk(const core::Block& block, core::Columns& out) : block_(block), out_(out) {
  if (!block.skipped.empty()) next_skip_ = block.skipped[0].before_line;
}

void BlockWalk::take_skips(std::uint32_t newlines, std::uint32_t& records) {
  while (next_skip_ <= newlines && skipped_ < block_.skipped.size()) {
    const core::Block::Skipped& skip = block_.skipped[skipped_];
    core::Reject& reject = out_.rejects.emplace_back();
    reject.record = records++;
    reject.line = line(skip.before_line);
    reject.reason = core::Reason::kTooLong;
    reject.byte_offset = skip.byte_offset;
    reject.length = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(skip.bytes, std::numeric_limits<std::uint32_t>::max()));
    reject.raw = skip.head.substr(0, core::kRejectSample);
    reject.detail = "longer than the record limit";
    skipped_lines_ += skip.newlines;
    // Before the block's first byte it is not between the block's bytes.
    if (skip.before_line != 0) skipped_bytes_ += skip.bytes + (skip.newlines != 0);
    ++skipped_;
    next_skip_ = skipped_ < block_.skipped.size() ? block_.skipped[skipped_].before_line : kNoSkip;
  }
}

void BlockWalk::reject(std::uint32_t record, std::uint32_t newlines, std::string_view raw,
                       core::Reason reason, std::string detail) {
  core::Reject& reject = out_.rejects.emplace_back();
  reject.record = record;
  reject.line = line(newlines);
  reject.reason = reason;
  reject.byte_offset = block_.byte_offset +
                       static_cast<std::uint64_t>(raw.data() - block_.bytes.data()) +
                       skipped_bytes_;
  reject.length = static_cast<std::uint32_t>(raw.size());
  reject.raw = raw.substr(0, core::kRejectSample);
  reject.detail = std::move(detail);
}

}  // namespace weir::ingest
