// Generation: the threads that work by one placement, from one entry of the sequence on, until the
// end or until the next generation begins (docs/adr/0006).
//
// Thread safety: thread-compatible, except where a function says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/agent.h"
#include "core/placement.h"
#include "engine/holdings.h"
#include "engine/intake.h"
#include "engine/role_agent.h"
#include "engine/seat.h"
#include "engine/shard.h"
#include "engine/worker_faults.h"

namespace weir::engine {

// What the generations of a run share.
struct Crew {
  Shared& shared;
  Intake& intake;
  core::Parker& parker;
  std::size_t block_size = 0;
  std::function<void()> ended;  // all workers of a generation have applied the end
  // Null: none, and then no thread ever leaves the seat of its worker.
  WorkerFaults* faults = nullptr;
  // What a host might want to log. Thread-safe; one call at a time.
  std::function<void(const std::string&)> notice;
};

class Generation {
 public:
  // Starts the threads. The first generation has no `from`, unless it is resumed.
  Generation(Crew& crew, core::Placement placement, std::shared_ptr<const core::Routes> routes,
             std::uint32_t number, Seq first, std::shared_ptr<HandOver> from);
  ~Generation();  // joins

  void join();
  const core::Placement& placement() const { return placement_; }
  // Null: nobody waited for anything.
  const HandOver* from() const { return from_.get(); }
  std::uint32_t number() const { return number_; }
  std::uint32_t workers() const { return routes_->workers; }
  // In the order of their numbers. REQUIRES: join() has returned.
  std::vector<ShardWorker*> shard_workers() const;

 private:
  friend class RoleAgent;

  // By whoever stepped the worker to there.
  void note_over(bool at_end);

  Crew& crew_;
  const core::Placement placement_;
  const std::shared_ptr<const core::Routes> routes_;
  const std::uint32_t number_;
  const Seq first_;
  const std::shared_ptr<HandOver> from_;
  // Threads that have settled; nobody claims a block before all have.
  std::atomic<std::uint32_t> settled_{0};
  // Workers that have applied the end or given up what they owned.
  std::atomic<std::uint32_t> over_{0};
  std::vector<std::unique_ptr<Seat>> seats_;                 // by worker
  std::vector<std::unique_ptr<RoleAgent>> agents_;           // one a thread
  std::vector<std::unique_ptr<core::AgentRunner>> runners_;  // last: they use the others
};

}  // namespace weir::engine
