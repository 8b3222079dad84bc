#include "harness/machine_load.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace weir::harness {
namespace {

// Seconds that all cores together were not idle.
double busy_seconds() {
  std::ifstream in("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
  in >> cpu >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> stolen;
  return (user + nice + system + irq + softirq + stolen) /
         static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
}

}  // namespace

MachineLoad::MachineLoad() : busy_(busy_seconds()) {}

double MachineLoad::others(double own_cpu_seconds) const {
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  const double used = busy_seconds() - busy_ - own_cpu_seconds;
  return wall > 0 ? std::clamp(used / (wall * cores), 0.0, 1.0) : 0;
}

bool wait_for_quiet(double share, std::chrono::duration<double> patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const MachineLoad load;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    if (load.others(0) <= share) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
  }
}

}  // namespace weir::harness
