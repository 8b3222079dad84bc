#include "engine/journal.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <limits>
#include <random>

namespace weir::engine {
namespace {

std::uint64_t random_salt() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

}  // namespace

Journal::Journal(core::Files& files, std::string directory, JournalOptions options)
    : files_(files), directory_(std::move(directory)), options_(std::move(options)) {}

Journal::~Journal() {
  {
    Lock lock(mutex_);
    stop_ = true;
    wake_.notify_one();
  }
  if (syncer_.joinable()) syncer_.join();
  if (file_ >= 0) (void)files_.close(file_);
  if (cursor_.file >= 0) (void)files_.close(cursor_.file);
}

Result<Journal::Appended> Journal::append(std::uint32_t source, std::uint64_t offset,
                                          std::string_view bytes) {
  assert(bytes.size() <= std::numeric_limits<std::uint32_t>::max());
  FrameHeader header;
  header.type = FrameHeader::Type::kBytes;
  header.length = static_cast<std::uint32_t>(bytes.size());
  header.which = source;
  header.first = offset;
  header.payload_hash = payload_hash(bytes);
  Lock lock(mutex_);
  Result<Appended> appended = write(header, bytes);
  if (!appended.ok()) return appended;
  tell_space(lock, *appended);
  return appended;
}

Status Journal::append_change(const Change& change) {
  assert(change.text.size() <= std::numeric_limits<std::uint32_t>::max());
  FrameHeader header;
  header.type = FrameHeader::Type::kChange;
  header.length = static_cast<std::uint32_t>(change.text.size());
  header.which = change.columns;
  header.first = change.number;
  header.position = raw(change.position);
  header.payload_hash = payload_hash(change.text);
  Lock lock(mutex_);
  for (;;) {
    Result<Appended> appended = write(header, change.text);
    if (!appended.ok()) return appended.status();
    if (*appended == Appended::kWritten) break;
    if (*appended == Appended::kFull) {
      tell_space(lock, Appended::kFull);
      return {Code::kIo, fmt::format("{}: the disk is full", directory_)};
    }
    if (Status s = wait_durable(lock, written_); !s.ok()) return s;
  }
  Status status = wait_durable(lock, written_);
  tell_space(lock, Appended::kWritten);
  return status;
}

Result<Journal::Appended> Journal::write(FrameHeader header, std::string_view payload) {
  if (!failure_.ok()) return failure_;
  const std::uint64_t size = kFrameHeaderBytes + payload.size();
  const bool whole = file_ < 0 || (segments_.back().bytes > kSegmentHeaderBytes &&
                                   segments_.back().bytes + size > options_.segment_bytes);
  const bool too_much = written_ != durable_ && written_ + size - durable_ > options_.max_unsynced;
  if (too_much || (whole && written_ != durable_)) {
    wake_.notify_one();
    return Appended::kWait;
  }
  if (whole) {
    Result<Appended> begun = roll();
    if (!begun.ok() || *begun != Appended::kWritten) return begun;
  }
  header.durable = durable_ - segment_start_;
  Result<Appended> written = write_parts(header, payload);
  if (!written.ok() || *written != Appended::kWritten) return written;
  Segment& segment = segments_.back();
  segment.bytes += size;
  written_ += size;
  const std::string why = note(segment, header);
  assert(why.empty());
  (void)why;
  wake_.notify_one();
  return Appended::kWritten;
}

// All of the frame, or nothing of it.
Result<Journal::Appended> Journal::write_parts(const FrameHeader& header,
                                               std::string_view payload) {
  const Segment& segment = segments_.back();
  auto head = to_bytes(header, segment.salt);
  std::array<iovec, 2> parts{iovec{head.data(), head.size()},
                             iovec{const_cast<char*>(payload.data()), payload.size()}};
  std::size_t left = head.size() + payload.size();
  while (left != 0) {
    const ssize_t n = files_.writev(file_, parts.data(), static_cast<int>(parts.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n == 0 ? EIO : errno;
      if (files_.ftruncate(file_, segment.bytes) != 0) {
        return fail("ftruncate", segment.path, errno);
      }
      return refused("write", segment.path, error);
    }
    auto taken = static_cast<std::size_t>(n);
    left -= taken;
    for (iovec& part : parts) {
      const std::size_t of_it = std::min(taken, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + of_it;
      part.iov_len -= of_it;
      taken -= of_it;
    }
  }
  return Appended::kWritten;
}

// Begins a segment, whose header and name are on disk before anything is written behind it.
// REQUIRES: all that was written is durable.
Result<Journal::Appended> Journal::roll() {
  const SegmentHeader header{.number = next_segment_, .salt = random_salt()};
  const std::string path = segment_path(header.number);
  const int file = files_.open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  if (file < 0) return refused("open", path, errno);
  const auto give_up = [&](const char* call, int error) {
    (void)files_.close(file);
    (void)files_.unlink(path.c_str());
    return refused(call, path, error);
  };
  const auto bytes = to_bytes(header);
  int error = 0;
  if (!core::write_all(files_, file, {bytes.data(), bytes.size()}, &error).ok()) {
    return give_up("write", error);
  }
  if (files_.fdatasync(file) != 0) return give_up("fdatasync", errno);
  if (!core::sync_directory(files_, directory_, &error).ok()) return give_up("fsync", error);
  if (file_ >= 0) (void)files_.close(file_);
  file_ = file;
  ++next_segment_;
  segments_.push_back({.number = header.number,
                       .path = path,
                       .salt = header.salt,
                       .bytes = bytes.size(),
                       .sources = {},
                       .changes = 0});
  segment_start_ = written_;
  written_ += bytes.size();
  durable_ = written_;
  return Appended::kWritten;
}

Result<Journal::Appended> Journal::refused(const char* call, const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT) return Appended::kFull;
  return fail(call, path, error);
}

Status Journal::fail(const char* call, const std::string& path, int error) {
  failure_ = Status(Code::kIo, fmt::format("{}: {}: {}", path, call, strerror(error)));
  synced_.notify_all();
  return failure_;
}

void Journal::tell_space(Lock& lock, Appended appended) {
  const bool changed = appended != Appended::kWait && (appended == Appended::kFull) != full_;
  if (changed) full_ = !full_;
  lock.unlock();
  if (!changed || !options_.notice) return;
  const std::lock_guard<std::mutex> one_at_a_time(notice_mutex_);
  options_.notice(directory_ + (appended == Appended::kFull ? ": waits for space; the disk is full"
                                                            : ": goes on; there is space"));
}

Status Journal::wait_durable(Lock& lock, std::uint64_t upto) {
  synced_.wait(lock, [&] { return durable_ >= upto || !failure_.ok(); });
  return durable_ >= upto ? Status() : failure_;
}

Status Journal::sync() {
  Lock lock(mutex_);
  Status status = wait_durable(lock, written_);
  return status.ok() ? failure_ : status;
}

bool Journal::wait_synced(std::chrono::milliseconds most) {
  Lock lock(mutex_);
  const std::uint64_t before = durable_;
  return synced_.wait_for(lock, most, [&] { return durable_ != before || !failure_.ok(); });
}

void Journal::sync_loop() {
  Lock lock(mutex_);
  const auto due = [&] { return failure_.ok() && durable_ != written_; };
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || due(); });
    if (!due()) return;
    const std::uint64_t upto = written_;
    const std::map<std::uint32_t, Extent> ends = extents_;
    const int file = file_;  // stays: nothing else begins before this is on disk
    const std::string path = segments_.back().path;
    lock.unlock();
    int outcome;
    do outcome = files_.fdatasync(file);
    while (outcome != 0 && errno == EINTR);
    const int error = errno;
    if (outcome == 0) {
      std::lock_guard<std::mutex> durable_lock(durable_mutex_);
      for (const auto& [source, extent] : ends) durable_ends_[source] = extent.end;
    }
    lock.lock();
    if (outcome != 0) {
      (void)fail("fdatasync", path, error);
    } else {
      durable_ = upto;
      synced_.notify_all();
    }
  }
}

