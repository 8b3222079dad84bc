// The instruction set that the kernels run with on this machine, for `weir version` and for the
// fingerprint of a recorded run.
//
// Thread safety: thread-safe (pure).
#pragma once

namespace weir::synopses {

// Highway's name of it, such as "AVX3_ZEN4", "AVX2" or "NEON".
const char* simd_target();

}  // namespace weir::synopses
