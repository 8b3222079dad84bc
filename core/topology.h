// Topology: the processing units of a machine, their cores and NUMA groups, and which of them this
// process may use. Read through hwloc once; everything after that is plain data.
//
// Invariants
//  1. `pus` stand in hwloc's logical order: group after group, core after core, siblings together.
//  2. Cores, groups and packages are numbered from 0 in the order of `pus`; all have at least one
//  PU.
//  3. At least one PU is allowed.
// Thread safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weir/status.h"

namespace weir::core {

// A processing unit: a hardware thread.
struct Pu {
  std::uint32_t os = 0;        // number that the system and `taskset` use
  std::uint32_t core = 0;      // physical core
  std::uint32_t group = 0;     // NUMA group
  std::uint32_t group_os = 0;  // number that the system uses for it
  std::uint32_t package = 0;
  bool allowed = true;  // by affinity and cpuset
};

struct Topology {
  std::vector<Pu> pus;
  std::uint32_t cores = 0, groups = 0, packages = 0;
  std::size_t l2_bytes = 0;         // of one core; 0 = unknown
  std::optional<double> cpu_quota;  // CPUs' worth of time that the cgroup grants; absent = no limit
  std::string origin;               // "machine", or the synthetic description

  std::uint32_t allowed_pus() const;
  std::uint32_t allowed_cores() const;  // cores with an allowed PU
  // Threads that can make progress at once, one a core: allowed cores, bounded by the quota rounded
  // up. At least 1.
  std::uint32_t usable_cores() const;

  // This machine. `root` stands before /proc and /sys when the quota is read, for tests.
  static Result<Topology> of_machine(const std::string& root = "");
  // From hwloc's synthetic description, e.g. "numa:2 core:8 pu:2". With `allowed`, only these PUs
  // (by os number) may be used. At most 8192 PUs.
  static Result<Topology> synthetic(std::string_view description,
                                    const std::optional<std::set<std::uint32_t>>& allowed = {},
                                    std::optional<double> cpu_quota = {});
};

// CPUs' worth of time that the calling process's cgroups grant: the least quota / period of its own
// and of every one above it, cgroup v2 (cpu.max) or v1 (cpu.cfs_quota_us). Absent = no limit, or
// nothing readable.
std::optional<double> read_cpu_quota(const std::string& root = "");

}  // namespace weir::core
