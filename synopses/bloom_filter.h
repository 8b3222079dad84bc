// BloomFilter: has this item been seen? "No" is always right; "maybe" is wrong for at most a chosen
// share of the items that were never seen.
//
// Layout. A classic filter sets k bits anywhere: k cache misses a value. Here all bits of an item
// lie in one block of at most a cache line, one bit in each of the block's k equal sectors
// (bloom_filter_kernel.h), k = 1, 2, 4, 8, 16 or 32. Blocks fill unevenly, which costs a little
// memory: shape_for() sizes up for it, and takes the k that needs least. Against m = -n·ln p/ln²2:
// 1 % takes 10.10 bits an item where that says 9.59, 10 % 4.93 for 4.79, 0.1 % 15.7 for 14.4, 10^-6
// 39 for 28.8.
//
// Rate. Let q = 1 - k/b for sectors of b/k bits in a block of b bits. After i different items fell
// in one block, a given bit of a sector is set with probability 1 - q^i, and sectors are
// independent since every item draws its bit in each anew; so a further item finds all its k bits
// set with probability exactly (1 - q^i)^k. Items choose one of B blocks uniformly, so i is
// binomial(n, 1/B):
//   rate(n) = Σ_i C(n, i) B^-i (1 - 1/B)^(n-i) (1 - q^i)^k,
// the mixture of Putze et al. with the binomial where they take its limit, Poisson(n/B). B is the
// smallest for which rate(expected) ≤ fpp. The sum has positive terms and takes only + · / from its
// largest term outwards, so every machine finds the same B.
//
// Invariants
//  1. An item that was seen is never answered false.
//  2. After up to `expected` different items, P(true for an item never seen) ≤ fpp over the choice
//     of the seed, hashes being treated as random (docs/bounds.md). Beyond, the rate rises; every
//     answer states the one that holds.
//  3. Linear: merge() is OR, bit for bit as one filter over both inputs. All parameters and the
//  seed
//     must be equal.
//
// Answers. false: `exact`, at confidence 1. true ("maybe"): confidence = 1 - r, r the current rate
// of false positives: of items never seen, the share 1 - r would have been answered false. r is
// computed from the bits: the mean over blocks of Π over sectors of (bits set / bits), which is the
// exact chance of a random item against this very filter.
// Cost: a value one cache line, fetched ahead within a batch; an answer `true` one pass over the
// filter after each change.
// Thread safety: shard-local.
// Sources: B. Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 13 (1970).
// F. Putze, P. Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom filters", WEA 2007,
// section 3.
#pragma once

#include <cstdint>
#include <optional>

#include "core/array.h"
#include "synopses/bloom_filter_kernel.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class BloomFilter final : public Synopsis {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

  // The smallest filter that keeps the rate; the same on every machine. None if it would take more
  // than kMaxBytes. REQUIRES: expected ≥ 1, 1e-9 ≤ fpp ≤ 0.5.
  static std::optional<BloomShape> shape_for(std::uint64_t expected, double fpp);
  // rate(items) above.
  static double expected_rate(const BloomShape& shape, std::uint64_t items);

  static SynopsisType type();

  int id() const override { return 3; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override { return sizeof *this + words_.size() * 8; }
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  const BloomShape& shape() const { return shape_; }
  // By base hash.
  bool may_contain(std::uint64_t hash) const;
  // The chance that an item never seen is answered true now.
  double current_rate() const;

 private:
  BloomFilter(const Params& params, const BloomShape& shape);  // without words
  static Result<BloomShape> shape_of(const Params& params);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  Status check_words() const;

  Params params_;
  BloomShape shape_;
  std::uint64_t key_;
  core::Array<std::uint64_t> words_;  // block after block
  std::uint64_t n_ = 0;
  // current_rate() as it was at rate_n_ values: the bits change only when n does.
  mutable double rate_ = 0.0;
  mutable std::uint64_t rate_n_ = 0;
};

}  // namespace weir::synopses
