// Feeder: gives the values of one run of tuples to the synopses that take them, and finds out what
// became of each tuple.
//
// The usual run is uniform: every value is a number, no weights, no windows. Its values go to all
// synopses in place, and their hashes are computed once. Anything else is gathered value by value.
//
// Invariants
//  1. A synopsis takes its values in record order, those that it takes alone, with weights and
//  times
//     if it wants them.
//  2. A tuple is applied if any synopsis took its value, else late if any refused it as late, else
//     unrouted.
// Thread safety: shard-local.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/array.h"
#include "core/batch.h"
#include "engine/entry.h"
#include "engine/plan.h"
#include "hierarchy/groups.h"
#include "synopses/synopsis.h"

namespace weir::engine {

// A synopsis as one worker holds it.
struct Instance {
  std::shared_ptr<const Build> build;
  // By part number; null where another worker owns the part. One for what is not in parts.
  std::vector<std::unique_ptr<synopses::Synopsis>> parts;
  // Scheme::kByStream: by stream id, for the worker's own streams that have had a tuple.
  std::map<std::uint32_t, std::unique_ptr<synopses::Synopsis>> streams;
  // Tuples of the worker's own streams whose weight was none: missing, a text, a fraction, negative
  // where that makes no sense, or beyond 2^53.
  std::uint64_t without_weight = 0;
};

// What takes the values of a stream, flat: a stream whose state is not in cache costs few misses.
struct Target {
  synopses::Synopsis* whole = nullptr;  // null: in parts, or with other workers
  Instance* instance = nullptr;
  std::uint32_t column = 0;
  bool numeric_only = false;
  bool particular = false;  // weights or event times decide what it takes

  static Target of(Instance& instance, synopses::Synopsis* whole);
  bool takes(core::Kind kind) const {
    return kind != core::Kind::kMissing && !(numeric_only && kind == core::Kind::kText);
  }
};
using Targets = std::vector<Target>;

// Tuples of the streams that a worker owns, by what became of them.
struct ShardCounts {
  std::uint64_t applied = 0;
  std::uint64_t late = 0;
  std::uint64_t unrouted = 0;
};

class Feeder {
 public:
  // The next entry: `base` records and stream time `clock` come before it.
  void open(Entry& entry, std::uint64_t base, std::int64_t clock);
  // The same, where stream time after each tuple is known otherwise.
  void open(Entry& entry, std::uint64_t base, std::span<const std::int64_t> clocks);

  // Rows [begin, end) of a batch, which are one stream's. With `counts`, their tuples are counted:
  // by finish(), or where verdicts are shared by way of the entry's.
  void begin(const core::Batch& batch, std::uint32_t begin, std::uint32_t end, bool counts);
  // To a whole synopsis, or to those parts that are here.
  void give(const Target& target);
  ShardCounts finish();

  // To one synopsis, picked tuples of the entry in record order; not counted.
  void give_picked(const Target& target, synopses::Synopsis& synopsis,
                   std::span<const std::uint32_t> tuples);

 private:
  // Where the values to gather stand.
  struct Rows {
    const core::Column* values;
    const core::Column* weights;  // null: none
    const std::uint32_t* row;     // of value i; null: first + i
    const std::uint32_t* tuple;   // of row r in the block's columns; null: r
    std::uint32_t first;
    std::uint32_t count;
  };
  void give_uniform(synopses::Synopsis& synopsis, const core::Column& column, std::uint32_t begin,
                    std::uint32_t end);
  // To `synopsis`, or only judged when that is null.
  void give_gathered(const Target& target, synopses::Synopsis* synopsis, const Rows& rows,
                     bool counts);
  void give_parts(const Target& target);
  std::optional<std::int64_t> weight_of(const Target& target, const core::Column& weights,
                                        std::uint32_t row) const;
  void note(std::uint32_t row, hierarchy::Verdict verdict);
  void share_verdicts();
  const std::int64_t* clocks();

  Entry* entry_ = nullptr;
  std::uint64_t base_ = 0;
  std::int64_t clock_ = kNoTime.ns;
  bool has_clocks_ = false;
  core::Array<std::int64_t> clocks_;  // stream time after each tuple of the entry

  const core::Batch* batch_ = nullptr;
  std::uint32_t begin_ = 0, end_ = 0;
  bool counts_ = false;
  bool all_taken_ = false;
  bool judged_ = false;                 // verdicts_ holds something
  core::Array<std::uint8_t> verdicts_;  // by row less begin_

  core::Array<std::uint64_t> hashes_;
  std::optional<synopses::Items> items_;  // of a uniform run; its hashes are in hashes_
  // Gathered values.
  core::Array<std::uint64_t> bits_;
  core::Array<core::Kind> kinds_;
  core::Array<std::int64_t> weights_, times_, item_clocks_;
  core::Array<std::uint8_t> refused_;
  core::Array<std::uint32_t> rows_;
};

}  // namespace weir::engine
