// WorkerFaults: when the threads of workers stop or are slow, and when the process ends, as a fault
// plan says.
//
// Invariants
//  1. Each stop happens once, to the worker of that number that is first at or behind its place;
//     only its own thread asks.
//  2. Places are borders of entries: where exactly depends on blocks, and nothing that is seen may.
// Thread safety: thread-safe, but for resume_at().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "weir/faults.h"
#include "weir/types.h"

namespace weir::engine {

class WorkerFaults {
 public:
  // Null when there is no plan, or it has nothing for workers.
  static std::unique_ptr<WorkerFaults> of(const std::shared_ptr<const FaultPlan>& plan);

  // A run that goes on behind a place does not come to it.
  void resume_at(RecordPosition position);

  // ns that the thread of a worker which has come to `position` stops for now; 0: it does not.
  std::int64_t stop(std::uint32_t worker, RecordPosition position);
  // Percent of its time in which it does nothing. `now` is core::now_ns().
  unsigned slowness(std::uint32_t worker, RecordPosition position, std::int64_t now);
  // Some worker has come to `position`. Does not return where the process is to be killed.
  void reach(RecordPosition position) const {
    if (raw(position) >= kill_at_) [[unlikely]]
      kill();
  }

 private:
  struct Timed {
    FaultPlan::Fault fault;
    // Of a stop: 1 once it has happened. Of slowness: when it ends. 0: its place has not come.
    std::atomic<std::int64_t> until{0};
  };
  explicit WorkerFaults(const FaultPlan& plan);
  bool has_come(const FaultPlan::Fault& fault, RecordPosition position) const;
  static void kill();

  std::deque<Timed> timed_;
  std::vector<RecordPosition> kills_;
  std::uint64_t kill_at_ = 0;     // the first of them that is still to come
  RecordPosition resumed_at_{0};  // what lies before it is none
};

}  // namespace weir::engine
