// Splitter: reads sources one after the other and cuts them into blocks at record boundaries.
//
// Invariants
//  1. The records (bytes, line, byte offset) are the same for every block size and for every way in
//     which the source hands out its bytes.
//  2. A block holds bytes of one source only, ends after a newline or at the end of its source, and
//     has core::kBlockPadding zero bytes behind it. A final record without newline is a record; one
//     that an error cuts off is not, and error() says so. A kCsv record with a stray quote
//     (ingest/framing.h) stands last in its block.
//  3. A record longer than the limit is passed over whole, wherever the blocks fall, and listed in
//     Block::skipped; memory stays bounded by the limit, not by the record.
//  4. One UTF-8 BOM at the start of a source is stripped (byte offsets still count it).
// Thread safety: single-writer; call next() under the claim lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/block.h"
#include "weir/source.h"
#include "weir/status.h"

namespace weir::ingest {

enum class Framing {
  kLines,   // a newline ends a record
  kCsv,     // a newline outside double quotes ends a record
  kFrames,  // u32 little-endian length before each record (tuples pushed by a host)
};

struct SplitterOptions {
  std::size_t block_size = 512 << 10;      // REQUIRES: >= 4096
  std::size_t max_record_bytes = 1 << 20;  // limit on a record, whatever the block size
};

// Where reading goes on: sources before `source` are used up; of it, `offset` (decompressed) bytes
// are.
struct SplitterPosition {
  std::uint32_t source = 0;
  std::uint64_t offset = 0;
  bool given = false;                 // a block of it was given out, so lines go on
  std::optional<std::string> header;  // of a CSV source that has one, once it was read
  std::uint32_t header_lines = 0;
  // Hash of the last bytes before the offset, at most 4096; absent if they cannot be read again.
  std::optional<std::uint64_t> before;
  friend bool operator==(const SplitterPosition&, const SplitterPosition&) = default;
};

class Splitter {
 public:
  enum class Outcome { kBlock, kIdle, kEnd, kError };

  Splitter(std::vector<std::unique_ptr<Source>> sources, SplitterOptions options);
  ~Splitter();

  // The first bytes of the input for layout detection: whole records, at most `records` of them
  // that are not blank, or as many as the first non-empty source has. Waits through kIdle by
  // answering kIdle. Nothing is consumed: next() gives the same bytes again. A resumed one shows
  // what comes from there on. Call before the first next().
  Outcome peek(std::size_t records, std::string& bytes, std::uint32_t& source);
  // Framing must be set before the first next(); the default is kLines. With `header` the first
  // record of every source is taken out and given with its blocks as Block::header.
  void set_framing(Framing framing, bool header = false);

  // Begins where another splitter of the same sources (as they were before it read them) left off:
  // blocks that it gave out before its resume_point(), and those of this one, hold the same records
  // as if one had gone on. Sources are skipped here, which may take as long as reading them. An
  // error says what the source said, or that other bytes stand before the position now. REQUIRES:
  // before the first peek() and next().
  Status resume(const SplitterPosition& position);
  // Where the next block will start: everything before it was given out in blocks. Absent while a
  // record that is too long is being passed over.
  std::optional<SplitterPosition> resume_point() const;

  // Fills `block` with the next run of whole records. kBlock: it has bytes or skipped records.
  // kIdle: it has neither; a record that has come in part is kept for the next call.
  // kError: error() says what the source said; next() then goes on with the source after it.
  // A block of a seekable source may come without its bytes: load() it before it is parsed.
  Outcome next(core::Block& block);
  const Status& error() const;
  // Reads the bytes of a block that next() left pending. Thread-safe for different blocks: it needs
  // no claim lock, so that blocks are read side by side. An error says what the source said; the
  // block then holds the whole records that could be read.
  static Status load(core::Block& block);

  std::size_t sources() const;
  const std::string& source_name(std::uint32_t source) const;
  // Stored bytes taken so far over all sources, and their total if all sizes are known, for
  // progress. Thread-safe.
  std::uint64_t position() const;
  std::uint64_t total() const;  // 0 = unknown

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::ingest
