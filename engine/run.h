// Run: the threads, ring and workers of one engine between start and finish.
//
// Thread safety: thread-compatible, except where a function says otherwise.
#pragma once

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/agent.h"
#include "core/placement.h"
#include "engine/collector.h"
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
};

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
  void run_thread(std::size_t thread);

  RunParts parts_;
  Collector& collector_;
  Names& names_;
  std::vector<std::string> source_names_;
  Ring ring_;
  ingest::Splitter splitter_;
  PlanLog plans_;
  Shared shared_;
  std::unique_ptr<Intake> intake_;
  std::vector<std::unique_ptr<ShardWorker>> workers_;
  core::Parker parker_;
  std::latch ready_;
  std::atomic<std::uint32_t> running_;
  std::int64_t started_ns_ = 0;
  std::atomic<std::int64_t> ended_ns_{0};
  std::vector<std::thread> threads_;
};

}  // namespace weir::engine
