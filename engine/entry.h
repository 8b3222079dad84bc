// Entry: what one sequence number carries through the ring: a block, its columns, a batch for every
// shard worker, and the requests that take effect before its first record.
//
// Thread safety: written by the claimant until it is published, then by the gate until the first
// worker reads it (engine/gate.h), then immutable until every worker has consumed it, but for the
// verdicts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/array.h"
#include "core/batch.h"
#include "core/block.h"
#include "core/ring.h"
#include "engine/request.h"

namespace weir::ingest {
struct Layout;
}

namespace weir::engine {

// A request with its number in the order in which requests were given; ties at one cut are settled
// by it.
struct Scheduled {
  std::uint64_t order = 0;
  std::shared_ptr<const Request> request;
};

// What became of each tuple, where hierarchies stand: they and the synopses of its stream judge it
// on different workers. Whoever settles last counts.
struct Verdicts {
  bool shared = false;  // set by the claimant; else a stream's owner counts its tuples alone
  core::Array<std::uint8_t> by_synopses, by_groups;  // hierarchy::Verdict, by tuple
  std::atomic<std::uint32_t> settled{0};             // workers that have added theirs
};

class HandOver;
class Mark;

struct Entry {
  core::Block block;
  core::Columns columns;
  const ingest::Layout* layout = nullptr;  // of the block, if it has bytes
  std::vector<core::Batch> batches;        // by shard worker
  std::vector<Scheduled> requests;
  std::shared_ptr<const core::FieldSet> fields;
  std::shared_ptr<const core::Routes> routes;
  std::shared_ptr<HandOver> hand_over;  // with it begins a generation of workers; else null
  std::shared_ptr<Mark> mark;           // a snapshot is taken of what is before it; else null
  Verdicts verdicts;                    // written by workers, each its own tuples
  bool end = false;                     // the last entry: no records, end of input
};

using Ring = core::SequencedRing<Entry>;

}  // namespace weir::engine
