// WindowSketchQuantiles: the φ-quantile of the last N values of a stream, for any φ and any N ≥ 1.
//
// Guarantee: with w = min(n, N), the answer's rank among the last w values is within εN of ⌈φw⌉,
// always (with equal values, one of the ranks that they share is), and the true quantile lies in
// [lower, upper], always; where both are equal the answer is exact. If keeping the N values takes
// less memory than sketching them, as whenever N < 1/ε, they are kept and every answer is exact.
//
// φ = 0 and 1 give the exact smallest and largest of the w values if N ≤ 2^24. Beyond, they give
// those of all but the u oldest values (below), and `lower` and `upper` say how far these, partly
// expired, may go beyond.
//
// What any other answer covers: it is read from the last w - u values, those from the first
// multiple of B on, u ≤ B - 1 ≤ ⌊εN⌋/2 (B is the smallest block, window_plan.h); u = 0 while n ≤ N.
//
// Proof of the bound. The covered values are a disjoint union of blocks, open pieces and the open
// leaf, each a sorted list whose kept values stand for weights. A block's estimate est_b(x), the
// weight of its kept values ≤ x, is at most the true count c_b(x), and c_b(x) ≤ est_b(x) + E_b
// (`below` in window_plan.h). Sort all kept values; let S(i) be the weight up to value v(i) and
// E = Σ E_b. Of the w values at least S(i) are ≤ v(i), and at most S(i-1) + E + u are < v(i). So
// v(i) has a rank in [S(i), S(i-1) + E + u + 1]. Let h = ⌊(E + u)/2⌋, and v(i) the first with
// S(i) ≥ r - h for the wanted rank r: S(i-1) ≤ r - h - 1, so its rank is at most r - h + E + u, and
// both errors are at most ⌈(E + u)/2⌉ ≤ ⌊εN⌋, because plans keep E + u ≤ 2⌊εN⌋. If there is no such
// v(i), then r > w - u + h and the largest covered value, which u values at most exceed, is within
// u ≤ εN. The query takes the value whose larger error is smallest, which is no worse.
//
// Invariants
//  1. Those of window_blocks.h. The answer depends on the last N values and on n mod the largest
//     block; not on queries.
//  2. Numbers are ordered and answered exactly, integers of 64 bits included (ordered_keys.h).
// It does not merge: the order of arrival decides what is in the window.
// Thread safety: shard-local.
//
// Memory: the blocks, as window_plan.h sizes them by ε, and what exact extremes take: two times ln
// N records for values in random order, but N + 1 of 16 bytes for a stream that rises or falls for
// a whole window, since each of its values will be an extreme (window_extremes.h).
//
// Cost: a value is sorted in a leaf (101 values at ε = 0.01, N = 20 000), then takes part in one
// merge of two sorted runs at each level up to `exact_levels`, and in half as many steps at each
// above. A query sorts what is kept of the covered blocks.
// Source: A. Arasu, G. S. Manku, "Approximate counts and quantiles over sliding windows", PODS
// 2004, section 4 (fixed-size windows: blocks on levels, each with its error). Instead of a GK
// summary of its own for every level, blocks are made from their halves by the collapse of G. S.
// Manku, S. Rajagopalan, B. G. Lindsay, "Approximate medians and other quantiles in one pass and
// with limited memory", SIGMOD 1998, section 3, so that a value is sorted once.
#pragma once

#include <memory>

#include "synopses/registry.h"
#include "synopses/synopsis.h"
#include "synopses/window_blocks.h"

namespace weir::synopses {

class WindowQuantiles final : public Synopsis {
 public:
  static SynopsisType type();

  int id() const override { return 10; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override;
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

 private:
  WindowQuantiles(const Params& params, std::shared_ptr<const WindowPlan> plan);
  static Result<std::unique_ptr<WindowQuantiles>> make(const Params& params);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);

  Params params_;
  std::shared_ptr<const WindowPlan> plan_;
  NarrowOrWide<WindowBlocks> blocks_;
};

}  // namespace weir::synopses
