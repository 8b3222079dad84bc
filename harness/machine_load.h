// MachineLoad: what all other programs used of the processors while one run was measured.
//
// Thread safety: thread-compatible.
// Source: /proc/stat (proc(5)): user, nice, system, irq and softirq time of all cores, in ticks,
// and the time that a hypervisor gave to others.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir::harness {

class MachineLoad {
 public:
  // Begins to measure.
  MachineLoad();

  // The share of all cores' time since the beginning, 0 to 1, that was used but not by who used
  // `own_cpu_seconds`; time stolen by the hypervisor is somebody else's. 0 where /proc is not
  // there.
  double others(double own_cpu_seconds) const;

 private:
  double busy_;  // seconds, over all cores
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

// Waits until others used at most `share` of the cores for a quarter of a second, or until
// `patience` is over. True = it is quiet.
bool wait_for_quiet(double share, std::chrono::duration<double> patience);

}  // namespace weir::harness
