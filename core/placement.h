// Placement: which role runs on which thread, and on which processing unit each thread is pinned. A
// pure function of topology and options, so that it can be tested on machines nobody has.
//
// Invariants
//  1. Shard workers are numbered 0, 1, … without a gap, ingest agents likewise; every thread has
//  one
//     of the two roles or both.
//  2. No PU is given to two threads, and none that is not allowed to any.
//  3. A core gets a second thread only when every allowed core has one.
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/topology.h"
#include "weir/status.h"

namespace weir::core {

inline constexpr unsigned kMaxThreads = 1024;  // more is a slip of the keyboard

struct PlacementOptions {
  unsigned threads = 0;         // each parses and applies; 0 = Topology::usable_cores()
  unsigned ingest_threads = 0;  // both > 0: threads of one role each, instead of `threads`
  unsigned shard_threads = 0;
  // "auto": one thread a core, NUMA group after NUMA group, then the siblings in the same order,
  // then unpinned. "spread": the same, but groups take turns. "none": nothing is pinned.
  std::string policy = "auto";
};

struct PlacedThread {
  std::uint32_t number = 0;
  std::optional<std::uint32_t> shard;         // number of its shard worker
  std::optional<std::uint32_t> ingest;        // number of its ingest agent
  std::optional<std::uint32_t> pu;            // os number; absent = unpinned
  std::optional<std::uint32_t> core;          // absent = unpinned
  std::optional<std::uint32_t> group;         // NUMA group; absent = unpinned
  std::optional<std::uint32_t> memory_group;  // os number of the group to take memory from; absent
                                              // on a machine of one group and when unpinned
  // core (has a core to itself), smt (shares its core with a thread before it), shared (more
  // threads than PUs), unpinned (policy none).
  const char* reason = "unpinned";

  // "fused", "ingest" or "shard".
  const char* role() const;
};

struct Placement {
  std::vector<PlacedThread> threads;
  std::string summary;  // one line, e.g. "2 threads on 2 cores of 1 NUMA group"

  std::uint32_t shard_workers() const;
  std::uint32_t ingest_agents() const;
};

// An error names the option, its value and what would be right.
Result<Placement> place(const Topology& topology, const PlacementOptions& options);

// {"summary":…,"threads":[{"thread":0,"role":"fused","shard":0,"ingest":0,"pu":0,"core":0,"numa":0,
// "reason":"core"},…]}; what a thread does not have is null.
std::string to_json(const Placement& placement);

}  // namespace weir::core
