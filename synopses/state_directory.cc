#include "synopses/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

namespace weir::synopses {
namespace {

namespace fs = std::filesystem;

Status io_error(const char* what, const fs::path& path, const std::string& why) {
  return {Code::kIo, fmt::format("cannot {} {}: {}", what, path.string(), why)};
}
Status io_error(const char* what, const fs::path& path, int error) {
  return io_error(what, path, std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

// Removed again unless it was renamed.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const fs::path& path() const { return path_; }
  void renamed() { path_.clear(); }

 private:
  fs::path path_;
};

// Hidden, so that globs and confined() pass it over; random, so that it is unique among processes
// and machines that share the directory.
fs::path temporary_in(const fs::path& directory) {
  std::random_device random;
  return directory / fmt::format(".weir-{:08x}{:08x}.tmp", random(), random());
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The file that a write to `path` replaces: behind symlinks. `mode` is its permissions.
Result<fs::path> target_of(const fs::path& path, std::optional<mode_t>& mode) {
  fs::path target = path;
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    target = fs::canonical(path, error);
    if (error) return io_error("write", path, error.message());
  }
  struct stat there {};
  if (::stat(target.c_str(), &there) != 0) {
    if (errno != ENOENT) return io_error("write", path, errno);
    return target;
  }
  if (!S_ISREG(there.st_mode)) return io_error("write", path, "it is no regular file");
  mode = there.st_mode & 07777;
  return target;
}

bool write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool sync_directory(const fs::path& directory) {
  const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems know no fsync of directories; there a rename is as safe as it gets.
  return opened.open() && (::fsync(opened.get()) == 0 || errno == EINVAL);
}

Status not_confined(std::string_view relative, std::string_view why, std::string_view what) {
  return {Code::kInvalid, fmt::format("path \"{}\" {}; it names a file inside the {} directory",
                                      relative, why, what)};
}

bool is_within(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

}  // namespace

Status write_file_atomically(const fs::path& path, std::string_view bytes) {
  std::optional<mode_t> mode;
  const Result<fs::path> target = target_of(path, mode);
  if (!target.ok()) return target.status();
  const fs::path directory = directory_of(*target);
  fs::path name = temporary_in(directory);
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.open()) return io_error("write", path, errno);
  Temporary temporary(std::move(name));
  if (mode && ::fchmod(file.get(), *mode) != 0) return io_error("write", path, errno);
  // Before the rename, or a power failure could leave the new name with no bytes behind it.
  if (!write_whole(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close() ||
      ::rename(temporary.path().c_str(), target->c_str()) != 0) {
    return io_error("write", path, errno);
  }
  temporary.renamed();
  if (!sync_directory(directory)) return io_error("write", path, errno);
  return {};
}

Result<std::string> read_state_file(const fs::path& path) {
  // Non-blocking: opening a FIFO must not wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.open()) {
    const int error = errno;
    const Status status = io_error("read", path, error);
    return error == ENOENT ? Status(Code::kNotFound, status.message()) : status;
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return io_error("read", path, errno);
  if (!S_ISREG(about.st_mode)) return io_error("read", path, "it is no regular file");
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > kMaxStateBytes) {
    return io_error("read", path,
                    fmt::format("its {} bytes are more than a state file can have", size));
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t n = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("read", path, errno);
    if (n == 0) break;  // it shrank; the checksum will tell
    filled += static_cast<std::size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

Result<fs::path> confined(const fs::path& directory, std::string_view relative,
                          std::string_view what) {
  if (directory.empty()) {
    return Status(Code::kInvalid, "no state directory is set; give --state-dir DIR");
  }
  const auto refuse = [&](std::string_view why) { return not_confined(relative, why, what); };
  if (relative.empty()) return refuse("is empty");
  if (relative.find('\0') != std::string_view::npos) return refuse("holds a NUL");
  const fs::path given(relative);
  if (given.is_absolute()) return refuse("is absolute");
  if (!given.has_filename()) return refuse("ends in a slash");
  std::error_code error;
  // The first save makes it; nothing inside can be a symlink before.
  const fs::path root = fs::weakly_canonical(directory, error);
  if (error) return io_error("use the directory", directory, error.message());
  fs::path reached = root;
  for (const fs::path& name : given) {
    if (name == "..") return refuse("holds \"..\"");
    if (name == ".") continue;
    if (name.native().starts_with('.')) {
      return refuse("holds a name that begins with a dot");
    }
    reached /= name;
    const fs::file_status status = fs::symlink_status(reached, error);
    if (status.type() == fs::file_type::none) {
      return io_error("use", reached, error.message());
    }
    if (!fs::is_symlink(status)) continue;
    const fs::path behind = fs::canonical(reached, error);
    if (error) return refuse("passes a symlink that leads nowhere");
    if (!is_within(behind, root)) return refuse("passes a symlink that leads out");
    reached = behind;
  }
  return reached;
}

Status save_in(const fs::path& directory, std::string_view relative, std::string_view bytes) {
  std::error_code error;
  if (!directory.empty()) {
    fs::create_directories(directory, error);
    if (error) return io_error("make the state directory", directory, error.message());
  }
  const Result<fs::path> path = confined(directory, relative);
  if (!path.ok()) return path.status();
  fs::create_directories(path->parent_path(), error);
  if (error) return io_error("make the directory", path->parent_path(), error.message());
  return write_file_atomically(*path, bytes);
}

Result<std::string> load_from(const fs::path& directory, std::string_view relative) {
  const Result<fs::path> path = confined(directory, relative);
  if (!path.ok()) return path.status();
  return read_state_file(*path);
}

}  // namespace weir::synopses
