// Journal::open(): what is there, checked; and where the files are.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>

#include "engine/journal.h"

namespace weir::engine {
namespace {

constexpr std::string_view kSuffix = ".journal";
constexpr std::size_t kDigits = 20;

std::optional<std::uint64_t> number_of(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = name.data() + kDigits;
  const auto [past, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || past != end || number == 0) return std::nullopt;
  return number;
}

// Ascending.
Result<std::vector<std::uint64_t>> numbers_in(const std::string& directory) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (const auto number = number_of(at->path().filename().string())) numbers.push_back(*number);
  }
  if (error) return Status(Code::kIo, fmt::format("{}: {}", directory, error.message()));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status damaged(const std::string& path, std::uint64_t at, const std::string& why) {
  return {Code::kIo,
          fmt::format("{}: damaged at byte {}: {}; what it held from there on cannot be had from "
                      "the journal. To go on without it, from the newest snapshot alone, move the "
                      "directory of the journal away",
                      path, at, why)};
}

}  // namespace

std::string Journal::segment_path(std::uint64_t number) const {
  return fmt::format("{}/{:020}{}", directory_, number, kSuffix);
}

bool Journal::any(const std::string& directory) {
  const auto numbers = numbers_in(directory + "/journal");
  return numbers.ok() && !numbers->empty();
}

Result<std::unique_ptr<Journal>> Journal::open(core::Files& files, const std::string& directory,
                                               JournalOptions options,
                                               std::vector<std::string>& notices) {
  std::unique_ptr<Journal> journal(new Journal(files, directory + "/journal", std::move(options)));
  if (files.mkdir(journal->directory_.c_str()) == 0) {
    if (Status s = core::sync_directory(files, directory); !s.ok()) return s;
  } else if (errno != EEXIST) {
    return Status(Code::kIo, fmt::format("{}: mkdir: {}", journal->directory_, strerror(errno)));
  }
  if (Status s = journal->scan(notices); !s.ok()) return s;
  journal->opened_ = journal->extents_;
  for (const auto& [source, extent] : journal->extents_) {
    journal->durable_ends_[source] = extent.end;
  }
  journal->syncer_ = std::thread([raw = journal.get()] { raw->sync_loop(); });
  return journal;
}

Status Journal::scan(std::vector<std::string>& notices) {
  auto numbers = numbers_in(directory_);
  if (!numbers.ok()) return numbers.status();
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    const std::uint64_t number = (*numbers)[i];
    if (i != 0 && number != next_segment_) {
      return {Code::kIo, fmt::format("{}: is missing, and the journal has {} and later ones",
                                     segment_path(next_segment_), segment_path(number))};
    }
    next_segment_ = number + 1;
    const bool last = i + 1 == numbers->size();
    if (Status s = scan_segment(number, last, notices); !s.ok()) return s;
  }
  return {};
}

Status Journal::scan_segment(std::uint64_t number, bool last, std::vector<std::string>& notices) {
  const std::string path = segment_path(number);
  Result<std::string> bytes = core::read_whole(files_, path);
  if (!bytes.ok()) return bytes.status();
  Result<SegmentHeader> header = segment_header_of(*bytes);
  if (!header.ok() && last && bytes->size() <= kSegmentHeaderBytes) {
    // Nothing is written behind a header that is not on disk.
    if (files_.unlink(path.c_str()) != 0) {
      return {Code::kIo, fmt::format("{}: unlink: {}", path, strerror(errno))};
    }
    next_segment_ = number;
    notices.push_back(fmt::format("{}: removed; a crash left it without a header", path));
    return core::sync_directory(files_, directory_);
  }
  if (!header.ok()) return damaged(path, 0, header.status().message());
  if (header->number != number) return damaged(path, 0, "it is another segment under this name");
  Segment segment{.number = number,
                  .path = path,
                  .salt = header->salt,
                  .bytes = 0,
                  .sources = {},
                  .changes = 0};
  const SegmentCheck check =
      check_segment(*bytes, header->salt, [&](const FrameHeader& frame, std::string_view payload) {
        std::string why = note(segment, frame);
        if (why.empty() && frame.type == FrameHeader::Type::kChange) {
          changes_.push_back(
              {frame.first, RecordPosition{frame.position}, frame.which, std::string(payload)});
        }
        return why;
      });
  if (!check.damage.empty()) return damaged(path, check.whole, check.damage);
  if (!last && check.whole != bytes->size()) {
    return damaged(path, check.whole, "only the last segment can be torn by a crash");
  }
  segment.bytes = check.whole;
  segments_.push_back(std::move(segment));
  return last ? reopen_last(bytes->size(), notices) : Status();
}

// What the frame adds to the extents; why it cannot follow those before it, if it cannot.
std::string Journal::note(Segment& segment, const FrameHeader& frame) {
  if (frame.type == FrameHeader::Type::kChange) {
    if (frame.first == std::numeric_limits<std::uint64_t>::max()) return "the number of a change";
    if (last_change_ && frame.first != *last_change_ + 1) return "changes are out of order";
    last_change_ = frame.first;
    segment.changes = frame.first + 1;
    return {};
  }
  const Extent held{frame.first, frame.first + frame.length};
  if (held.end < held.begin) return "an offset is beyond all bounds";
  const auto [whole, begins] = extents_.try_emplace(frame.which, held);
  if (!begins) {
    if (held.begin < whole->second.end) return "bytes of a source are out of order";
    if (held.begin > whole->second.end) whole->second.begin = held.begin;
    whole->second.end = held.end;
  }
  segment.sources.try_emplace(frame.which, held).first->second.end = held.end;
  return {};
}

// Goes on behind the last whole frame. What a process wrote before it was killed is on disk then.
Status Journal::reopen_last(std::uint64_t size, std::vector<std::string>& notices) {
  const Segment& last = segments_.back();
  const auto failed = [&](const char* call) {
    return Status(Code::kIo, fmt::format("{}: {}: {}", last.path, call, strerror(errno)));
  };
  file_ = files_.open(last.path.c_str(), O_WRONLY | O_APPEND);
  if (file_ < 0) return failed("open");
  if (last.bytes != size) {
    if (files_.ftruncate(file_, last.bytes) != 0) return failed("ftruncate");
    notices.push_back(fmt::format("{}: cut back from {} to {} bytes; its last write was torn",
                                  last.path, size, last.bytes));
  }
  if (files_.fdatasync(file_) != 0) return failed("fdatasync");
  written_ = durable_ = last.bytes;
  return core::sync_directory(files_, directory_);
}

}  // namespace weir::engine
