// The bytes of the journal's segments (docs/formats/journal.md): headers of segments and frames,
// and the check of a whole segment.
//
// Invariants
//  1. Whatever the bytes, checking them is linear in their number and allocates no more than they
//     justify.
//  2. A frame is taken whole or not at all. What is behind the last whole frame was cut off by a
//     crash only if no later frame says that it had been on disk.
// Thread safety: thread-safe (pure).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "weir/status.h"

namespace weir::engine {

inline constexpr std::size_t kSegmentHeaderBytes = 40;
inline constexpr std::size_t kFrameHeaderBytes = 56;

struct SegmentHeader {
  std::uint64_t number = 0;
  // Goes into every checksum of a frame header, so that bytes that somebody sent are never taken
  // for one.
  std::uint64_t salt = 0;
};
std::array<char, kSegmentHeaderBytes> to_bytes(const SegmentHeader& header);
Result<SegmentHeader> segment_header_of(std::string_view bytes);

struct FrameHeader {
  enum class Type : std::uint16_t { kBytes = 1, kChange = 2 };
  Type type = Type::kBytes;
  std::uint32_t length = 0;    // of the payload
  std::uint32_t which = 0;     // source; columns of a change
  std::uint64_t first = 0;     // offset in the source; number of a change
  std::uint64_t position = 0;  // of a change, in records
  std::uint64_t durable = 0;   // bytes of this segment that were on disk when this was written
  std::uint64_t payload_hash = 0;
};
std::uint64_t payload_hash(std::string_view payload);
std::array<char, kFrameHeaderBytes> to_bytes(const FrameHeader& header, std::uint64_t salt);
// Absent: these bytes are no frame's header.
std::optional<FrameHeader> frame_header_of(std::string_view bytes, std::uint64_t salt);

// What a segment holds.
struct SegmentCheck {
  std::size_t whole = 0;  // bytes up to the end of the last whole frame
  std::string damage;     // what is wrong there, if that is no torn end
};
// Calls `frame` for each whole frame in order; it may refuse one by saying why. REQUIRES: the
// header of the segment is good.
SegmentCheck check_segment(
    std::string_view bytes, std::uint64_t salt,
    const std::function<std::string(const FrameHeader&, std::string_view payload)>& frame);

}  // namespace weir::engine
