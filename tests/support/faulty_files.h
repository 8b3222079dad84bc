// FaultyFiles: the system's files, of which a test makes single calls fail, fills the disk, or cuts
// the power. Thread-safe.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "core/files.h"

namespace weir::tests {

class FaultyFiles final : public core::Files {
 public:
  enum class Call {
    kOpen,
    kClose,
    kWrite,  // write and writev
    kPread,
    kFdatasync,
    kFsync,
    kFtruncate,
    kRename,
    kUnlink,
    kMkdir,
    kCount,
  };
  // Of calls of a kind from now on, the n-th (from 1) fails; error 0: it writes but one byte.
  void fail(Call call, std::uint64_t nth, int error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    call_ = call;
    nth_ = nth;
    error_ = error;
  }
  // Room for so many more bytes; then ENOSPC, after what still fits.
  void set_room(std::uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    room_ = bytes;
  }
  std::uint64_t count(Call call) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_[static_cast<std::size_t>(call)];
  }
  bool has_failed() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failed_;
  }
  // Takes away all that was not synced. REQUIRES: whoever used the files is gone.
  void lose_unsynced() {
    for (const auto& [path, file] : written_) {
      std::error_code ignored;
      if (!file.named) {
        std::filesystem::remove(path, ignored);
      } else if (std::filesystem::file_size(path, ignored) > file.synced && !ignored) {
        std::filesystem::resize_file(path, file.synced, ignored);
      }
    }
    written_.clear();
  }

  int open(const char* path, int flags, mode_t mode = 0666) override {
    if (fails(Call::kOpen)) return -1;
    struct stat info {};
    const bool was_there = ::stat(path, &info) == 0;
    const int file = Files::open(path, flags, mode);
    if (file < 0) return file;
    const std::lock_guard<std::mutex> lock(mutex_);
    paths_[file] = path;
    if ((flags & (O_WRONLY | O_RDWR)) != 0) {
      written_.try_emplace(path, Written{static_cast<std::uint64_t>(info.st_size), was_there});
    }
    return file;
  }
  int close(int file) override {
    // Closed all the same, as by the system.
    const bool failing = fails(Call::kClose);
    const int outcome = Files::close(file);
    if (failing) errno = EIO;
    return failing ? -1 : outcome;
  }
  ssize_t write(int file, const char* bytes, std::size_t n) override {
    const iovec part{const_cast<char*>(bytes), n};
    return writev(file, &part, 1);
  }
  ssize_t writev(int file, const iovec* parts, int n) override {
    bool one_byte = false;
    if (fails(Call::kWrite, &one_byte)) return -1;
    std::string bytes;
    for (int i = 0; i < n; ++i) {
      bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    }
    if (one_byte) bytes.resize(std::min<std::size_t>(bytes.size(), 1));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (room_ == 0 && !bytes.empty()) {
      errno = ENOSPC;
      return -1;
    }
    bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), room_)));
    if (room_ != kUnbounded) room_ -= bytes.size();
    return Files::write(file, bytes.data(), bytes.size());
  }
  ssize_t pread(int file, char* into, std::size_t n, std::uint64_t offset) override {
    return fails(Call::kPread) ? -1 : Files::pread(file, into, n, offset);
  }
  int fdatasync(int file) override { return fails(Call::kFdatasync) ? -1 : synced(file); }
  int fsync(int file) override { return fails(Call::kFsync) ? -1 : synced(file); }
  int ftruncate(int file, std::uint64_t length) override {
    return fails(Call::kFtruncate) ? -1 : Files::ftruncate(file, length);
  }
  int rename(const char* from, const char* to) override {
    return fails(Call::kRename) ? -1 : Files::rename(from, to);
  }
  int unlink(const char* path) override { return fails(Call::kUnlink) ? -1 : Files::unlink(path); }
  int mkdir(const char* path, mode_t mode = 0777) override {
    return fails(Call::kMkdir) ? -1 : Files::mkdir(path, mode);
  }

 private:
  static constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();
  struct Written {
    std::uint64_t synced = 0;
    bool named = false;  // its name is on disk
  };

  bool fails(Call call, bool* one_byte = nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[static_cast<std::size_t>(call)];
    if (call != call_ || nth_ == 0 || --nth_ != 0) return false;
    failed_ = true;
    if (error_ == 0 && one_byte != nullptr) {
      *one_byte = true;
      return false;
    }
    errno = error_;
    return true;
  }
  // The system is not asked: nobody cuts its power.
  int synced(int file) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string& path = paths_[file];
    struct stat info {};
    if (::fstat(file, &info) != 0) return -1;
    if (S_ISDIR(info.st_mode)) {
      for (auto& [name, written] : written_) {
        if (std::filesystem::path(name).parent_path() == path) written.named = true;
      }
    } else if (const auto written = written_.find(path); written != written_.end()) {
      written->second.synced = static_cast<std::uint64_t>(info.st_size);
    }
    return 0;
  }

  mutable std::mutex mutex_;
  Call call_ = Call::kCount;
  std::uint64_t nth_ = 0;
  int error_ = 0;
  bool failed_ = false;
  std::uint64_t room_ = kUnbounded;
  std::array<std::uint64_t, static_cast<std::size_t>(Call::kCount)> counts_{};
  std::map<int, std::string> paths_;
  std::map<std::string, Written> written_;
};

}  // namespace weir::tests
