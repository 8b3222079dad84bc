#include "replay/line_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "replay/write_all.h"

namespace weir::replay {
namespace {

constexpr std::size_t kBuffer = 256 << 10;
// No configuration, mapping or requests file is near this; a data file given by mistake is.
constexpr std::size_t kMaxText = 256 << 20;

Status cannot_read(const std::string& name, int error) {
  return {error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo,
          fmt::format("cannot read {}: {}", name, std::strerror(error))};
}

}  // namespace

LineWriter::~LineWriter() { (void)close(); }

Status LineWriter::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return file_.open(path);
}

Status LineWriter::open_at(const std::string& path, std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  length_ = length;
  return file_.open_at(path, length);
}

bool LineWriter::is_open() const {
  const std::lock_guard lock(mutex_);
  return file_.descriptor() >= 0;
}

void LineWriter::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (file_.descriptor() < 0) return;
  length_ += line.size() + 1;
  if (stopped_locked()) return;
  buffer_.append(line);
  buffer_.push_back('\n');
  if (buffer_.size() >= kBuffer) flush_locked();
}

void LineWriter::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void LineWriter::flush_locked() {
  if (!stopped_locked()) {
    error_ = write_all(file_.descriptor(), buffer_, reader_gone_);
    if (!error_.ok()) error_ = error_.with("cannot write " + file_.name());
  }
  buffer_.clear();
}

std::uint64_t LineWriter::length() const {
  const std::lock_guard lock(mutex_);
  return length_;
}

Status LineWriter::sync() {
  {
    const std::lock_guard lock(mutex_);
    if (file_.descriptor() < 0) return {};
    flush_locked();
    if (stopped_locked()) return error_;
  }
  // Whoever writes need not wait for the disk.
  return file_.sync();
}

Status LineWriter::close() {
  const std::lock_guard lock(mutex_);
  if (file_.descriptor() < 0) return {};
  flush_locked();
  const Status closed = file_.close();
  return error_.ok() ? closed : error_;
}

bool LineWriter::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_locked();
}

bool LineWriter::reader_gone() const {
  const std::lock_guard lock(mutex_);
  return reader_gone_;
}

Result<std::string> read_text(const std::string& path) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(name, errno);
  std::string text;
  std::array<char, 1 << 16> chunk;
  Status status;
  for (;;) {
    const ssize_t n = ::read(descriptor, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) status = cannot_read(name, errno);
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
