// ShardWorker: applies the batches of its slots strictly in sequence order and owns all state of
// those slots.
//
// Invariants
//  1. Every synopsis, or part of one, has exactly one owner; nobody else reads it until the end.
//  2. At a cut everything before it has been applied and nothing after it.
//  3. Each tuple is counted by the owner of its stream alone: applied if any synopsis of the stream
//     or its dataset took it, else late if any refused it as late, else unrouted.
// Thread safety: shard-local; its counters may be read by any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/array.h"
#include "core/counters.h"
#include "engine/collector.h"
#include "engine/cuts.h"
#include "engine/entry.h"
#include "engine/feed.h"
#include "engine/gate.h"
#include "engine/group_lane.h"
#include "engine/header_fold.h"
#include "engine/holdings.h"
#include "engine/plan.h"
#include "engine/worker_image.h"
#include "weir/answer.h"

namespace weir::engine {

// What all workers of a run share.
struct Shared {
  Ring& ring;
  Names& names;
  PlanLog& plans;
  Collector& collector;
  std::vector<Scheduled> start;                          // requests given before the start
  std::vector<std::shared_ptr<const LiveUnit>> repeats;  // live changes of an earlier run
  Period emit;
  std::vector<std::string> source_names;
  std::size_t max_reject_samples = 0;
  core::Counters& counters;
  GroupOptions groups;  // of hierarchies that come later; emit is set
  GroupLane::OnResult on_result;
  Gate& gate;  // before every entry
};

class ShardWorker {
 public:
  // Of the first generation: takes the start cut, so that synopses stand before the first tuple.
  ShardWorker(Shared& shared, std::uint32_t number, std::shared_ptr<const core::Routes> routes);
  // Of a later one, or of one that is resumed: takes its share of `from` when all of it is there,
  // and goes on with the entry `mark`.
  ShardWorker(Shared& shared, std::uint32_t number, std::shared_ptr<const core::Routes> routes,
              std::shared_ptr<HandOver> from, Seq mark);

  // Applies the next block if it is there. Gives 1 if it did, else 0.
  std::size_t do_work();
  // The end of input has been applied, or a next generation has what was owned.
  bool done() const { return done_; }
  // The end of input has been applied.
  bool at_end() const { return at_end_; }

  // REQUIRES: done(), and the thread that ran do_work() has been joined.
  const ShardCounts& counts() const { return counts_; }
  std::vector<Instance> take_instances();
  const std::vector<bool>& seen_streams() const { return seen_; }
  // Null but on worker 0.
  const HeaderFold* headers() const { return headers_.get(); }
  RecordPosition position() const { return cursor_.position(); }
  // Null but on the worker that has the hierarchies, or when there are none.
  const GroupLane* lane() const {
    return lane_ != nullptr && lane_->standing() ? lane_.get() : nullptr;
  }

 private:
  // Takes what the hand-over has for it; false: not all of it is there yet.
  bool begin();
  void give_up(HandOver& to);
  // Goes over a cut of the entry, before which everything has been applied.
  void cross_in(Entry& entry, Cut cut);
  void cross(Cut cut);
  void create(const std::shared_ptr<const Build>& build);
  // Makes an instance that is whole take what it is of.
  void install(std::unique_ptr<Instance> instance);
  void remove(const Build& build);
  void answer(const Crossing& crossing, const Action& action);
  // This worker's share of what `of` stands for, copied.
  void contribute(const Ask& ask, const Ask::Of& of, std::uint32_t side,
                  std::vector<Partial>& partials) const;
  // The only synopsis that an ask looks at, if it is one and here.
  const synopses::Synopsis* sole(const Ask& ask) const;
  void apply(Entry& entry, std::uint32_t from_record, std::uint32_t to_record);
  void apply_run(const core::Batch& batch, const core::Run& run, std::uint32_t begin,
                 std::uint32_t end);
  // To the synopses of the stream and its dataset.
  void give(Feeder& feeder, const core::Run& run);
  // Results of groups to the synopses that stand on groups.
  void apply_group_tuples();
  // Adds this worker's verdicts of the entry; the last one to come counts.
  void settle(Entry& entry);
  // Gives the stream a synopsis of its own of every Scheme::kByStream build of its dataset.
  void join(StreamId stream);
  // What is in parts by slot takes its tuples in record order over all streams.
  void apply_by_slot(Feeder& feeder, const Entry& entry, std::uint32_t from_record,
                     std::uint32_t to_record);
  void prefetch(const core::Batch& batch, std::size_t run) const;
  Targets& targets_of(const Build& build);

  Shared& shared_;
  const std::uint32_t number_;
  const std::shared_ptr<const core::Routes> routes_;  // who owns which slot
  std::shared_ptr<HandOver> from_;                    // null: it stands by itself
  bool begun_ = true;
  std::int64_t waiting_since_ = 0;  // ns; 0: it has not waited
  Seq next_{};
  bool done_ = false;
  bool at_end_ = false;
  CutCursor cursor_;

  Instances instances_;
  std::vector<Targets> by_stream_;   // by stream id
  std::vector<Targets> by_dataset_;  // by dataset id
  std::vector<bool> seen_;           // by stream id
  ShardCounts counts_;
  Feeder feeder_;

  // Builds of Scheme::kByStream; each change makes streams look whether they have joined them all.
  std::vector<Instance*> by_stream_builds_;
  std::uint32_t joins_ = 1;
  std::vector<std::uint32_t> joined_;  // by stream id: joins_ when it last looked

  // A build in parts by slot of which this worker has some.
  struct BySlot {
    Instance* instance = nullptr;
    std::vector<std::uint16_t> part;                 // by stream id; see apply_by_slot()
    std::vector<core::Array<std::uint32_t>> picked;  // by part: tuples of the entry in hand
  };
  std::vector<BySlot> by_slot_;

  std::unique_ptr<GroupLane> lane_;  // with the owner of core::kGroupsSlot
  DatasetId groups_dataset_{};
  std::size_t builds_on_groups_ = 0;
  Feeder group_feeder_;
  bool shares_verdicts_ = false;  // of the entry in hand

  std::unique_ptr<HeaderFold> headers_;  // with worker 0
};

}  // namespace weir::engine
