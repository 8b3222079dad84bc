// Journal: what cannot be asked for again, on disk before it has an effect: bytes of sources as
// they were read, and live changes with the place they came to lie (docs/adr/0006,
// docs/formats/journal.md).
//
// It is a row of segments, files of DIR/journal/, and only grows at its end and is cut at its
// beginning. A thread of its own syncs what was appended, as much at once as has come meanwhile.
//
// Invariants
//  1. A segment begins only when the one before it is on disk whole, so a crash tears the last one
//     alone, and its torn end was never called durable.
//  2. What is appended is there whole or not at all, also when the disk is full.
//  3. A failed sync is never tried again, since the system may have forgotten what it did not
//  write:
//     the journal then has failed for good.
//  4. What is held of a source goes on without a gap from begin to end of its extent.
// Thread safety: thread-safe, but for append and read, each of which one thread at a time may call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/files.h"
#include "engine/journal_segment.h"
#include "engine/snapshot.h"
#include "weir/source.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir::engine {

struct JournalOptions {
  std::size_t segment_bytes = std::size_t{256} << 20;  // a new one is begun when that is reached
  std::size_t max_unsynced = std::size_t{64} << 20;    // then append() says kWait
  // That it waits for space, and that it goes on. From a thread that appends, one call at a time;
  // must not call back.
  std::function<void(const std::string&)> notice;
};

class Journal {
 public:
  // A live change: one unit, which took effect right behind the record before `position`.
  struct Change {
    std::uint64_t number = 0;
    RecordPosition position{};
    std::uint32_t columns = 0;  // field columns that were known there
    std::string text;
    friend bool operator==(const Change&, const Change&) = default;
  };
  // Bytes of a source, decompressed, from its beginning.
  struct Extent {
    std::uint64_t begin = 0, end = 0;
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  enum class Appended {
    kWritten,
    kFull,  // the disk is; nothing was kept, try again
    kWait,  // too much is not synced yet; nothing was kept, try again
  };

  // Makes DIR/journal/ or reads what is there. A torn end is cut back, which `notices` tell; other
  // damage is an error that says where.
  static Result<std::unique_ptr<Journal>> open(core::Files& files, const std::string& directory,
                                               JournalOptions options,
                                               std::vector<std::string>& notices);
  // Whether DIR/journal/ holds anything.
  static bool any(const std::string& directory);
  // Syncs what was appended.
  ~Journal();

  // All that it held when it was opened, in order.
  const std::vector<Change>& changes() const { return changes_; }
  Extent extent(std::uint32_t source) const;
  // The last source that it held something of when it was opened; 0: none, or the first.
  std::uint32_t last_source() const { return opened_.empty() ? 0 : opened_.rbegin()->first; }
  // Fills a prefix of `into` with what was held from `offset` on when it was opened. kEnd: no more
  // of that is.
  ReadResult read(std::uint32_t source, std::uint64_t offset, std::span<char> into);

  // The process may be killed once it is written; the machine, once durable() says so. Bytes behind
  // the extent's end begin it anew. A bad status is the end of the run. REQUIRES: offset is not
  // before the extent's end.
  Result<Appended> append(std::uint32_t source, std::uint64_t offset, std::string_view bytes);
  // Durable when it returns. After an error nothing was kept, unless failure() says that it was the
  // end: then the change may be there or not when the journal is opened again.
  // REQUIRES: change.number is behind those that were appended before.
  Status append_change(const Change& change);
  // Waits until all that is appended now is durable. An error, too, if nothing can be appended any
  // more: what was to be may have had its effect.
  Status sync();
  // Waits until something more is durable, but no longer than that; whether it is.
  bool wait_synced(std::chrono::milliseconds most);
  // The end of what is held of a source and outlives a power failure.
  std::uint64_t durable(std::uint32_t source) const;
  // Why nothing can be appended any more.
  Status failure() const;
  // Nothing can be from now on: what it held cannot be had.
  void break_off(const Status& why);

  // Removes whole segments from the front that hold nothing but what a snapshot covers, never the
  // last. An error harms nothing: some are left for the next time.
  Status trim(const SourcePosition& position, std::uint64_t changes);

 private:
  struct Segment {
    std::uint64_t number = 0;
    std::string path;
    std::uint64_t salt = 0;
    std::uint64_t bytes = 0;                  // whole frames
    std::map<std::uint32_t, Extent> sources;  // what it holds of each
    std::uint64_t changes = 0;                // one behind the last change in it
  };
  // Where read() stands: in a frame of a segment.
  struct Cursor {
    int file = -1;
    std::string path;
    std::uint64_t salt = 0;
    std::uint64_t limit = 0;  // bytes of the segment
    std::uint64_t next = 0;   // where the frame behind this one begins
    std::uint32_t source = 0;
    Extent held;                // by the frame
    std::uint64_t payload = 0;  // where it begins
  };

  Journal(core::Files& files, std::string directory, JournalOptions options);
  std::string segment_path(std::uint64_t number) const;
  Status scan(std::vector<std::string>& notices);
  Status scan_segment(std::uint64_t number, bool last, std::vector<std::string>& notices);
  std::string note(Segment& segment, const FrameHeader& frame);
  Status reopen_last(std::uint64_t size, std::vector<std::string>& notices);
  Status enter_segment(std::uint32_t source, std::uint64_t offset);
  Status find_frame(std::uint64_t offset);
  Status read_exactly(std::uint64_t at, std::span<char> into);

  using Lock = std::unique_lock<std::mutex>;
  // Under mutex_, as all that follow.
  Result<Appended> write(FrameHeader header, std::string_view payload);
  Result<Appended> write_parts(const FrameHeader& header, std::string_view payload);
  Result<Appended> roll();
  Result<Appended> refused(const char* call, const std::string& path, int error);
  Status fail(const char* call, const std::string& path, int error);
  Status wait_durable(Lock& lock, std::uint64_t upto);
  // Gives the mutex back first.
  void tell_space(Lock& lock, Appended appended);
  void sync_loop();

  core::Files& files_;
  const std::string directory_;  // with /journal
  const JournalOptions options_;
  std::vector<Change> changes_;             // since it was opened, unchanged
  std::map<std::uint32_t, Extent> opened_;  // the extents then
  Cursor cursor_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;    // the sync thread: there is something to do
  std::condition_variable synced_;  // others: something was done
  std::vector<Segment> segments_;   // consecutive, the last is written to
  int file_ = -1;                   // of the last; none: the next append begins one
  std::uint64_t next_segment_ = 1;
  std::map<std::uint32_t, Extent> extents_;
  std::optional<std::uint64_t> last_change_;
  // Bytes since it was opened; the last segment was empty at segment_start_.
  std::uint64_t written_ = 0, durable_ = 0, segment_start_ = 0;
  Status failure_;
  bool full_ = false;
  bool stop_ = false;
  std::mutex trim_mutex_, notice_mutex_;

  mutable std::mutex durable_mutex_;  // taken last
  std::map<std::uint32_t, std::uint64_t> durable_ends_;
  std::thread syncer_;
};

}  // namespace weir::engine
