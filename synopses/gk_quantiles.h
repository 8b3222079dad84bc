// GKQuantiles: the φ-quantile of all values so far, for any φ and whatever their order.
//
// Guarantee: the answer's rank is within εn of ⌈φn⌉, always; with equal values, one of the ranks
// that they share is. The true quantile lies in [lower, upper], always, and where both are equal
// the answer is exact. φ = 0 and 1 give the smallest and the largest value exactly, and all answers
// are exact until the first buffer is full (gk_buffer_size).
//
// Invariants
//  1. Those of gk_summary.h, which holds the proof.
//  2. Numbers are ordered and answered exactly, integers of 64 bits included (ordered_keys.h).
//  3. merge() keeps ε for both inputs and any tree of merges. What is lost is only the bound on the
//     number of tuples.
// Thread safety: shard-local.
//
// Memory: the buffer (512 values at ε = 0.01) and tuples of 24 bytes, fewer than 2/ε on most
// streams and 6/ε on the worst of our workloads at 10^7 values. Joining without the paper's bands
// has no proven bound on tuples: these are measurements. Source: see gk_summary.h.
#pragma once

#include "synopses/gk_summary.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class GkQuantiles final : public Synopsis {
 public:
  static SynopsisType type();

  int id() const override { return 8; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override;
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  // Tuples held, for tests of their size.
  std::size_t tuple_count() const;

 private:
  explicit GkQuantiles(const Params& params);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);

  Params params_;
  NarrowOrWide<GkSummary> summary_;
};

}  // namespace weir::synopses
