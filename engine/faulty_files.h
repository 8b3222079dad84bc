// FaultyFiles: the system calls of core/files.h, some of which fail as a fault plan says.
//
// Invariants
//  1. Which call fails depends on the calls before it, not on time.
// Thread safety: thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "weir/faults.h"

namespace weir::engine {

class FaultyFiles final : public core::Files {
 public:
  // `files` outlives it.
  explicit FaultyFiles(std::shared_ptr<const FaultPlan> plan,
                       core::Files& files = core::Files::of_system());

  int open(const char* path, int flags, mode_t mode = 0666) override;
  int close(int file) override;
  ssize_t write(int file, const char* bytes, std::size_t n) override;
  ssize_t writev(int file, const iovec* parts, int n) override;
  ssize_t pread(int file, char* into, std::size_t n, std::uint64_t offset) override;
  int fdatasync(int file) override;
  int fsync(int file) override;
  int ftruncate(int file, std::uint64_t length) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;
  int mkdir(const char* path, mode_t mode = 0777) override;

 private:
  using Kind = FaultPlan::Fault::Kind;
  struct Opened {
    std::string name;
    std::uint64_t written = 0;  // of what was opened for writing: where the next write goes
    std::vector<std::uint64_t> flips;
  };

  // The errno that a call is to fail with, or 0. Counts the call.
  int failure(std::string_view call, const std::string& name);
  // Whether this call is one of the fault's. Counts it.
  bool hits(std::size_t fault, std::string_view call, const std::string& name);
  int of_path(std::string_view call, const char* path);
  int sync(int file, int (core::Files::*call)(int));

  const std::shared_ptr<const FaultPlan> plan_;
  core::Files& files_;
  std::mutex mutex_;                  // of what follows
  std::vector<std::uint64_t> calls_;  // by fault: calls that it may be about
  std::map<int, Opened> opened_;
};

}  // namespace weir::engine
