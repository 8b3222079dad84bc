// Holdings: all that one shard worker owns between two entries, and how it goes from the workers of
// one generation, or from a snapshot, to those of the next (docs/adr/0006).
//
// Invariants
//  1. Every synopsis, part, count and lane is in the holdings of exactly one worker.
//  2. What is divided and put together again is the same state, whatever the numbers of workers.
// Thread safety: Holdings: single-writer. HandOver: thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/batch.h"
#include "core/keys.h"
#include "engine/cuts.h"
#include "engine/feed.h"
#include "engine/group_lane.h"
#include "engine/header_fold.h"

namespace weir::engine {

struct Holdings {
  std::vector<std::unique_ptr<Instance>> instances;  // by build number, ascending
  std::vector<bool> seen;                            // by stream id: had a tuple
  ShardCounts counts;
  std::unique_ptr<GroupLane> lane;      // with the owner of core::kGroupsSlot
  std::unique_ptr<HeaderFold> headers;  // with worker 0
};

// What one of `givers` owns, divided among the workers of `routes`. Cost: once over what there is.
std::vector<Holdings> divide(Holdings all, std::uint32_t giver, const core::Routes& routes,
                             const core::KeyTable& keys);

// Where the workers of a generation, or a snapshot, leave what they own for those of the next.
class HandOver {
 public:
  HandOver(std::shared_ptr<const core::Routes> to, std::uint32_t givers)
      : to_(std::move(to)), shares_(givers), missing_(givers), waits_(to_->workers) {}

  const std::shared_ptr<const core::Routes>& to() const { return to_; }
  // Once for each giver. The cursors of all are alike.
  void give(std::uint32_t giver, Holdings all, const CutCursor& cursor, const core::KeyTable& keys);
  // All givers have given; what they gave is visible then.
  bool complete() const { return missing_.load(std::memory_order_acquire) == 0; }
  // Once for each worker. REQUIRES: complete().
  Holdings take(std::uint32_t worker);
  const CutCursor& cursor() const { return *cursor_; }

  // How long a worker has waited at the mark. By that worker alone.
  void waited(std::uint32_t worker, std::int64_t ns) { waits_[worker] = ns; }
  // REQUIRES: all workers have taken their share.
  const std::vector<std::int64_t>& waits() const { return waits_; }

 private:
  const std::shared_ptr<const core::Routes> to_;
  std::vector<std::vector<Holdings>> shares_;  // of each giver, by taker
  std::optional<CutCursor> cursor_;            // giver 0's
  // Release: a giver's share is written before. Acquire: in complete().
  std::atomic<std::uint32_t> missing_;
  std::vector<std::int64_t> waits_;  // by taker
};

}  // namespace weir::engine
