// Ams: how skewed is this stream? A table of d rows of w signed counters from which come the second
// frequency moment F2 = Σ f² (and its root, the L2 norm), the count of an item and the inner
// product of two streams. An item counts in one cell of each row, with a sign; weights may be
// negative.
//
// Invariants
//  1. Nothing overflows: n = Σ |weight| ≤ 2^62 bounds Σ |cell| of every row, so each cell fits in
//  64
//     bits and each row's squares add up to at most 2^124, summed exactly in 128 bits. Past that
//     the synopsis saturates: it lets its cells go, n stays 2^62, it takes no more, and every
//     estimate is null with that reason. Whether it does, and what state remains, does not depend
//     on order.
//  2. Linear: merge() adds cells, bit for bit as one table over both inputs. Seed and shape must be
//     equal; the seed alone decides signs and columns.
//
// What holds. One row, columns and signs independent and uniform for different items (their hash is
// treated as random, docs/bounds.md; the range adds at most 2^-31 to p below), p = 1/w + 2^-31 the
// chance that two items meet, ‖f‖² = F2:
//   count    s(x)·cell(x)      unbiased, variance ≤ p·‖f‖²       (Charikar et al., lemma 1 and 2)
//   product  Σ_c A[c]·B[c]     unbiased, variance ≤ p·(‖f‖²‖g‖² + (f·g)²) ≤ 2p·‖f‖²‖g‖²
//   F2       the product of a row with itself                    (Cormode & Garofalakis, theorem 2)
// since E of the square of Σ_{x≠y} s(x)s(y)·f(x)g(y)·[x meets y] leaves only pairs and swapped
// pairs. The answer is the median over rows (of an even number, the mean of the two in the middle);
// it lies outside an interval only if at least ⌈d/2⌉ rows do. Rows are independent, so if one row
// does with probability ≤ q, the answer does with probability
//   T(q) = P(binomial(d, q) ≥ ⌈d/2⌉),
// computed as it stands, which is sharper than its Chernoff bound e^-cd. Chebyshev gives q:
//   product, F2   q = 1/8:  |error| ≤ √8·√(2p)·‖f‖‖g‖ = 4√p·‖f‖‖g‖
//   count         q = 1/4:  |error| ≤ 2·√p·‖f‖; its error is symmetric (flip the signs of all other
//                           items), so each side has 1/8, and both fail with at most 2·T(1/8)
// F2: [m/(1 + 4√p), m/(1 - 4√p)] holds it at confidence 1 - T(1/8), for the median m.
// Norms in the bounds of counts and products are not known; the upper end of F2 stands in for them.
// Only its low side matters, where Cantelli's inequality gives q = 1/9. So the confidences are
//   count 1 - 2·T(1/8) - T(1/9),    product 1 - T(1/8) - 2·T(1/9),
// 95.6 % and 96.1 % for five rows, and 98.4 % for F2. Where 4√p ≥ 1 (w ≤ 16), and always as a
// further limit, F2 ≤ n².
//
// Cost: a value one hash for two rows, and one addition a row; an answer one pass over the table,
// for F2 and counts once after each change.
// Thread safety: shard-local.
// Sources: M. Charikar, K. Chen, M. Farach-Colton, "Finding frequent items in data streams", ICALP
// 2002, section 3. G. Cormode, M. Garofalakis, "Sketching streams through the net: distributed
// approximate query tracking", VLDB 2005, section 3. N. Alon, Y. Matias, M. Szegedy, STOC 1996.
#pragma once

#include <cstdint>
#include <vector>

#include "core/array.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class Ams final : public Synopsis {
 public:
  // The largest sum of the sizes of weights.
  static constexpr std::uint64_t kMaxN = std::uint64_t{1} << 62;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  static constexpr std::uint32_t kMaxDepth = 64;

  static SynopsisType type();

  int id() const override { return 7; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  Result<Estimate> estimate_with(const Synopsis& other, const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  std::uint32_t depth() const { return depth_; }
  std::uint32_t buckets() const { return buckets_; }
  bool saturated() const { return saturated_; }
  // The median over rows, doubled so that it is whole. REQUIRES: not saturated, for these three.
  __extension__ using Wide = __int128;
  Wide twice_count(std::uint64_t hash) const;
  Wide twice_product(const Ams& other) const;
  Wide twice_f2() const;
  // T(q) of this depth, see above.
  double tail(double q) const;

 private:
  explicit Ams(const Params& params);  // without cells
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  std::size_t cell_count() const { return std::size_t{depth_} * buckets_; }
  void saturate();
  // The upper end of F2's interval.
  double f2_limit(Wide twice_f2) const;
  Estimate estimate_f2(bool root) const;
  Estimate estimate_count(std::uint64_t hash) const;

  Params params_;
  std::uint32_t depth_;
  std::uint32_t buckets_;
  double meet_;                      // p above
  std::vector<std::uint64_t> keys_;  // one for two rows
  core::Array<std::int64_t> cells_;  // row after row; empty once saturated
  std::uint64_t n_ = 0;
  bool negative_ = false;  // some weight was below zero: so may be counts
  bool saturated_ = false;
  // twice_f2() as it was at f2_n_: cells change only when n does. For estimate() alone;
  // estimate_with() writes to neither side, since the other may be another shard's.
  mutable Wide f2_ = 0;
  mutable std::uint64_t f2_n_ = 0;
};

}  // namespace weir::synopses
