// Sticky Sampling: which items are frequent, by chance? Every value has one chance in r to open an
// entry for its item; from then on the item is counted exactly, so frequent items stick.
//
// Invariants
//  1. The estimate is never above the true count: an entry counts values of its item only.
//  2. At rate r = 1 (N < 2t) every count is exact. Beyond, P(f̂ < f - εN) ≤ k·sδ for each item over
//     the choice of the seed, with s and δ as built and k the parts that sampled and were merged
//     (1 for one stream).
//  3. [s', "FrequentItems"] holds no item with a true count below (s' - ε)N, and every one with a
//     true count ≥ s'N with probability ≥ 1 - k·δ·max(1, s/s'): at most 1/s' items are that
//     frequent. The query's own support is obeyed, and n() counts every value, sampled or not.
//  4. Chance is a hash: which value of a block of r may open an entry, of (seed, number of the
//     block's first value, r); the coins of a change of rate, of (seed, N, r, item).
//  5. merge() tosses no coin: counts and parts add up, the rate is the larger. It is commutative
//     and associative, bit for bit.
// Space: t(2 + log2 r) entries at most, for each merged part, t = ⌈ln(1/(sδ))/ε⌉; 2t expected if
// most items are rare. Texts are kept whole, beside that.
//
// Rates. The first 2t values at rate 1, the next 2t at 2, the next 4t at 4, … ; so N ≥ rt once
// r > 1. At a change of rate each entry tosses a fair coin until heads, and loses one for each
// tail.
//
// Which value of r? The paper draws each with probability 1/r. Here one of every r in a row is
// drawn: an item that has m_b of the values of block b is missed by it with probability
// 1 - m_b/r ≤ (1 - 1/r)^m_b, so all of what the paper proves from independent draws holds, a value
// costs no random number, and an epoch opens at most t entries for sure.
//
// Proof of 2 for one part. Let D be the values of the item missed. Claim: P(D ≥ m) ≤ (1 - 1/r)^m
// for all m. Within a rate, by the above. At r → 2r an independent draw at 1/(2r) misses D plus
// nothing with probability 1/2, else one more plus what independent draws at 1/(2r) miss; fair
// coins for the latter lose no more. With N ≥ rt: (1 - 1/r)^εN ≤ e^-εt ≤ sδ. (The fair coins let an
// entry of count f outlive log2 r rates, so the paper's 2t entries, which it derives from "exactly
// the state of the new rate", do not bound every stream. Estimates are the better for it.)
// Proof for merges. Untouched counts miss the sum of what the parts miss, so the failures add up:
// k·sδ. Adjusting the part of the lower rate to the larger, as the paper would, only loses counts,
// most for small parts; it would not lessen the space proved. Later values go on at the larger
// rate as values of the part that has it. Rates change at N = 2rtk from then on: if the whole
// misses εN, one of k parts misses εN/k, and k(1 - 1/r)^(εN/k) ≤ k·e^-εt for N ≥ rtk. So parts
// built with δ/P keep δ after P of them are merged. Cost: 4 to 12 ns a value. Source: G. S. Manku,
// R. Motwani, "Approximate frequency counts over data streams", VLDB 2002, section 4.1. Thread
// safety: shard-local.
#pragma once

#include <cstdint>

#include "synopses/frequent_items.h"
#include "synopses/item_table.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class StickySampling final : public Synopsis {
 public:
  static SynopsisType type();
  // t = ⌈ln(1/(sδ))/ε⌉, the same on every machine.
  static double period(double support, double epsilon, double delta);

  int id() const override { return 6; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  std::uint64_t rate() const { return std::uint64_t{1} << log_rate_; }
  std::uint64_t parts() const { return parts_; }
  std::size_t entries() const { return table_.size(); }

 private:
  struct Counts {
    std::uint64_t f;
  };
  using Table = ItemTable<Counts>;

  explicit StickySampling(const Params& params);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  std::uint64_t values_at_rate() const;
  template <bool plain>
  void take(const Items& items, std::size_t begin, std::size_t end);
  void double_rate();
  std::uint64_t most_missed() const;

  Params params_;
  double support_;
  double epsilon_;
  double delta_;
  std::uint64_t key_;  // of the seed
  std::uint64_t t_;
  std::uint64_t n_ = 0;
  std::uint64_t origin_ = 0;         // n_ when blocks began: at the last change of rate or merge
  std::uint64_t parts_ = 0;          // merged streams that were not empty
  std::uint64_t sampled_parts_ = 0;  // those that may have missed values
  unsigned log_rate_ = 0;
  Table table_;
};

}  // namespace weir::synopses
