#include "ingest/framing.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace weir::ingest {
namespace {

std::uint32_t frame_size(const char* prefix) {
  std::uint32_t size;
  std::memcpy(&size, prefix, sizeof size);
  return size;
}

// Is the number of double quotes odd? The compiler turns the inner loop into vector compares.
bool odd_quotes(const char* bytes, std::size_t n) {
  constexpr std::size_t kLanes = 64;
  std::uint8_t lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] ^= static_cast<std::uint8_t>(bytes[i + lane] == '"');
    }
  }
  std::uint8_t odd = 0;
  for (const std::uint8_t lane : lanes) odd ^= lane;
  for (; i < n; ++i) odd ^= static_cast<std::uint8_t>(bytes[i] == '"');
  return odd != 0;
}

const char* find_newline(const char* bytes, std::size_t n) {
  return n == 0 ? nullptr : static_cast<const char*>(std::memchr(bytes, '\n', n));
}
const char* find_last_newline(const char* bytes, std::size_t n) {
  return n == 0 ? nullptr : static_cast<const char*>(::memrchr(bytes, '\n', n));
}

Cut cut_lines(std::span<const char> bytes, std::size_t limit, bool ended) {
  std::size_t start = 0;
  while (start < bytes.size()) {
    // The last newline of a window of limit + 1 bytes: every record before it is short enough.
    const std::size_t window = std::min(bytes.size() - start, limit + 1);
    const char* newline = find_last_newline(bytes.data() + start, window);
    if (newline == nullptr) {
      if (window > limit) return {.end = start, .too_long = true};
      return {.end = ended ? bytes.size() : start, .too_long = false};
    }
    start = static_cast<std::size_t>(newline - bytes.data()) + 1;
  }
  return {.end = start, .too_long = false};
}

// The last newline outside quotes, if quotes are closed at bytes[0]; `odd` gets the state behind
// the last byte. One vector pass counts, then newlines are tried from the back.
const char* last_newline_outside(const char* bytes, std::size_t n, bool& odd) {
  odd = odd_quotes(bytes, n);
  bool quoted = odd;
  std::size_t end = n;
  while (const char* newline = find_last_newline(bytes, end)) {
    const auto at = static_cast<std::size_t>(newline - bytes);
    quoted ^= odd_quotes(newline, end - at);
    if (!quoted) return newline;
    end = at;
  }
  return nullptr;
}

Cut cut_csv(std::span<const char> bytes, std::size_t limit, bool ended) {
  std::size_t start = 0;
  while (start < bytes.size()) {
    const char* from = bytes.data() + start;
    const std::size_t window = std::min(bytes.size() - start, limit + 1);
    bool quoted = false;
    if (const char* newline = last_newline_outside(from, window, quoted)) {
      start = static_cast<std::size_t>(newline - bytes.data()) + 1;
      continue;
    }
    const bool decided = window > limit || ended;
    if (!decided) return {.end = start, .too_long = false};
    if (const char* newline = quoted ? find_newline(from, window) : nullptr) {
      return {.end = static_cast<std::size_t>(newline - bytes.data()) + 1, .too_long = false};
    }
    if (window > limit) return {.end = start, .too_long = true};
    return {.end = bytes.size(), .too_long = false};
  }
  return {.end = start, .too_long = false};
}

Cut cut_frames(std::span<const char> bytes, std::size_t limit) {
  std::size_t start = 0;
  while (bytes.size() - start >= kFramePrefix) {
    const std::size_t size = frame_size(bytes.data() + start);
    if (size > limit) return {.end = start, .too_long = true};
    if (size > bytes.size() - start - kFramePrefix) break;
    start += kFramePrefix + size;
  }
  return {.end = start, .too_long = false};
}

}  // namespace

Cut find_cut(Framing framing, std::span<const char> bytes, std::size_t limit, bool ended) {
  switch (framing) {
    case Framing::kCsv:
      return cut_csv(bytes, limit, ended);
    case Framing::kFrames:
      return cut_frames(bytes, limit);
    case Framing::kLines:
      break;
  }
  return cut_lines(bytes, limit, ended);
}

std::size_t first_record_end(Framing framing, std::span<const char> bytes, std::size_t limit,
                             bool ended) {
  if (framing == Framing::kFrames) return kFramePrefix + frame_size(bytes.data());
  if (framing == Framing::kLines) {
    const char* newline = find_newline(bytes.data(), bytes.size());
    return newline == nullptr ? bytes.size() : static_cast<std::size_t>(newline - bytes.data()) + 1;
  }
  const std::size_t window = std::min(bytes.size(), limit + 1);
  const char* from = bytes.data();
  const char* first = nullptr;
  bool quoted = false;
  while (const char* newline =
             find_newline(from, window - static_cast<std::size_t>(from - bytes.data()))) {
    if (first == nullptr) first = newline;
    quoted ^= odd_quotes(from, static_cast<std::size_t>(newline - from));
    if (!quoted) return static_cast<std::size_t>(newline - bytes.data()) + 1;
    from = newline + 1;
  }
  quoted ^= odd_quotes(from, window - static_cast<std::size_t>(from - bytes.data()));
  assert(window > limit || ended);
  (void)ended;
  if (quoted && first != nullptr) return static_cast<std::size_t>(first - bytes.data()) + 1;
  return bytes.size();
}

std::size_t TooLong::take(std::span<const char> bytes) {
  assert(!done_);
  switch (framing_) {
    case Framing::kCsv:
      return take_csv(bytes);
    case Framing::kFrames:
      return take_frame(bytes);
    case Framing::kLines:
      break;
  }
  return take_line(bytes);
}

void TooLong::keep(std::span<const char> bytes) {
  bytes_ += bytes.size();
  if (head_.size() < core::kRejectSample) {
    head_.append(bytes.data(), std::min(bytes.size(), core::kRejectSample - head_.size()));
  }
}

std::size_t TooLong::take_line(std::span<const char> bytes) {
  const char* newline = find_newline(bytes.data(), bytes.size());
  if (newline == nullptr) {
    keep(bytes);
    return bytes.size();
  }
  const auto length = static_cast<std::size_t>(newline - bytes.data());
  keep(bytes.first(length));
  ++newlines_;
  done_ = true;
  return length + 1;
}

std::size_t TooLong::take_csv(std::span<const char> bytes) {
  std::size_t start = 0;
  while (const char* newline = find_newline(bytes.data() + start, bytes.size() - start)) {
    const auto at = static_cast<std::size_t>(newline - bytes.data());
    quoted_ ^= odd_quotes(bytes.data() + start, at - start);
    keep(bytes.subspan(start, at - start));
    ++newlines_;
    if (!quoted_ || bytes_ >= 2 * std::uint64_t{limit_}) {
      done_ = true;
      return at + 1;
    }
    keep(bytes.subspan(at, 1));
    start = at + 1;
  }
  quoted_ ^= odd_quotes(bytes.data() + start, bytes.size() - start);
  keep(bytes.subspan(start));
  return bytes.size();
}

// REQUIRES: the first call has the whole prefix, which find_cut() has read.
std::size_t TooLong::take_frame(std::span<const char> bytes) {
  std::size_t prefix = 0;
  if (!started_) {
    started_ = true;
    frame_left_ = frame_size(bytes.data());
    prefix = kFramePrefix;
  }
  const std::size_t n =
      static_cast<std::size_t>(std::min<std::uint64_t>(frame_left_, bytes.size() - prefix));
  keep(bytes.subspan(prefix, n));
  frame_left_ -= n;
  done_ = frame_left_ == 0;
  return prefix + n;
}

}  // namespace weir::ingest
