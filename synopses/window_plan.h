// Window plan: the sizes of the blocks of WindowSketchQuantiles, and the errors they may have.
//
// A function of (ε, N) alone. Thread safety: immutable.
//
// Values in order of arrival fall into leaves of `leaf` values. A piece of level j covers
// `leaf`·2^j values that begin at a multiple of that; it is made of its two halves as soon as the
// second is closed. Pieces keep all their values up to level `exact_levels`, above it every second
// of the merged two: weight w of a kept value doubles with each level, and so
//   below(j) = most by which a piece undercounts the values ≤ x = 2·below(j-1) + w(j-1),
// that is c·2^(c-1) after c halvings (the collapse of Manku, Rajagopalan and Lindsay).
// Of each piece from level `first` on a block is kept for as long as the window may need it: every
// m-th of the piece's kept values, which adds (m-1)·w to what it undercounts.
//
// What a query needs: the oldest B - 1 values of the window at most are not covered, where
// B = leaf·2^first; then come at most one block of each level from `first` to `last` - 1, at most
// N/(leaf·2^last) blocks of level `last`, and the open pieces below it, one of each level. `Levels`
// are sized so that for T = 2⌊εN⌋
//   (B - 1) + Σ errors of those blocks and pieces ≤ T,                                         (1)
// and of all plans like that (exact_levels, last) the smallest is taken. If none is smaller than
// the N values themselves, these are kept (`whole`).
// The limit of 1 GiB: at most N = 2^24 keys of 16 bytes and as many records of 24, or 2^26 keys.
#pragma once

#include <cstdint>
#include <vector>

#include "weir/status.h"

namespace weir::synopses {

struct WindowPlan {
  // Up to this window the smallest and largest are exact: in the worst case they take a record of
  // 16 or 24 bytes for each of the N values.
  static constexpr std::uint64_t kMaxExactExtremes = std::uint64_t{1} << 24;

  // Blocks of one level: the piece's smallest value, then `kept` of its values.
  struct Level {
    std::uint64_t size;   // values of the stream that a block covers
    std::uint64_t every;  // m
    std::uint64_t kept;   // ⌈values of the piece / m⌉; the last is the largest
    std::uint64_t below;  // most by which the block undercounts
    std::uint64_t most;   // blocks that may be needed at once
    std::size_t stride() const { return static_cast<std::size_t>(kept + 1); }
  };

  // REQUIRES: 1e-6 ≤ ε ≤ 0.5, N whole and 1 ≤ N ≤ 1e12. An error if it would take more than 1 GiB.
  static Result<WindowPlan> make(double epsilon, double window);

  std::uint64_t window = 0;   // N
  std::uint64_t allowed = 0;  // ⌊εN⌋
  bool whole = false;         // the last N values themselves are kept; nothing below is used
  bool extremes = false;      // of the window are kept exactly (window_extremes.h)
  std::uint64_t leaf = 1;
  int exact_levels = 0;
  int first = 0;
  int last = 0;
  std::vector<Level> levels;  // from `first` to `last`
  std::uint64_t keys = 0;     // most that are held at once

  // Of a piece of level j.
  std::uint64_t piece_size(int j) const { return leaf << j; }
  std::uint64_t piece_kept(int j) const { return leaf << (j < exact_levels ? j : exact_levels); }
  std::uint64_t piece_weight(int j) const { return piece_size(j) / piece_kept(j); }
  std::uint64_t piece_below(int j) const {
    const int halvings = j - exact_levels;
    return halvings <= 0 ? 0 : static_cast<std::uint64_t>(halvings) << (halvings - 1);
  }
};

}  // namespace weir::synopses
