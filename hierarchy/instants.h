// Instants: arithmetic on event times that any host may push: it saturates, and never wraps.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <limits>

namespace weir::hierarchy {

inline constexpr std::int64_t kFirstInstant = std::numeric_limits<std::int64_t>::min() + 1;
inline constexpr std::int64_t kLastInstant = std::numeric_limits<std::int64_t>::max();

// a − b. REQUIRES: b >= 0. What lies before every time comes out as "no time", which no time is
// at or before.
constexpr std::int64_t before(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  return a < kNone + b ? kNone : a - b;
}

// Of an exact value, the nearest time.
__extension__ typedef __int128 Wide;
constexpr std::int64_t to_instant(Wide exact) {
  if (exact < kFirstInstant) return kFirstInstant;
  return exact > kLastInstant ? kLastInstant : static_cast<std::int64_t>(exact);
}

// The largest k with k·step <= a. REQUIRES: step > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t step) {
  const std::int64_t k = a / step;
  return k - (a % step < 0);
}
constexpr std::int64_t floor_div_wide(Wide a, std::int64_t step) {
  const Wide k = a / step - (a % step < 0);
  constexpr Wide kLeast = std::numeric_limits<std::int64_t>::min();
  return k < kLeast ? static_cast<std::int64_t>(kLeast) : static_cast<std::int64_t>(k);
}

}  // namespace weir::hierarchy
