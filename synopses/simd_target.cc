#include "synopses/simd_target.h"

#include <hwy/targets.h>

#include <cstdint>

namespace weir::synopses {

const char* simd_target() {
  // Better targets have lower bits; those that were compiled and run here.
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);
}

}  // namespace weir::synopses
