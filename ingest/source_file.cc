#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ingest/source.h"

namespace weir::ingest {
namespace {

// Long enough that a slow writer costs no processor time, short enough that a stop is felt at once.
constexpr int kPollMillis = 5;
constexpr int kPipeBytes = 1 << 20;  // what the system allows everybody

ReadResult io_error(const std::string& name, const char* what, int error) {
  return {.state = ReadResult::State::kError,
          .bytes = 0,
          .error = Status(Code::kIo, fmt::format("{}: {}: {}", name, what, std::strerror(error)))};
}

class FileSource final : public Source {
 public:
  FileSource(std::string name, int descriptor, std::optional<std::uint64_t> size)
      : name_(std::move(name)), descriptor_(descriptor), owned_(descriptor < 0), size_(size) {}
  ~FileSource() override { close(); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  ReadResult read(std::span<char> into) override {
    if (ended_) return {};
    if (!prepared_) {
      ReadResult failure = prepare();
      if (failure.state == ReadResult::State::kError) return finish(std::move(failure));
    }
    if (polled_ && !readable()) return {.state = ReadResult::State::kIdle, .bytes = 0, .error = {}};
    for (;;) {
      const ssize_t n = seekable() ? ::pread(descriptor_, into.data(), into.size(), base_ + at())
                                   : ::read(descriptor_, into.data(), into.size());
      if (n > 0) {
        position_ += static_cast<std::uint64_t>(n);
        return {
            .state = ReadResult::State::kData, .bytes = static_cast<std::size_t>(n), .error = {}};
      }
      if (n == 0) return finish({});
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return {.state = ReadResult::State::kIdle, .bytes = 0, .error = {}};
      }
      return finish(io_error(name_, "cannot be read further", errno));
    }
  }
  bool seekable() const override { return prepared_ && !polled_; }
  ReadResult read_at(std::uint64_t offset, std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t n = ::pread(descriptor_, into.data() + filled, into.size() - filled,
                                base_ + static_cast<off_t>(offset + filled));
      if (n == 0) break;
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        if (filled != 0) break;  // the next call meets the error again
        return io_error(name_, "cannot be read further", errno);
      }
      filled += static_cast<std::size_t>(n);
    }
    if (filled == 0) return {};
    return {.state = ReadResult::State::kData, .bytes = filled, .error = {}};
  }
  void seek(std::uint64_t offset) override {
    position_ = offset;
    ended_ = false;
  }
  bool repeatable() const override {
    if (prepared_) return !polled_;
    struct stat info {};
    const int outcome = owned_ ? ::stat(name_.c_str(), &info) : ::fstat(descriptor_, &info);
    return outcome == 0 && S_ISREG(info.st_mode);
  }
  Status skip(std::uint64_t bytes) override {
    if (!prepared_) {
      ReadResult failure = prepare();
      if (failure.state == ReadResult::State::kError) return finish(std::move(failure)).error;
    }
    if (polled_) return Source::skip(bytes);
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0) {
      return io_error(name_, "cannot be examined", errno).error;
    }
    const auto has = static_cast<std::uint64_t>(std::max<off_t>(info.st_size - base_, 0));
    if (has < position_ || bytes > has - position_) {
      return too_short(name_, has, position_ + bytes);
    }
    position_ += bytes;
    return {};
  }
  const std::string& name() const override { return name_; }
  std::optional<std::uint64_t> size() const override { return size_; }
  std::uint64_t position() const override { return position_; }

 private:
  // Opens the file if need be; the answer is kError or kEnd ("no error").
  ReadResult prepare() {
    if (owned_) {
      // Non-blocking, so that a named pipe without a writer yet is idle instead of a hang.
      descriptor_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
      if (descriptor_ < 0) return io_error(name_, "cannot be opened", errno);
    }
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0) return io_error(name_, "cannot be examined", errno);
    polled_ = !S_ISREG(info.st_mode);
    if (!polled_) {
      ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
      // A descriptor that somebody gave may stand in the middle of its file.
      base_ = std::max<off_t>(::lseek(descriptor_, 0, SEEK_CUR), 0);
    } else if (S_ISFIFO(info.st_mode)) {
      // Fewer switches between writer and reader; a refusal costs nothing.
      ::fcntl(descriptor_, F_SETPIPE_SZ, kPipeBytes);
    }
    prepared_ = true;
    return {};
  }
  // Only what poll() reports may be read: a named pipe that nobody has opened for writing yet would
  // read as its end.
  bool readable() const {
    pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, kPollMillis) > 0;
  }
  ReadResult finish(ReadResult result) {
    ended_ = true;
    // A regular file stays open while others may still read_at() it.
    if (!seekable()) close();
    return result;
  }
  off_t at() const { return static_cast<off_t>(position_); }
  void close() {
    if (owned_ && descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

  std::string name_;
  int descriptor_;
  bool owned_;
  bool prepared_ = false;
  bool polled_ = false;
  bool ended_ = false;
  off_t base_ = 0;  // where reading began
  std::optional<std::uint64_t> size_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<Source> file_source(std::string path, std::optional<std::uint64_t> size) {
  return std::make_unique<FileSource>(std::move(path), -1, size);
}

std::unique_ptr<Source> descriptor_source(int descriptor, std::string name) {
  std::optional<std::uint64_t> size;
  struct stat info {};
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) {
    const off_t at = ::lseek(descriptor, 0, SEEK_CUR);
    if (at >= 0 && at <= info.st_size) size = static_cast<std::uint64_t>(info.st_size - at);
  }
  return std::make_unique<FileSource>(std::move(name), descriptor, size);
}

}  // namespace weir::ingest
