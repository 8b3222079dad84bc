// LineWriter: a file (or standard output) that gets one line after the other, complete or with an
// error that names it.
//
// Invariants
//  1. After a failed write nothing more is written, and close() says what failed.
//  2. A reader that went away (`weir … | head`, of a pipe by name too) is no error: lines are then
//     passed over and reader_gone() is true.
// Thread safety: thread-safe, but for open(), which comes before all else, and close(), which comes
// after any sync().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "replay/output_file.h"
#include "weir/status.h"

namespace weir::replay {

class LineWriter {
 public:
  LineWriter() = default;
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // As OutputFile::open(). REQUIRES: not open.
  Status open(const std::string& path);
  // As OutputFile::open_at(): lines follow the first `length` bytes. REQUIRES: not open.
  Status open_at(const std::string& path, std::uint64_t length);
  bool is_open() const;
  const std::string& name() const { return file_.name(); }

  void write(std::string_view line);  // adds the newline
  void flush();
  // How long the file is when all that it was given has been written, whether it has been or not.
  std::uint64_t length() const;
  // Writes all that it was given, and sees to it that it outlives a power failure where that can
  // be. A reader that is gone is no error.
  Status sync();
  // Flushes and closes; the status names the file and what failed. A second call gives ok.
  Status close();
  // True when further lines go nowhere, by an error or a reader that is gone.
  bool stopped() const;
  bool reader_gone() const;

 private:
  void flush_locked();
  bool stopped_locked() const { return reader_gone_ || !error_.ok(); }

  mutable std::mutex mutex_;
  OutputFile file_;
  bool reader_gone_ = false;
  Status error_;  // the first failure
  std::uint64_t length_ = 0;
  std::string buffer_;
};

// The whole of a small file, or standard input for "-". Errors name it.
Result<std::string> read_text(const std::string& path);

}  // namespace weir::replay
