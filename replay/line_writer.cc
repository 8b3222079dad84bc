#include "replay/line_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace weir::replay {
namespace {

constexpr std::size_t kBuffer = 256 << 10;
// No configuration, mapping or requests file is near this; a data file given by mistake is.
constexpr std::size_t kMaxText = 256 << 20;

Status system_error(const std::string& doing, const std::string& name, int error) {
  return {error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo,
          fmt::format("cannot {} {}: {}", doing, name, std::strerror(error))};
}

}  // namespace

LineWriter::~LineWriter() { (void)close(); }

Status LineWriter::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    name_ = "standard output";
    return {};
  }
  name_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return system_error("write", name_, errno);
  owned_ = true;
  return {};
}

void LineWriter::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (error_ != 0 || descriptor_ < 0) return;
  buffer_.append(line);
  buffer_.push_back('\n');
  if (buffer_.size() >= kBuffer) flush_locked();
}

void LineWriter::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void LineWriter::flush_locked() {
  std::size_t done = 0;
  while (done < buffer_.size() && error_ == 0) {
    const ssize_t n = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      error_ = errno;
      reader_gone_ = error_ == EPIPE && descriptor_ == STDOUT_FILENO;
    }
  }
  buffer_.clear();
}

Status LineWriter::close() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0) return {};
  flush_locked();
  if (owned_ && ::close(descriptor_) != 0 && error_ == 0) error_ = errno;
  descriptor_ = -1;
  if (error_ == 0 || reader_gone_) return {};
  return system_error("write", name_, error_);
}

bool LineWriter::stopped() const {
  const std::lock_guard lock(mutex_);
  return error_ != 0;
}

bool LineWriter::reader_gone() const {
  const std::lock_guard lock(mutex_);
  return reader_gone_;
}

Result<std::string> read_text(const std::string& path) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error("read", name, errno);
  std::string text;
  std::array<char, 1 << 16> chunk;
  Status status;
  for (;;) {
    const ssize_t n = ::read(descriptor, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) status = system_error("read", name, errno);
    if (n <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(n));
    if (text.size() > kMaxText) {
      status = {Code::kInvalid,
                fmt::format("{} is larger than {} MiB; is it a data file?", name, kMaxText >> 20)};
      break;
    }
  }
  if (!standard) ::close(descriptor);
  if (!status.ok()) return status;
  return text;
}

}  // namespace weir::replay
