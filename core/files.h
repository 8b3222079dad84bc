// Files: the system calls of everything that must survive a crash (snapshots, journal, outputs), in
// one place, so that a test or a fault plan can make each of them fail; and the few things that are
// built from them.
//
// Thread safety: thread-safe.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/status.h"

namespace weir::core {

// As the system calls of the same names: -1 and errno.
class Files {
 public:
  virtual ~Files() = default;
  virtual int open(const char* path, int flags, mode_t mode = 0666);
  virtual int close(int file);
  virtual ssize_t write(int file, const char* bytes, std::size_t n);
  virtual ssize_t writev(int file, const iovec* parts, int n);
  virtual ssize_t pread(int file, char* into, std::size_t n, std::uint64_t offset);
  virtual int fdatasync(int file);
  virtual int fsync(int file);
  virtual int ftruncate(int file, std::uint64_t length);
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);
  virtual int mkdir(const char* path, mode_t mode = 0777);

  // Those of the system. Lives for ever; has no state.
  static Files& of_system();
};

// All of it, whatever single calls take. Code::kIo names what failed and why ("write: No space left
// on device"); `error` then says which errno.
Status write_all(Files& files, int file, std::string_view bytes, int* error = nullptr);
// So that names that were made, changed or taken away outlive a power failure.
Status sync_directory(Files& files, const std::string& directory, int* error = nullptr);
// Writes `parts` one behind the other to a temporary in the directory, syncs, renames it to `name`,
// syncs the directory. After an error the old file, if any, stands and no temporary is left (if
// that can be had); but for an error of the last sync: then the new one is there, and may not
// outlive a power failure.
Status write_new_file(Files& files, const std::string& directory, const std::string& name,
                      const std::vector<std::string_view>& parts, int* error = nullptr);
Result<std::string> read_whole(Files& files, const std::string& path);

}  // namespace weir::core
