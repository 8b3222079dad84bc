// HyperLogLog: how many different items has this stream shown? A few kilobytes answer, to a chosen
// relative error, for any number of them.
//
// The idea. Hash every item to 64 bits that look like coin tosses. A hash that begins with k zeros
// turns up once in 2^k different items, so the longest run of zeros seen tells the order of
// magnitude of how many different items there were, and seeing an item again changes nothing. One
// run is a wild guess; so the first p bits of the hash deal the items to m = 2^p registers, each of
// which keeps the longest run among the remaining 64 - p bits, plus one (its rank; 0 = no item
// yet), and the guesses are averaged harmonically.
//
// The estimator. Flajolet's formula is biased when registers are still empty (n up to about 5m),
// and the usual repair switches between formulas or consults tables of measured bias (HLL++). Ertl
// found one closed formula that needs neither. With C[k] the number of registers of rank k, q = 64
// - p,
//   n̂ = α∞ m² / ( m·σ(C[0]/m) + Σ_{k=1..q} C[k]·2^-k + m·τ(1 - C[q+1]/m)·2^-q ),  α∞ = 1/(2 ln 2),
// σ corrects for empty registers (it turns into linear counting for small n), τ for full ones. With
// 64-bit hashes the latter never matters here; with the 32 bits of older code it did near 2^32.
// Only the histogram of ranks is used, and +, ·, √ are exact to the last bit on every machine.
//
// Registers take a byte each, not six bits packed: they cost a third more memory, and an update is
// one load, one compare and almost never a store.
//
// Invariants
//  1. State depends on the set of items alone (and n): neither order, repetition nor cuts show.
//  2. Linear: merge() is the maximum of registers, bit for bit as if one had seen both streams.
//  3. estimate ≤ n, and ≥ 1 when n ≥ 1.
//  4. The interval holds the true count with probability ≥ 95 % over the choice of the seed, at
//     every count (measured from 1 to 10^6 at p = 4 … 14, see the tests). It is the set of counts
//     that lie within 1.96 standard errors of the estimate, [n̂/(1+z), n̂/(1-z)], z = 1.96·1.04/√m,
//     its upper end one more (while counts are small the error is a whole collision or nothing, and
//     not normal), cut to what is certain: at least the registers in use, at most the values taken.
// Thread safety: shard-local.
// Sources: P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, "HyperLogLog: the analysis of a
// near-optimal cardinality estimation algorithm", AofA 2007. O. Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches", arXiv:1702.01284 (2017), section 2, algorithm 6.
#pragma once

#include <cstdint>
#include <vector>

#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class HyperLogLog final : public Synopsis {
 public:
  static constexpr int kMinPrecision = 4;
  static constexpr int kMaxPrecision = 18;
  // The smallest p with 1.04/√(2^p) ≤ rsd.
  static int precision_for(double rsd);

  static SynopsisType type();

  int id() const override { return 2; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override { return sizeof *this + registers_.size(); }
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  int precision() const { return precision_; }
  const std::vector<std::uint8_t>& registers() const { return registers_; }
  // The distinct count, not rounded.
  double distinct() const;

 private:
  explicit HyperLogLog(const Params& params);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);

  Params params_;
  int precision_;
  std::uint64_t key_;
  std::vector<std::uint8_t> registers_;
  std::uint64_t n_ = 0;
};

}  // namespace weir::synopses
