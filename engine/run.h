// Run: the threads, ring and workers of one engine between start and finish.
//
// Thread safety: thread-compatible, except where a function says otherwise.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/agent.h"
#include "core/placement.h"
#include "engine/collector.h"
#include "engine/gate.h"
#include "engine/generation.h"
#include "engine/intake.h"
#include "engine/plan.h"
#include "engine/shard.h"
#include "engine/snapshotter.h"
#include "engine/stalls.h"
#include "engine/worker_faults.h"
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
  Kinds* kinds = nullptr;
  std::vector<HierarchyChange> hierarchies;
  GroupLane::OnResult on_result;
  // Where so many workers, and threads that only parse, go, and who owns what then.
  struct Crewing {
    core::Placement placement;
    std::shared_ptr<const core::Routes> routes;
  };
  // Gives `begin` that before anybody else can come by the new routes.
  std::function<Status(unsigned workers, unsigned ingest,
                       const std::function<void(const Crewing&)>& begin)>
      crewing;
  std::function<void(const std::string&)> notice;
  // What is kept to go on from, and what of it there is; null: nothing.
  Durable* durable = nullptr;
  OutputLengths outputs;
  Settings settings;
  std::vector<std::shared_ptr<const LiveUnit>> repeats;
  // The routes with so many parts of a stream besides.
  std::function<std::shared_ptr<const core::Routes>(StreamId, unsigned)> route;
  // The routes once all is there that a request will need which waits for its position.
  std::function<std::shared_ptr<const core::Routes>(const Request&)> prepare;
};

class Run {
 public:
  // `names` and `collector` outlive the run.
  Run(RunParts parts, Names& names, Collector& collector);
  ~Run();  // interrupts and joins

  // Starts the threads, from the start or where an earlier run stood. An error: nothing runs.
  Status start();
  // One more than the order of any request of the earlier run that waits. REQUIRES: start().
  std::uint64_t next_order() const { return next_order_; }
  // From the next block on, so many workers, and threads that only parse. Thread-safe.
  Status rescale(unsigned workers, unsigned ingest);

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
  // One generation. Runs on one thread at a time.
  void start(core::Placement placement, std::shared_ptr<const core::Routes> routes,
             std::uint32_t number, Seq first, std::shared_ptr<HandOver> from);
  void note_waits(const Generation& generation);
  // What the snapshot holds, for the first generation to take.
  Result<std::shared_ptr<HandOver>> restore(const Snapshot& snapshot);
  // Has a live cut in the journal. An error: it is not to take effect, and the run ends.
  Result<bool> keep(const Cut& cut);

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
  const std::unique_ptr<WorkerFaults> faults_;
  mutable Stalls stalls_;
  std::unique_ptr<Intake> intake_;
  Crew crew_;
  std::int64_t started_ns_ = 0;
  // When the last worker applied the end; 0: not yet.
  std::atomic<std::int64_t> ended_ns_{0};

  std::optional<RecordPosition> resumed_from_;
  std::uint64_t next_order_ = 0;
  std::uint64_t changes_ = 0;  // live cuts that took effect; under the plan log's mutex
  std::unique_ptr<Snapshotter> snapshotter_;
  std::vector<std::int64_t> waits_;  // at marks, of generations that are gone
  std::uint64_t rescales_ = 0;
  mutable std::mutex mutex_;                             // guards the two above and this:
  std::deque<std::unique_ptr<Generation>> generations_;  // last: they use the others
};

}  // namespace weir::engine
