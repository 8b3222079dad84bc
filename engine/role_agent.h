// RoleAgent: what one thread of a generation does: parse, apply, or both; and with a fault plan
// also what it leaves undone, and the work of others that are stopped.
//
// Invariants
//  1. A thread that is stopped holds no seat and parses nothing.
//  2. A thread that finds nothing to do takes the free seats of its generation, one a look, and
//     leaves each when its own thread is back or when it is itself stopped.
//  3. With a fault plan no thread ends before all workers of its generation have come to their end,
//     so that somebody is there to take over.
// Thread safety: single-writer; worker() after the thread has been joined.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent.h"
#include "core/placement.h"
#include "engine/intake.h"
#include "engine/seat.h"
#include "engine/worker_faults.h"

namespace weir::engine {

class Generation;

class RoleAgent final : public core::Agent {
 public:
  // `seat` is that of its worker; null: it only parses. All outlive it.
  RoleAgent(Generation& generation, const core::PlacedThread& placed, Seat* seat);

  std::size_t do_work() override;
  bool done() const override;
  std::string_view role_name() const override { return placed_.role(); }

 private:
  // Runs on the agent's own thread, so that its state comes to lie in that thread's memory.
  std::size_t settle();
  std::size_t do_work_with_faults();
  // The borders between entries: false while the thread does nothing.
  bool may_work(std::int64_t now);
  bool stops(std::int64_t now);
  bool rests(std::int64_t now);
  void note_work(std::int64_t began);
  void leave_others(bool all);
  std::size_t take_over();
  // REQUIRES: the caller holds the seat.
  std::size_t step(Seat& seat);
  std::string who_and_where(const Seat& seat) const;

  Generation& generation_;
  const core::PlacedThread& placed_;
  Seat* const seat_;
  ShardWorker* worker_ = nullptr;  // in its seat
  std::unique_ptr<IngestAgent> ingest_;
  WorkerFaults* const faults_;  // null: nothing below is used
  bool settled_ = false;
  bool all_settled_ = false;

  bool sits_ = true;           // in its own seat
  std::vector<Seat*> others_;  // seats that it holds besides
  std::int64_t stopped_until_ = 0;
  // Slowness: ns that it owes, and since when it pays; 0: it works.
  std::int64_t owed_ = 0;
  std::int64_t resting_since_ = 0;
};

}  // namespace weir::engine
