#include "core/affinity.h"

#include <numaif.h>
#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <vector>

namespace weir::core {

Status pin_this_thread(std::uint32_t pu) {
  // cpu_set_t ends at 1024; larger machines need a set of their own size.
  const std::size_t count = std::size_t{pu} + 1;
  cpu_set_t* const set = CPU_ALLOC(count);
  if (set == nullptr) return {Code::kIo, "no memory for a CPU set"};
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(pu, bytes, set);
  const int error = pthread_setaffinity_np(pthread_self(), bytes, set);
  CPU_FREE(set);
  if (error == 0) return {};
  return {Code::kIo,
          "cannot pin a thread to CPU " + std::to_string(pu) + ": " + std::strerror(error)};
}

Status prefer_memory_of(std::uint32_t group_os) {
  // The system call rather than libnuma's wrapper, which prints its errors.
  constexpr std::size_t kBits = CHAR_BIT * sizeof(unsigned long);
  std::vector<unsigned long> mask(group_os / kBits + 1, 0);
  mask[group_os / kBits] = 1ul << (group_os % kBits);
  // The kernel reads one bit less than it is told.
  if (set_mempolicy(MPOL_PREFERRED, mask.data(), mask.size() * kBits + 1) == 0) return {};
  return {Code::kIo, "cannot prefer memory of NUMA group " + std::to_string(group_os) + ": " +
                         std::strerror(errno)};
}

void name_this_thread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

Settled settle(const PlacedThread& thread) {
  Settled settled;
  name_this_thread(std::string("weir-") + thread.role() + "-" + std::to_string(thread.number));
  if (thread.pu.has_value()) {
    const Status status = pin_this_thread(*thread.pu);
    settled.pinned = status.ok();
    settled.complaint = status.message();
  }
  // Without the pin the thread may run far from that memory, so it is left to the system.
  if (settled.pinned && thread.memory_group.has_value()) {
    settled.complaint = prefer_memory_of(*thread.memory_group).message();
  }
  return settled;
}

}  // namespace weir::core
