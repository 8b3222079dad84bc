#include "core/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

namespace weir::core {
namespace {

constexpr std::uint64_t kMaxPus = 8192;

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Hwloc = std::unique_ptr<hwloc_topology, Destroy>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Hwloc new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  return Hwloc(topology);
}

// Numbers from 0 by first appearance.
class Numbering {
 public:
  std::uint32_t of(std::uint64_t id) {
    return numbers_.try_emplace(id, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::map<std::uint64_t, std::uint32_t> numbers_;
};

std::uint32_t group_os_of(hwloc_obj_t pu) {
  const int first = hwloc_bitmap_first(pu->nodeset);
  return first < 0 ? 0 : static_cast<std::uint32_t>(first);
}

std::uint64_t ancestor_id(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, pu);
  // A machine that shows no cores: each PU counts as one. One that shows no packages is one
  // package.
  if (found == nullptr) return type == HWLOC_OBJ_CORE ? pu->logical_index : 0;
  return found->logical_index;
}

Topology read_pus(hwloc_topology_t hwloc) {
  Topology topology;
  Numbering cores, groups, packages;
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, pu)) != nullptr) {
    Pu one;
    one.os = pu->os_index;
    one.core = cores.of(ancestor_id(hwloc, HWLOC_OBJ_CORE, pu));
    one.group_os = group_os_of(pu);
    one.group = groups.of(one.group_os);
    one.package = packages.of(ancestor_id(hwloc, HWLOC_OBJ_PACKAGE, pu));
    topology.pus.push_back(one);
  }
  topology.cores = cores.size();
  topology.groups = groups.size();
  topology.packages = packages.size();
  const int depth = hwloc_get_type_depth(hwloc, HWLOC_OBJ_L2CACHE);
  if (depth >= 0) {
    const hwloc_obj_t cache = hwloc_get_obj_by_depth(hwloc, depth, 0);
    if (cache != nullptr) topology.l2_bytes = cache->attr->cache.size;
  }
  return topology;
}

// The number of PUs that a description asks for, before hwloc is let loose on it: "numa:2 core:8"
// or "2 8", memory in brackets and attributes in parentheses left out.
std::uint64_t described_pus(std::string_view description) {
  std::uint64_t product = 1;
  std::size_t i = 0;
  while (i < description.size()) {
    const char c = description[i];
    if (c == '(' || c == '[') {
      const std::size_t end = description.find(c == '(' ? ')' : ']', i);
      if (end == std::string_view::npos) break;
      i = end + 1;
    } else if (c >= '0' && c <= '9' &&
               (i == 0 || description[i - 1] == ':' || description[i - 1] == ' ')) {
      std::uint64_t count = 0;
      for (; i < description.size() && description[i] >= '0' && description[i] <= '9'; ++i) {
        count = std::min<std::uint64_t>(count * 10 + static_cast<unsigned>(description[i] - '0'),
                                        kMaxPus + 1);
      }
      product = std::min(product * std::max<std::uint64_t>(count, 1), kMaxPus + 1);
    } else {
      ++i;
    }
  }
  return product;
}

}  // namespace

std::uint32_t Topology::allowed_pus() const {
  return static_cast<std::uint32_t>(
      std::count_if(pus.begin(), pus.end(), [](const Pu& pu) { return pu.allowed; }));
}

std::uint32_t Topology::allowed_cores() const {
  std::set<std::uint32_t> found;
  for (const Pu& pu : pus) {
    if (pu.allowed) found.insert(pu.core);
  }
  return static_cast<std::uint32_t>(found.size());
}

std::uint32_t Topology::usable_cores() const {
  const std::uint32_t cores_allowed = std::max(allowed_cores(), 1u);
  if (!cpu_quota.has_value() || *cpu_quota >= cores_allowed) return cores_allowed;
  // Rounded up: one thread could not use up a quota of 1.5.
  return std::max(static_cast<std::uint32_t>(std::ceil(*cpu_quota)), 1u);
}

Result<Topology> Topology::of_machine(const std::string& root) {
  const Hwloc hwloc = new_topology();
  if (hwloc == nullptr ||
      hwloc_topology_set_flags(hwloc.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(hwloc.get()) != 0) {
    return Status(Code::kIo, std::string("hwloc cannot read this machine's topology: ") +
                                 std::strerror(errno));
  }
  Topology topology = read_pus(hwloc.get());
  topology.origin = "machine";
  const hwloc_const_bitmap_t cpuset = hwloc_topology_get_allowed_cpuset(hwloc.get());
  const Bitmap bound(hwloc_bitmap_alloc());
  // The calling thread's affinity is what its threads inherit. A system that cannot tell restricts
  // nothing.
  if (bound == nullptr) return Status(Code::kIo, "hwloc cannot allocate a CPU set");
  if (hwloc_get_cpubind(hwloc.get(), bound.get(), HWLOC_CPUBIND_THREAD) != 0 ||
      hwloc_bitmap_iszero(bound.get())) {
    hwloc_bitmap_fill(bound.get());
  }
  for (Pu& pu : topology.pus) {
    pu.allowed =
        hwloc_bitmap_isset(cpuset, pu.os) != 0 && hwloc_bitmap_isset(bound.get(), pu.os) != 0;
  }
  if (topology.allowed_pus() == 0) {
    return Status(Code::kIo, "this process may use no CPU of the machine that hwloc sees");
  }
  topology.cpu_quota = read_cpu_quota(root);
  return topology;
}

Result<Topology> Topology::synthetic(std::string_view description,
                                     const std::optional<std::set<std::uint32_t>>& allowed,
                                     std::optional<double> cpu_quota) {
  const std::string text(description);
  const std::string expected = ": expected something like \"numa:2 core:8 pu:2\"";
  if (described_pus(description) > kMaxPus) {
    return Status(Code::kInvalid,
                  "topology \"" + text + "\" has more than " + std::to_string(kMaxPus) + " PUs");
  }
  const Hwloc hwloc = new_topology();
  if (hwloc == nullptr) return Status(Code::kIo, "hwloc cannot allocate a topology");
  if (text.empty() || hwloc_topology_set_synthetic(hwloc.get(), text.c_str()) != 0 ||
      hwloc_topology_load(hwloc.get()) != 0) {
    return Status(Code::kInvalid,
                  "topology \"" + text + "\" is not a synthetic description" + expected);
  }
  Topology topology = read_pus(hwloc.get());
  topology.origin = text;
  topology.cpu_quota = cpu_quota;
  if (allowed.has_value()) {
    for (Pu& pu : topology.pus) pu.allowed = allowed->contains(pu.os);
    if (topology.allowed_pus() == 0) {
      return Status(Code::kInvalid, "topology \"" + text + "\" has none of the allowed PUs");
    }
  }
  return topology;
}

}  // namespace weir::core
