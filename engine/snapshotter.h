// Snapshotter: decides when a snapshot is due, gathers it while data flows on, and writes it on a
// thread of its own.
//
// A Mark rides on an entry of the ring. Whoever comes to the entry saves what it owns as it stands
// before the entry's records; the first one saves what all share, which nobody can have changed
// yet, since everybody comes to the mark before going on.
//
// Thread safety: thread-safe by role, as told at each function.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/durable.h"
#include "engine/gate.h"
#include "engine/header_fold.h"
#include "engine/plan.h"
#include "engine/snapshot.h"
#include "engine/snapshot_settings.h"
#include "engine/worker_image.h"
#include "weir/engine.h"

namespace weir::engine {

// What all workers share, and marks save.
struct SharedState {
  Names& names;
  PlanLog& plans;
  Gate& gate;
  Collector& collector;
  // Units of live changes so far. Called by the first worker at a mark.
  std::function<std::uint64_t()> changes;
};

class Mark {
 public:
  // `done` is called once, by whoever brings the last part.
  Mark(const SharedState& shared, const OutputLengths& outputs, std::uint32_t workers,
       Snapshot begun, std::function<void()> done);

  // Worker `number` has come to the mark.
  void reach(std::uint32_t number, const CutCursor& cursor, const Instances& instances,
             const std::vector<bool>& seen, const ShardCounts& counts, const GroupLane* lane,
             const HeaderFold* headers);
  // REQUIRES: done was called.
  const Snapshot& snapshot() const { return snapshot_; }
  std::uint64_t ordinal() const { return ordinal_; }

 private:
  void save_shared(const CutCursor& cursor);
  void part_is_there();

  const SharedState& shared_;
  const OutputLengths& outputs_;
  const std::function<void()> done_;
  std::mutex mutex_;
  bool shared_saved_ = false;
  Snapshot snapshot_;
  std::uint64_t ordinal_ = 0;           // of the next cut
  std::atomic<std::uint32_t> missing_;  // workers, and the answers before the mark
};

class Snapshotter {
 public:
  struct Options {
    Period every;
    Settings settings;
    OutputLengths outputs;
    std::function<void(const std::string&)> notice;  // one call at a time
    std::function<std::uint64_t()> records;          // applied so far
  };
  // All outlive it. It starts when the run does.
  Snapshotter(Durable& durable, SharedState shared, Options options);
  ~Snapshotter();  // what is under way is finished if it can be

  // Called at every claim, under the claim lock: a mark if a snapshot is due. The next entry is for
  // so many workers and begins at `position`; records of the layout `layout`.
  bool due() const;
  // The run is to end: what it reads cannot be kept.
  bool journal_failed() const { return !durable_.journal().failure().ok(); }
  std::shared_ptr<Mark> mark(std::uint32_t workers, const SourcePosition& position,
                             const std::string& layout);
  // All workers are done: no mark that is under way can become whole any more unless it is.
  void finish();

  std::uint64_t kept() const { return kept_.load(std::memory_order_relaxed); }
  std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  void run();
  void keep(const Mark& mark);

  Durable& durable_;
  const SharedState shared_;
  const Options options_;
  std::int64_t due_ns_ = 0;  // under the claim lock, as the next
  std::uint64_t due_records_ = 0;
  std::atomic<std::uint64_t> kept_{0}, failed_{0};
  struct Place {
    SourcePosition position;
    std::uint64_t changes = 0;
  };
  std::optional<Place> before_;  // of the last that was kept; its own thread's

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Mark> under_way_;
  std::atomic<bool> busy_{false};  // there is one under way
  bool whole_ = false;             // it can be written
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace weir::engine
