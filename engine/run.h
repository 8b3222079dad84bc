// Run: the threads, ring and workers of one engine between start and finish.
//
// Thread safety: thread-compatible, except where a function says otherwise.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/agent.h"
#include "core/placement.h"
#include "engine/collector.h"
#include "engine/gate.h"
#include "engine/intake.h"
#include "engine/plan.h"
#include "engine/shard.h"
#include "ingest/splitter.h"
#include "weir/config.h"
#include "weir/engine.h"

namespace weir::engine {

struct RunParts {
  Config config;
  core::Placement placement;
  std::shared_ptr<const core::Routes> routes;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Scheduled> requests;
  IntakeOptions intake;
  const Kinds* kinds = nullptr;
  std::vector<HierarchyChange> hierarchies;
  GroupLane::OnResult on_result;
};

class RoleAgent;

class Run {
 public:
  // Starts the threads. `names` and `collector` outlive the run.
  Run(RunParts parts, Names& names, Collector& collector);
  ~Run();  // interrupts and joins

  // Thread-safe. A push or a request may end somebody's wait.
  void wake() { parker_.notify(); }
  Intake& intake() { return *intake_; }
  // Thread-safe.
  Progress progress() const;
  // Waits for the end of input to be applied by all workers.
  void join();
  // REQUIRES: join() has returned; call once.
  Summary summarize();

 private:
  friend class RoleAgent;

  RunParts parts_;
  Names& names_;
  std::vector<std::string> source_names_;
  Ring ring_;
  ingest::Splitter splitter_;
  PlanLog plans_;
  core::Counters counters_;
  Gate gate_;
  Shared shared_;
  core::Parker parker_;
  std::unique_ptr<Intake> intake_;
  std::uint32_t thread_count_;
  // Threads that have settled; nobody claims a block before all have.
  std::atomic<std::uint32_t> settled_{0};
  std::atomic<std::uint32_t> ended_{0};
  std::int64_t started_ns_ = 0;
  std::atomic<std::int64_t> ended_ns_{0};
  std::vector<std::unique_ptr<RoleAgent>> agents_;           // one a thread
  std::vector<const ShardWorker*> workers_;                  // by number, set while settling
  std::vector<std::unique_ptr<core::AgentRunner>> runners_;  // last: they use the others
};

}  // namespace weir::engine
