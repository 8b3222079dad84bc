// Snapshot: everything that a run is at one mark, as sections of bytes, and the file it is kept in
// (docs/formats/snapshot.md).
//
// Invariants
//  1. A file is read whole or refused: each truncation and each changed byte is noticed.
//  2. Whatever the bytes, reading allocates no more than they justify.
// Thread safety: Snapshot: thread-compatible. SnapshotStore: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  std::string lane;                  // GroupLane; empty: no hierarchies
  std::vector<std::string> workers;  // the rest of the holdings of each
};

std::string to_bytes(const Snapshot& snapshot);
Result<Snapshot> snapshot_of(std::string_view bytes);

// The snapshots of one state directory.
class SnapshotStore {
 public:
  SnapshotStore(core::Files& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  // Keeps it and the one before it, and removes what is older. A failure leaves those there were.
  Status keep(const Snapshot& snapshot);
  // The newest good one; none: absent. Damaged ones are renamed to *.damaged and named in
  // `notices`, one line each.
  Result<std::optional<Snapshot>> newest(std::vector<std::string>& notices);
  // Whether there is any, good or not.
  Result<bool> any() const;

 private:
  core::Files& files_;
  const std::string directory_;
};

}  // namespace weir::engine
