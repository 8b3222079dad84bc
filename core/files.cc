#include "core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace weir::core {
namespace {

Status failed(const char* call, int error) {
  return {Code::kIo, std::string(call) + ": " + std::strerror(error)};
}

// Closed whatever happens.
class Open {
 public:
  Open(Files& files, int file) : files_(files), file_(file) {}
  ~Open() {
    if (file_ >= 0) (void)files_.close(file_);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  int get() const { return file_; }
  int close() { return files_.close(std::exchange(file_, -1)); }

 private:
  Files& files_;
  int file_;
};

std::string in(const std::string& directory, const std::string& name) {
  return directory + "/" + name;
}

}  // namespace

int Files::open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags | O_CLOEXEC, mode);
}
int Files::close(int file) { return ::close(file); }
ssize_t Files::write(int file, const char* bytes, std::size_t n) { return ::write(file, bytes, n); }
ssize_t Files::writev(int file, const iovec* parts, int n) { return ::writev(file, parts, n); }
ssize_t Files::pread(int file, char* into, std::size_t n, std::uint64_t offset) {
  return ::pread(file, into, n, static_cast<off_t>(offset));
}
int Files::fdatasync(int file) { return ::fdatasync(file); }
int Files::fsync(int file) { return ::fsync(file); }
int Files::ftruncate(int file, std::uint64_t length) {
  return ::ftruncate(file, static_cast<off_t>(length));
}
int Files::rename(const char* from, const char* to) { return ::rename(from, to); }
int Files::unlink(const char* path) { return ::unlink(path); }
int Files::mkdir(const char* path, mode_t mode) { return ::mkdir(path, mode); }

Files& Files::of_system() {
  static Files files;
  return files;
}

Status write_all(Files& files, int file, std::string_view bytes, int* error) {
  while (!bytes.empty()) {
    const ssize_t n = files.write(file, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      if (error != nullptr) *error = errno;
      return failed("write", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status sync_directory(Files& files, const std::string& directory, int* error) {
  const auto fail = [&](const char* call, int code) {
    if (error != nullptr) *error = code;
    return failed(call, code).with(directory);
  };
  Open opened(files, files.open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  if (opened.get() < 0) return fail("open", errno);
  if (files.fsync(opened.get()) != 0) return fail("fsync", errno);
  return {};
}

Status write_new_file(Files& files, const std::string& directory, const std::string& name,
                      const std::vector<std::string_view>& parts, int* error) {
  const std::string temporary = in(directory, "." + name + ".tmp");
  const auto give_up = [&](const char* call, int code) {
    if (error != nullptr) *error = code;
    (void)files.unlink(temporary.c_str());
    return failed(call, code).with(in(directory, name));
  };
  Open opened(files, files.open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC));
  if (opened.get() < 0) return give_up("open", errno);
  for (const std::string_view part : parts) {
    int code = 0;
    if (!write_all(files, opened.get(), part, &code).ok()) return give_up("write", code);
  }
  if (files.fsync(opened.get()) != 0) return give_up("fsync", errno);
  if (opened.close() != 0) return give_up("close", errno);
  if (files.rename(temporary.c_str(), in(directory, name).c_str()) != 0) {
    return give_up("rename", errno);
  }
  return sync_directory(files, directory, error);
}

Result<std::string> read_whole(Files& files, const std::string& path) {
  Open opened(files, files.open(path.c_str(), O_RDONLY));
  if (opened.get() < 0) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kIo;
    return Status(code, path + ": open: " + std::strerror(errno));
  }
  std::string bytes;
  std::string chunk(std::size_t{1} << 20, '\0');
  for (;;) {
    const ssize_t n = files.pread(opened.get(), chunk.data(), chunk.size(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read", errno).with(path);
    if (n == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace weir::core
