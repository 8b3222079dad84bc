#include "synopses/window_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "synopses/ordered_keys.h"
#include "synopses/quantile_query.h"

namespace weir::synopses {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
// A leaf is sorted at once; larger ones gain nothing.
constexpr std::uint64_t kMaxLeaf = 1024;
// Halving begins at pieces of at most 2^24 values: keys held twice that much would not leave
// room for blocks within the limit.
constexpr std::uint64_t kMaxPiece = std::uint64_t{1} << 24;
// How many levels below the highest possible the last one may be.
constexpr int kLastChoices = 3;

// `plan` has leaf, first, exact_levels and last; gives it its levels if (1) can hold.
bool fill(WindowPlan& plan) {
  const std::uint64_t total = 2 * plan.allowed;
  std::uint64_t used = plan.piece_size(plan.first) - 1;
  plan.keys = plan.leaf;
  for (int j = 0; j < plan.last; ++j) {
    used += plan.piece_below(j);
    plan.keys += plan.piece_kept(j) + 1;
  }
  if (used > total) return false;
  const std::uint64_t blocks =
      static_cast<std::uint64_t>(plan.last - plan.first) + plan.window / plan.piece_size(plan.last);
  const std::uint64_t each = (total - used) / blocks;
  plan.levels.clear();
  for (int j = plan.first; j <= plan.last; ++j) {
    if (plan.piece_below(j) > each) return false;
    const std::uint64_t kept = plan.piece_kept(j), weight = plan.piece_weight(j);
    const std::uint64_t every = std::min(kept, (each - plan.piece_below(j)) / weight + 1);
    plan.levels.push_back({plan.piece_size(j), every, (kept + every - 1) / every,
                           plan.piece_below(j) + (every - 1) * weight,
                           plan.window / plan.piece_size(j) + 2});
    plan.keys += plan.levels.back().most * plan.levels.back().stride();
  }
  return true;
}

}  // namespace

Result<WindowPlan> WindowPlan::make(double epsilon, double window) {
  WindowPlan whole;
  whole.window = static_cast<std::uint64_t>(window);
  whole.allowed = floor_times(epsilon, whole.window);
  whole.whole = true;
  whole.keys = whole.window;

  // A quarter of T for the values not covered: with levels of N/e keys each and e = (T - B)/levels,
  // that costs least or nearly so for 6 to 20 levels.
  const std::uint64_t oldest = whole.allowed / 2 + 1;
  WindowPlan plan = whole;
  plan.whole = false;
  plan.extremes = plan.window <= WindowPlan::kMaxExactExtremes;
  while ((oldest >> plan.first) > kMaxLeaf) ++plan.first;
  plan.leaf = oldest >> plan.first;
  int highest = plan.first;
  while (plan.piece_size(highest + 1) <= plan.window) ++highest;

  WindowPlan best = whole;
  for (plan.last = highest; plan.last >= std::max(plan.first, highest - kLastChoices + 1);
       --plan.last) {
    plan.exact_levels = 0;
    do {
      if (fill(plan) && plan.keys < best.keys) best = plan;
      ++plan.exact_levels;
    } while (plan.exact_levels <= plan.last && plan.piece_kept(plan.exact_levels) <= kMaxPiece);
  }
  // Integers that no double holds take a key of 16 bytes.
  if (best.keys > kMaxBytes / sizeof(WideKey)) {
    return Status(
        Code::kInvalid,
        fmt::format("WindowSketchQuantiles: epsilon {} over {} values would take {} MiB, "
                    "the limit is {}; choose a larger epsilon or a smaller window",
                    epsilon, whole.window, best.keys * sizeof(WideKey) >> 20, kMaxBytes >> 20));
  }
  return best;
}

}  // namespace weir::synopses
