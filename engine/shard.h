// ShardWorker: applies the batches of its slots strictly in sequence order and owns all state of
// those slots.
//
// Invariants
//  1. Every synopsis, or part of one, has exactly one owner; nobody else reads it until the end.
//  2. At a cut everything before it has been applied and nothing after it.
//  3. Each tuple is counted by the owner of its stream alone: applied if any synopsis of the stream
//     or its dataset took it, else unrouted.
// Thread safety: shard-local; its counters may be read by any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/array.h"
#include "core/counters.h"
#include "engine/collector.h"
#include "engine/cuts.h"
#include "engine/entry.h"
#include "engine/plan.h"
#include "weir/answer.h"

namespace weir::engine {

// What all workers of a run share.
struct Shared {
  Ring& ring;
  Names& names;
  const core::Routes& routes;  // who owns which slot
  PlanLog& plans;
  Collector& collector;
  std::vector<Scheduled> start;  // requests given before the start
  Period emit;
  std::vector<std::string> source_names;
  std::size_t max_reject_samples = 0;
  core::Counters& counters;
};

// A synopsis as one worker holds it.
struct Instance {
  std::shared_ptr<const Build> build;
  // By part number; null where another worker owns the part. One for what is not in parts.
  std::vector<std::unique_ptr<synopses::Synopsis>> parts;
};

// What takes the values of a stream, flat: a stream whose state is not in cache costs few misses.
struct Target {
  synopses::Synopsis* whole = nullptr;  // null: in parts
  Instance* instance = nullptr;
  std::uint32_t column = 0;
  bool numeric_only = false;

  bool takes(core::Kind kind) const {
    return kind != core::Kind::kMissing && !(numeric_only && kind == core::Kind::kText);
  }
};
using Targets = std::vector<Target>;

// Counts of one worker, for tuples whose stream it owns.
struct ShardCounts {
  std::uint64_t applied = 0;
  std::uint64_t unrouted = 0;
};

class ShardWorker {
 public:
  // Takes the start cut, so that synopses stand before the first tuple.
  ShardWorker(Shared& shared, std::uint32_t number);

  // Applies the next block if it is there. Gives 1 if it did, else 0.
  std::size_t do_work();
  // The end of input has been applied.
  bool done() const { return done_; }

  // REQUIRES: done(), and the thread that ran do_work() has been joined.
  const ShardCounts& counts() const { return counts_; }
  std::vector<Instance> take_instances();
  const std::vector<bool>& seen_streams() const { return seen_; }
  const std::array<std::uint64_t, static_cast<std::size_t>(core::Reason::kCount)>& rejected()
      const {
    return rejected_;
  }
  RecordPosition position() const { return cursor_.position(); }

 private:
  void cross(const Cut& cut);
  void create(const std::shared_ptr<const Build>& build);
  void remove(const Build& build);
  void answer(const Crossing& crossing, const Action& action);
  void fold_header(const Entry& entry);
  void apply(const Entry& entry, std::uint32_t from_record, std::uint32_t to_record);
  void apply_run(const Entry& entry, const core::Batch& batch, const core::Run& run,
                 std::uint32_t begin, std::uint32_t end);
  // Values [begin, end) of the target's field to `synopsis`, those that it takes.
  void update(synopses::Synopsis& synopsis, const Target& target, const core::Batch& batch,
              const core::Columns& columns, std::uint32_t begin, std::uint32_t end);
  void update_parts(const Target& target, const Entry& entry, const core::Batch& batch,
                    std::uint32_t begin, std::uint32_t end);
  // How many of [begin, end) some target takes.
  static std::uint32_t count_taken(const core::Batch& batch, const Targets& own,
                                   const Targets& dataset_wide, std::uint32_t begin,
                                   std::uint32_t end);
  void prefetch(const core::Batch& batch, std::size_t run) const;
  Targets& targets_of(const Build& build);

  Shared& shared_;
  std::uint32_t number_;
  Seq next_{};
  bool done_ = false;
  CutCursor cursor_;

  std::unordered_map<std::uint64_t, std::unique_ptr<Instance>> instances_;  // by build number
  std::vector<Targets> by_stream_;                                          // by stream id
  std::vector<Targets> by_dataset_;                                         // by dataset id
  std::vector<bool> seen_;                                                  // by stream id
  ShardCounts counts_;

  core::Array<std::uint64_t> hash_scratch_;
  std::optional<synopses::Items> items_;  // of the run in hand; holds hash_scratch_
  core::Array<std::uint64_t> bits_scratch_;
  core::Array<core::Kind> kinds_scratch_;

  // Folded from headers by worker 0 alone.
  struct HeaderCounters {
    core::Counter* records = nullptr;
    core::Counter* tuples = nullptr;
    core::Counter* rejected = nullptr;
    core::Counter* bytes = nullptr;
  };
  HeaderCounters headers_;
  std::array<std::uint64_t, static_cast<std::size_t>(core::Reason::kCount)> rejected_{};
  std::uint64_t line_base_ = 0;
  std::uint64_t reject_samples_ = 0;
};

}  // namespace weir::engine
