#include "replay/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/files.h"

namespace weir::replay {
namespace {

bool is_regular(int descriptor) {
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode);
}

Status cannot_write(const std::string& name, int error) {
  return {error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo,
          fmt::format("cannot write {}: {}", name, std::strerror(error))};
}

}  // namespace

OutputFile::~OutputFile() { (void)close(); }

Status OutputFile::open(const std::string& path) {
  std::signal(SIGPIPE, SIG_IGN);
  if (path.empty() || path == "-") {
    descriptor_ = STDOUT_FILENO;
    name_ = "standard output";
    return {};
  }
  name_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return cannot_write(name_, errno);
  owned_ = true;
  return {};
}

Status OutputFile::open_at(const std::string& path, std::uint64_t length) {
  if (path.empty() || path == "-") return open(path);
  std::signal(SIGPIPE, SIG_IGN);
  name_ = path;
  const int make = length == 0 ? O_CREAT : 0;
  descriptor_ = ::open(path.c_str(), O_WRONLY | make | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && errno == ENOENT && length != 0) {
    return {Code::kNotFound, fmt::format("{}: there is no such file, but {} bytes of it are to be "
                                         "gone on with; name the one that was written",
                                         name_, length)};
  }
  if (descriptor_ < 0) return cannot_write(name_, errno);
  owned_ = true;
  return is_regular(descriptor_) ? cut(length) : Status();
}

Status OutputFile::cut(std::uint64_t length) {
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  if (end < 0) return cannot_write(name_, errno);
  if (static_cast<std::uint64_t>(end) < length) {
    return {Code::kIo, fmt::format("{} holds {} bytes, but {} had been written when the snapshot "
                                   "was made: it was changed since",
                                   name_, end, length)};
  }
  const auto place = static_cast<off_t>(length);
  if (::ftruncate(descriptor_, place) != 0 || ::lseek(descriptor_, place, SEEK_SET) != place) {
    return cannot_write(name_, errno);
  }
  return {};
}

Status OutputFile::sync() {
  if (descriptor_ < 0 || !is_regular(descriptor_)) return {};
  if (::fdatasync(descriptor_) != 0) return cannot_write(name_, errno);
  if (!owned_ || std::exchange(name_synced_, true)) return {};
  std::string directory = std::filesystem::path(name_).parent_path();
  return core::sync_directory(core::Files::of_system(), directory.empty() ? "." : directory);
}

Status OutputFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (!std::exchange(owned_, false) || ::close(descriptor) == 0) return {};
  return cannot_write(name_, errno);
}

}  // namespace weir::replay
