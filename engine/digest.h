// State at the end of a run: the synopses of all workers merged, and the digest over them.
//
// The digest is XXH3 over the canonical serialisation, sorted by identity, of the merged synopses
// of the values and windows of hierarchies, and of the applied, late and unrouted counts. Equal
// inputs and requests give equal digests at every number of threads and every block size. Thread
// safety: thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shard.h"

namespace weir::engine {

// One synopsis, whole.
struct Standing {
  std::string identity;
  std::string stream;  // of Scheme::kByStream: whose it is
  std::shared_ptr<const Build> build;
  std::unique_ptr<synopses::Synopsis> synopsis;
  std::uint64_t without_weight = 0;
  Status status;  // bad if its parts did not all merge
};

// Brings the parts of every build together, sorted by identity; every stream's synopsis of a
// Scheme::kByStream build stands alone, or the empty one if there is none. `workers[w]` are the
// instances of worker w. Merging runs on up to `threads` threads.
std::vector<Standing> merge_workers(std::vector<std::vector<Instance>> workers, unsigned threads,
                                    const core::KeyTable& keys);

// What else there is.
struct OtherState {
  std::uint64_t applied = 0, late = 0, unrouted = 0;
  std::string_view groups{};  // canonical; empty without hierarchies
};
// 16 hex digits.
std::string digest_of(const std::vector<Standing>& standing, const OtherState& other,
                      unsigned threads);

}  // namespace weir::engine
