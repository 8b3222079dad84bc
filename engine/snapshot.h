// Snapshot: everything that a run is at one mark, as sections of bytes, and the file it is kept in
// (docs/formats/snapshot.md).
//
// Invariants
//  1. A file is read whole or refused: each truncation and each changed byte is noticed.
//  2. Whatever the bytes, reading allocates no more than they justify.
//  3. Equal snapshots give equal bytes.
// Thread safety: Snapshot: thread-compatible. SnapshotStore: thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files.h"
#include "ingest/splitter.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir::engine {

using SourcePosition = ingest::SplitterPosition;

struct Snapshot {
  RecordPosition records{};  // before the mark
  SourcePosition position;
  std::uint64_t changes = 0;  // units of the journal before the mark
  // Bytes of outputs when everything before the mark had been given to them.
  std::uint64_t answers_bytes = 0, results_bytes = 0, rejects_bytes = 0;
  // What must be as it was, by a name that users know ("layout", "requests"), hashed.
  std::map<std::string, std::uint64_t> settings;
  // Saved by those who own it.
  std::string names;                 // Names, and the layout
  std::string plan;                  // PlanLog
  std::string cursor;                // CutCursor
  std::string gate;                  // Gate
  std::string headers;               // HeaderFold
  std::string lane;                  // GroupLane, with or without hierarchies
  std::vector<std::string> workers;  // the rest of the holdings of each
};

inline constexpr std::uint16_t kSnapshotVersion = 1;

// The pieces of a snapshot's file, one behind the other. Most point into the snapshot: it may be
// large, and is not copied to be written.
struct SnapshotPieces {
  std::deque<std::string> own;
  std::vector<std::string_view> all;
};
SnapshotPieces pieces_of(const Snapshot& snapshot);
std::string to_bytes(const Snapshot& snapshot);
// kInvalid: damaged; the message says where, as "checksum of section plan". kUnsupported: whole as
// far as this version can tell, but written by a later one.
Result<Snapshot> snapshot_of(std::string_view bytes);

// The snapshots of one state directory: files snapshot-POSITION-NUMBER.weir. The newest is the one
// with the highest number; two may be of one position.
class SnapshotStore {
 public:
  SnapshotStore(core::Files& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  // Keeps it and the one before it, removes what is older and what crashes left, and makes the
  // directory if need be. A failure leaves those there were; then `error` says which errno. What
  // cannot be removed is tried again the next time.
  Status keep(const Snapshot& snapshot, int* error = nullptr);
  // The newest good one; none: absent. Damaged ones are renamed to *.damaged and named in
  // `notices`, one line each. One of a later version is an error: what it holds is not lost.
  Result<std::optional<Snapshot>> newest(std::vector<std::string>& notices);
  // Whether there is any, good or not; those that were set aside do not count.
  Result<bool> any() const;

 private:
  struct Listing {
    std::map<std::uint64_t, std::string> names;  // by number
    std::uint64_t next = 0;                      // number that nothing has had
    std::vector<std::string> temporaries;
  };
  Result<Listing> list() const;
  void remove(const std::string& name);
  // Gives what to say of it.
  std::string set_aside(const std::string& name, const Status& damage, bool last);

  core::Files& files_;
  const std::string directory_;
};

}  // namespace weir::engine
