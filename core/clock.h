// Time that has passed, for measuring.
//
// Thread safety: thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir::core {

// ns on a clock that never goes back.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace weir::core
