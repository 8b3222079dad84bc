// Entry: what one sequence number carries through the ring: a block, its columns, a batch for every
// shard worker, and the requests that take effect before its first record.
//
// Thread safety: written by the claimant until it is published, then immutable until every worker
// has consumed it.
#pragma once

#include <memory>
#include <vector>

#include "core/batch.h"
#include "core/block.h"
#include "core/ring.h"
#include "engine/request.h"

namespace weir::engine {

// A request with its number in the order in which requests were given; ties at one cut are settled
// by it.
struct Scheduled {
  std::uint64_t order = 0;
  std::shared_ptr<const Request> request;
};

struct Entry {
  core::Block block;
  core::Columns columns;
  std::vector<core::Batch> batches;  // by shard worker
  std::vector<Scheduled> requests;
  std::shared_ptr<const core::FieldSet> fields;
  std::shared_ptr<const core::Routes> routes;
  bool end = false;  // the last entry: no records, end of input
};

using Ring = core::SequencedRing<Entry>;

}  // namespace weir::engine
