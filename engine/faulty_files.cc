#include "engine/faulty_files.h"

#include <fcntl.h>

#include <cerrno>

namespace weir::engine {
namespace {

// What a plan knows the file by: its name; segments of the journal are told by their folder.
std::string name_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == path.npos) return std::string(path);
  constexpr std::string_view kJournal = "journal";
  const std::string_view folder = path.substr(0, slash);
  const bool segment = folder == kJournal || folder.ends_with("/journal");
  return std::string(path.substr(segment ? slash - kJournal.size() : slash + 1));
}

bool of_file(const FaultPlan::Fault& fault, const std::string& name) {
  return fault.file == "*" || name.find(fault.file) != std::string::npos;
}

int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

FaultyFiles::FaultyFiles(std::shared_ptr<const FaultPlan> plan, core::Files& files)
    : plan_(std::move(plan)), files_(files), calls_(plan_->faults.size()) {}

bool FaultyFiles::hits(std::size_t i, std::string_view call, const std::string& name) {
  const FaultPlan::Fault& fault = plan_->faults[i];
  if (fault.call != call || !of_file(fault, name)) return false;
  const std::uint64_t n = ++calls_[i];
  return n >= fault.nth && (fault.times == 0 || n - fault.nth < fault.times);
}

int FaultyFiles::failure(std::string_view call, const std::string& name) {
  int error = 0;
  for (std::size_t i = 0; i < plan_->faults.size(); ++i) {
    const Kind kind = plan_->faults[i].kind;
    if (kind != Kind::kNoSpace && kind != Kind::kIoError) continue;
    // Each counts every call, whichever of them is the one that fails it.
    if (hits(i, call, name) && error == 0) error = kind == Kind::kNoSpace ? ENOSPC : EIO;
  }
  return error;
}

int FaultyFiles::open(const char* path, int flags, mode_t mode) {
  const std::lock_guard lock(mutex_);
  Opened opened{name_of(path), 0, {}};
  if (const int error = failure("open", opened.name); error != 0) return failed(error);
  const int file = files_.open(path, flags, mode);
  if (file < 0) return file;
  if ((flags & O_ACCMODE) != O_RDONLY) {
    for (std::size_t i = 0; i < plan_->faults.size(); ++i) {
      const FaultPlan::Fault& fault = plan_->faults[i];
      if (fault.kind != Kind::kFlip || !of_file(fault, opened.name)) continue;
      if (++calls_[i] == fault.nth) opened.flips.push_back(fault.at_byte);
    }
  }
  opened_.insert_or_assign(file, std::move(opened));
  return file;
}

// Closed all the same, as by the system.
int FaultyFiles::close(int file) {
  int error = 0;
  {
    const std::lock_guard lock(mutex_);
    error = failure("close", opened_[file].name);
    opened_.erase(file);
  }
  const int outcome = files_.close(file);
  return error != 0 ? failed(error) : outcome;
}

ssize_t FaultyFiles::write(int file, const char* bytes, std::size_t n) {
  std::string changed;
  {
    const std::lock_guard lock(mutex_);
    Opened& opened = opened_[file];
    if (const int error = failure("write", opened.name); error != 0) return failed(error);
    for (std::size_t i = 0; i < plan_->faults.size(); ++i) {
      if (plan_->faults[i].kind != Kind::kShortWrite) continue;
      if (hits(i, "write", opened.name) && n > 1) n /= 2;
    }
    for (const std::uint64_t at : opened.flips) {
      if (at < opened.written || at - opened.written >= n) continue;
      if (changed.empty()) changed.assign(bytes, n);
      changed[at - opened.written] ^= 1;
    }
  }
  const ssize_t wrote = files_.write(file, changed.empty() ? bytes : changed.data(), n);
  if (wrote > 0) {
    const std::lock_guard lock(mutex_);
    opened_[file].written += static_cast<std::uint64_t>(wrote);
  }
  return wrote;
}

ssize_t FaultyFiles::writev(int file, const iovec* parts, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) {
    all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  return write(file, all.data(), all.size());
}

ssize_t FaultyFiles::pread(int file, char* into, std::size_t n, std::uint64_t offset) {
  {
    const std::lock_guard lock(mutex_);
    if (const int error = failure("read", opened_[file].name); error != 0) return failed(error);
  }
  return files_.pread(file, into, n, offset);
}

int FaultyFiles::sync(int file, int (core::Files::*call)(int)) {
  {
    const std::lock_guard lock(mutex_);
    if (const int error = failure("fsync", opened_[file].name); error != 0) return failed(error);
  }
  return (files_.*call)(file);
}
int FaultyFiles::fdatasync(int file) { return sync(file, &core::Files::fdatasync); }
int FaultyFiles::fsync(int file) { return sync(file, &core::Files::fsync); }

int FaultyFiles::ftruncate(int file, std::uint64_t length) {
  {
    const std::lock_guard lock(mutex_);
    if (const int error = failure("truncate", opened_[file].name); error != 0) return failed(error);
  }
  return files_.ftruncate(file, length);
}

int FaultyFiles::of_path(std::string_view call, const char* path) {
  const std::lock_guard lock(mutex_);
  return failure(call, name_of(path));
}

int FaultyFiles::rename(const char* from, const char* to) {
  if (const int error = of_path("rename", to); error != 0) return failed(error);
  return files_.rename(from, to);
}
int FaultyFiles::unlink(const char* path) {
  if (const int error = of_path("unlink", path); error != 0) return failed(error);
  return files_.unlink(path);
}
int FaultyFiles::mkdir(const char* path, mode_t mode) {
  if (const int error = of_path("mkdir", path); error != 0) return failed(error);
  return files_.mkdir(path, mode);
}

}  // namespace weir::engine
