// Durable: what a run keeps in its state directory besides the files that requests save: snapshots
// and the journal, and what it found there of an earlier run.
//
// Invariants
//  1. A directory belongs to one run at a time.
//  2. A run that does not resume finds no snapshots and no journal, so it destroys none.
// Thread safety: thread-compatible.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "engine/cuts.h"
#include "engine/journal.h"
#include "engine/kinds.h"
#include "engine/snapshot.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::engine {

class Durable {
 public:
  // REQUIRES: config.snapshot_every, journal or resume asks for it.
  static Result<std::unique_ptr<Durable>> open(const Config& config);
  ~Durable();
  Durable(const Durable&) = delete;
  Durable& operator=(const Durable&) = delete;

  // Null: the run begins at the start.
  const Snapshot* snapshot() const { return snapshot_.has_value() ? &*snapshot_ : nullptr; }
  // It holds nothing more of use.
  void forget_snapshot() { snapshot_.reset(); }
  SnapshotStore& store() { return store_; }
  Journal& journal() { return *journal_; }
  // What was found, for the host to be told.
  const std::vector<std::string>& notices() const { return notices_; }
  // Of the journal: that it waits for space. REQUIRES: before anything is appended.
  void on_notice(std::function<void(const std::string&)> notice) { notice_ = std::move(notice); }

  // The units behind the snapshot, in order. kInvalid: damaged.
  Result<std::vector<LiveUnit>> units(Kinds& kinds) const;
  // Has the unit in the journal before it returns; false: the disk is full, try again. The number
  // is the unit's in the whole job.
  Result<bool> keep(const LiveUnit& unit, std::uint64_t number);

 private:
  explicit Durable(const Config& config);
  Status lock();
  Status read(const Config& config);

  std::unique_ptr<core::Files> faulty_;  // null: files fail by themselves alone
  core::Files& files_;
  const std::string directory_;
  int lock_ = -1;
  SnapshotStore store_;
  std::optional<Snapshot> snapshot_;
  std::unique_ptr<Journal> journal_;
  std::vector<std::string> notices_;
  std::function<void(const std::string&)> notice_;
};

// The requests of a unit as they were given, a JSON array, from what the journal has of it.
std::string_view text_of_unit(std::string_view kept);

// Whether the configuration asks for anything of this.
inline bool is_durable(const Config& config) {
  const bool snapshots = config.snapshot_every.ns > 0 || config.snapshot_every.records > 0;
  return snapshots || config.journal || config.resume;
}

}  // namespace weir::engine
