// Batch: what one shard worker is to apply of one block, grouped by stream, and scatter(), which
// makes the batches of a block from its columns.
//
// Invariants
//  1. Each tuple of the block is in exactly one batch as a primary run (its owner's); in further
//     batches it is in runs marked secondary.
//  2. Inside a run the tuples keep record order. The order of runs inside a batch is not observable.
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

  std::uint16_t owner(const Key& key) const { return slot_owner[key.slot]; }
};

// Scratch of one ingest agent, kept between blocks. Its size follows the number of streams.
class Scatter {
 public:
  // Fills batches[0, routes.workers). Cost: one count and one copy a tuple, whatever the number of
  // streams. A stream's owner is cached by id; a different Routes object drops the cache.
  void run(const Columns& columns, const KeyTable& keys, const Routes& routes,
           std::span<Batch> batches);

 private:
  std::vector<std::uint32_t> count_;     // by stream id; zero between calls
  std::vector<std::uint32_t> position_;  // by stream id
  std::vector<std::uint32_t> touched_;   // stream ids of this block by first arrival
  std::vector<std::uint16_t> owner_;     // by stream id, kUnknownOwner until asked
  const Routes* routes_ = nullptr;
};

}  // namespace weir::core