Journal::Extent Journal::extent(std::uint32_t source) const {
  Lock lock(mutex_);
  const auto held = extents_.find(source);
  return held == extents_.end() ? Extent{} : held->second;
}

std::uint64_t Journal::durable(std::uint32_t source) const {
  std::lock_guard<std::mutex> lock(durable_mutex_);
  const auto end = durable_ends_.find(source);
  return end == durable_ends_.end() ? 0 : end->second;
}

Status Journal::failure() const {
  Lock lock(mutex_);
  return failure_;
}

void Journal::break_off(const Status& why) {
  Lock lock(mutex_);
  if (!failure_.ok()) return;
  failure_ = why;
  synced_.notify_all();
}

Status Journal::trim(const SourcePosition& position, std::uint64_t changes) {
  const auto covered = [&](const Segment& segment) {
    if (segment.changes > changes) return false;
    return std::all_of(segment.sources.begin(), segment.sources.end(), [&](const auto& held) {
      return held.first < position.source ||
             (held.first == position.source && held.second.end <= position.offset);
    });
  };
  const std::lock_guard<std::mutex> one_at_a_time(trim_mutex_);
  for (;;) {
    Lock lock(mutex_);
    if (segments_.size() < 2 || !covered(segments_.front())) return {};
    const std::string path = segments_.front().path;
    lock.unlock();
    // One after the other, each for good: what a crash leaves has no gap.
    if (files_.unlink(path.c_str()) != 0 && errno != ENOENT) {
      return {Code::kIo, fmt::format("{}: unlink: {}", path, strerror(errno))};
    }
    if (Status s = core::sync_directory(files_, directory_); !s.ok()) return s;
    lock.lock();
    for (const auto& [source, held] : segments_.front().sources) {
      Extent& extent = extents_[source];
      extent.begin = std::clamp(held.end, extent.begin, extent.end);
    }
    segments_.erase(segments_.begin());
  }
}

}  // namespace weir::engine
