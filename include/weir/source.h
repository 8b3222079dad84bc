// A source is where bytes come from: a file, a pipe, a socket, a host that pushes. The engine pulls
// from it; whoever reads holds the only right to read, so a source needs no lock of its own.
//
// Thread safety: single-writer (calls come from one thread at a time, not always the same one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/status.h"

namespace weir {

struct ReadResult {
  enum class State {
    kData,   // `bytes` > 0 were written
    kIdle,   // nothing now, ask again later (a pipe with a slow writer, a paced source)
    kEnd,    // nothing more, ever
    kError,  // `error` says why; the source ends here
  };
  State state = State::kEnd;
  std::size_t bytes = 0;
  Status error;
};

class Source {
 public:
  virtual ~Source() = default;
  // Fills a prefix of `into`. REQUIRES: !into.empty(). Waits a few milliseconds at most.
  virtual ReadResult read(std::span<char> into) = 0;
  // What to call it in messages, rejects and the ticks file-name rule: a path, or "stdin".
  virtual const std::string& name() const = 0;
  // Random access, for sources that have it once reading has begun (a plain file that stays as it
  // is): several threads may then read different places at once, outside of the one right to read.
  virtual bool seekable() const { return false; }
  // Fills a prefix of `into` from `offset` bytes behind where the source begins, what was skipped
  // included. Thread-safe, and moves nothing. kEnd: nothing stands there. REQUIRES: seekable().
  virtual ReadResult read_at(std::uint64_t /*offset*/, std::span<char> /*into*/) { return {}; }
  // The next read() goes on from there. REQUIRES: seekable().
  virtual void seek(std::uint64_t /*offset*/) {}
  // Whether another process that opens it will read the same bytes again, so that a run can be
  // resumed without a journal.
  virtual bool repeatable() const { return false; }
  // Drops so many bytes, before the first read(). An error if fewer are there. The default reads
  // and drops them.
  virtual Status skip(std::uint64_t bytes);
  // Number of bytes to come as stored (compressed) if known, for progress.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  // Stored (compressed) bytes taken so far, for progress.
  virtual std::uint64_t position() const { return 0; }
};

// Opens files, directories (their files in byte order of names), globs and "-" (standard input), in
// the order given. gzip (all members) and zstd (all frames) are recognised by magic number. Files
// are opened when first read, but checked here: a missing or unreadable one is an error that says
// what would be right, and so is a directory or glob without matches.
// Hidden files and sub-directories of a directory are not read.
Result<std::vector<std::unique_ptr<Source>>> open_sources(const std::vector<std::string>& inputs);

// The same for a source of one's own: its bytes as they are, or decompressed if the first of them
// are the magic number of gzip or zstd. Damaged or cut-off data, and anything after the last member
// or frame, is kError with the source's name, after the good bytes before it. What open_sources
// gives is wrapped already; the engine wraps nothing.
std::unique_ptr<Source> decompressed(std::unique_ptr<Source> source);

}  // namespace weir
