// Batch: what one shard worker is to apply of one block, grouped by stream, and scatter(), which
// makes the batches of a block from its columns.
//
// Invariants
//  1. Each tuple of the block is in exactly one batch as a primary run (its owner's); in further
//     batches it is in runs marked secondary.
//  2. Inside a run the tuples keep record order. The order of runs in a batch is not observable.
// Thread safety: single-writer until the ring entry is published, then immutable.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/array.h"
#include "core/block.h"
#include "core/keys.h"
#include "weir/types.h"

namespace weir::core {

struct Run {
  StreamId stream{};
  std::uint32_t begin = 0;  // first position in the batch's arrays
  std::uint32_t count = 0;
  bool primary = true;  // the batch's worker owns the stream; false: it owns a part of it
};

struct Batch {
  std::vector<Run> runs;
  Array<std::uint32_t> tuple;  // index into the block's Columns, ascending inside a run
  std::vector<Column> fields;  // copied and grouped like `tuple`
};

// Which worker owns which stream: slots to workers, and the streams that have parts elsewhere.
// Immutable.
struct Routes {
  std::uint32_t workers = 1;
  std::vector<std::uint16_t> slot_owner = std::vector<std::uint16_t>(kSlots, 0);
  // For a stream with a synopsis in parts: the other workers that own one, without the primary.
  std::unordered_map<std::uint32_t, std::vector<std::uint16_t>> parts;

  // Tells routes apart that happen to stand at one address, one after the other.
  std::uint64_t version = 0;

  std::uint16_t owner(const Key& key) const { return slot_owner[key.slot]; }
};

// Scratch of one ingest agent, kept between blocks. Its size follows the number of streams.
class Scatter {
 public:
  // Fills batches[0, routes.workers). Cost: one count and one copy a tuple, whatever the number of
  // streams. A stream's owner is cached by id; another Routes object or version drops the cache.
  // REQUIRES: batches.size() >= routes.workers; every owner and part < routes.workers; every stream
  // of `columns` came from `keys`.
  void run(const Columns& columns, const KeyTable& keys, const Routes& routes,
           std::span<Batch> batches);

 private:
  // Eight bytes a stream, so that a stream met for the first time in a block costs one cache line.
  struct PerStream {
    std::uint32_t local = 0;  // 1 + its number among the streams of this block; 0 between calls
    std::uint16_t owner = kUnknownOwner;
    bool has_parts = false;
  };
  // One stream of this block, by first arrival.
  struct Touched {
    std::uint32_t stream = 0;
    std::uint32_t count = 0;
    std::uint32_t begin = 0;  // of its primary run
    std::uint32_t owner = 0;
  };
  // A secondary run: a copy of a primary one on another worker.
  struct Copy {
    std::uint16_t from = 0, to = 0;
    std::uint32_t from_begin = 0, to_begin = 0, count = 0;
  };
  static constexpr std::uint16_t kUnknownOwner = 0xffff;

  void count(const Columns& columns);
  void plan_runs(const KeyTable& keys, const Routes& routes, std::span<Batch> batches);
  void place(const Columns& columns, std::span<Batch> batches);

  std::vector<PerStream> streams_;  // by stream id
  std::vector<Touched> touched_;    // by local number; the first touched_count_ are of this block
  std::uint32_t touched_count_ = 0;
  Array<std::uint32_t> local_;         // by tuple: local number of its stream
  std::vector<std::uint32_t*> place_;  // by local number: where its next tuple index goes
  std::vector<std::uint32_t> sizes_;   // by worker: tuples so far
  std::vector<Copy> copies_;
  const Routes* routes_ = nullptr;
  std::uint64_t routes_version_ = 0;
};

}  // namespace weir::core
