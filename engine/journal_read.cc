// Journal::read(): what was held when it was opened, frame by frame.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "engine/journal.h"

namespace weir::engine {
namespace {

bool covers(const Journal::Extent& extent, std::uint64_t offset) {
  return extent.begin <= offset && offset < extent.end;
}
ReadResult error_of(Status status) {
  return {.state = ReadResult::State::kError, .bytes = 0, .error = std::move(status)};
}

}  // namespace

ReadResult Journal::read(std::uint32_t source, std::uint64_t offset, std::span<char> into) {
  const auto held = opened_.find(source);
  if (held == opened_.end() || offset >= held->second.end) return {};
  if (offset < held->second.begin) {
    return error_of({Code::kIo, fmt::format("{}: begins at byte {} of the input, and byte {} is "
                                            "asked for",
                                            directory_, held->second.begin, offset)});
  }
  if (cursor_.file < 0 || cursor_.source != source || !covers(cursor_.held, offset)) {
    const bool goes_on = cursor_.file >= 0 && cursor_.source == source &&
                         offset == cursor_.held.end && cursor_.next < cursor_.limit;
    Status status = goes_on ? find_frame(offset) : enter_segment(source, offset);
    // The rest of the segment may be of others.
    if (status.ok() && !covers(cursor_.held, offset)) status = enter_segment(source, offset);
    if (status.ok() && !covers(cursor_.held, offset)) {
      status = Status(
          Code::kIo,
          fmt::format("{}: has lost byte {} of the input since it was opened", directory_, offset));
    }
    if (!status.ok()) return error_of(std::move(status));
  }
  const std::size_t n =
      static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), cursor_.held.end - offset));
  Status status = read_exactly(cursor_.payload + (offset - cursor_.held.begin), into.first(n));
  if (!status.ok()) return error_of(std::move(status));
  return {.state = ReadResult::State::kData, .bytes = n, .error = {}};
}

Status Journal::enter_segment(std::uint32_t source, std::uint64_t offset) {
  if (cursor_.file >= 0) (void)files_.close(cursor_.file);
  cursor_ = {};
  {
    Lock lock(mutex_);
    for (const Segment& segment : segments_) {
      const auto held = segment.sources.find(source);
      if (held == segment.sources.end() || !covers(held->second, offset)) continue;
      cursor_.path = segment.path;
      cursor_.salt = segment.salt;
      cursor_.limit = segment.bytes;
      break;
    }
  }
  if (cursor_.path.empty()) return {};
  cursor_.source = source;
  cursor_.next = kSegmentHeaderBytes;
  cursor_.file = files_.open(cursor_.path.c_str(), O_RDONLY);
  if (cursor_.file < 0) {
    return {Code::kIo, fmt::format("{}: open: {}", cursor_.path, strerror(errno))};
  }
  return find_frame(offset);
}

// The next frame of this segment that holds the offset, or its last one.
Status Journal::find_frame(std::uint64_t offset) {
  while (cursor_.next < cursor_.limit) {
    std::array<char, kFrameHeaderBytes> bytes;
    if (Status s = read_exactly(cursor_.next, bytes); !s.ok()) return s;
    const auto header = frame_header_of({bytes.data(), bytes.size()}, cursor_.salt);
    if (!header) {
      return {Code::kIo, fmt::format("{}: was changed at byte {} since it was opened", cursor_.path,
                                     cursor_.next)};
    }
    cursor_.payload = cursor_.next + kFrameHeaderBytes;
    cursor_.next = cursor_.payload + header->length;
    if (header->type != FrameHeader::Type::kBytes || header->which != cursor_.source) continue;
    cursor_.held = {header->first, header->first + header->length};
    if (covers(cursor_.held, offset)) return {};
  }
  cursor_.held = {};
  return {};
}

Status Journal::read_exactly(std::uint64_t at, std::span<char> into) {
  while (!into.empty()) {
    const ssize_t n = files_.pread(cursor_.file, into.data(), into.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {Code::kIo, fmt::format("{}: read: {}", cursor_.path, strerror(errno))};
    if (n == 0) {
      return {Code::kIo, fmt::format("{}: became shorter since it was opened", cursor_.path)};
    }
    into = into.subspan(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace weir::engine
