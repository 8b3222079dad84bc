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
#include <mutex>
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

// One for each worker of `routes`. Parts of worker-wise synopses that no worker is left for are
// merged into those of others. Cost: once over what there is.
std::vector<Holdings> divide(Holdings all, const core::Routes& routes, const core::KeyTable& keys);

// Where the workers of a generation leave what they own for those of the next.
class HandOver {
 public:
  HandOver(std::shared_ptr<const core::Routes> to, std::uint32_t givers)
      : to_(std::move(to)), givers_(givers), shares_(to_->workers) {}

  // What one giver owns, and its cursor, which is like that of all others.
  void give(Holdings all, const CutCursor& cursor, const core::KeyTable& keys);
  // All givers have given. Acquire: what they gave is visible then.
  bool complete() const { return given_.load(std::memory_order_acquire) == givers_; }
  // Once for each worker. REQUIRES: complete().
  Holdings take(std::uint32_t worker);
  const CutCursor& cursor() const { return *cursor_; }

 private:
  const std::shared_ptr<const core::Routes> to_;
  const std::uint32_t givers_;
  std::atomic<std::uint32_t> given_{0};
  std::mutex mutex_;
  std::optional<CutCursor> cursor_;
  std::vector<std::vector<Holdings>> shares_;  // by taker, from each giver
};

}  // namespace weir::engine
