// CountMin: how often has this item been seen? A table of d rows of w counters; every value counts
// once in each row, or by its weight, and the answer is the smallest of the item's d counters.
//
// Invariants
//  1. The estimate is never below the true count, whatever the values.
//  2. P(estimate > true count + εN) ≤ δ over the choice of the seed, for every item and stream that
//     were chosen without knowing it. Proof: rows are strongly universal (count_min_kernel.h), so
//     another item meets x in a row's cell with probability ≤ ⌈2^32/w⌉/2^32 ≤ 1/w + 2^-32, and the
//     foreign count in x's cell has expectation ≤ N(1/w + 2^-32). By Markov it exceeds εN with
//     probability ≤ (1/w + 2^-32)/ε; rows are drawn independently, so all d do with at most the
//     d-th power, which the sizing rule keeps ≤ δ. Distinct numbers have distinct base hashes
//     (hash.h); two texts, or a text and a number, share one with probability 2^-64, which is not
//     in δ.
//  3. Counters never wrap: narrow cells widen first (u16, u32, u64), and n = Σ weights ≤ 2^62. Past
//     that the synopsis saturates: it lets its counters go, n stays 2^62, it takes no more, and an
//     estimate is null with that reason, never too low. Σ does not depend on order, so neither does
//     whether it saturates, nor the state that remains.
//  4. Linear: merge() gives bit for bit the state of one table over both inputs, saturated ones
//  too.
//  5. serialize() and memory_bytes() name the narrowest cell width that holds the largest counter,
//     not when this table happened to widen.
// Thread safety: shard-local.
//
// Sizing. The guarantee needs only ((1/w + 2^-32)/ε)^d ≤ δ. The table is smallest near d = ln(1/δ),
// but each row costs a cache line a value, and cells fall slowly beyond a few rows. So: the fewest
// rows whose table is at most a quarter larger than the smallest. ε = 0.002, δ = 0.01 gives 3 rows
// of 2321 cells (14 KB in u16) where ⌈e/ε⌉ × ⌈ln 1/δ⌉ is 5 rows of 1360.
//
// No per-value check for overflow: `largest_bound_` is the largest cell when last looked, plus the
// weight since. Only when it reaches the cell's limit is the table scanned, and widened if the true
// largest is within an eighth of it.
// Source: G. Cormode, S. Muthukrishnan, "An improved data stream summary: the count-min sketch and
// its applications", J. Algorithms 55 (2005), section 3 and 4.1.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/array.h"
#include "synopses/count_min_kernel.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class CountMin final : public Synopsis {
 public:
  struct Shape {
    std::uint32_t rows;
    std::uint32_t width;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  // The largest sum of weights; every row adds up to n, so no counter is larger.
  static constexpr std::uint64_t kMaxN = std::uint64_t{1} << 62;

  // The sizing rule above; the same on every machine. REQUIRES: 1e-6 ≤ ε ≤ 0.5, 1e-9 ≤ δ ≤ 0.5.
  static Shape shape_for(double epsilon, double delta);

  static SynopsisType type();

  int id() const override { return 1; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  Shape shape() const { return shape_; }
  double epsilon() const { return epsilon_; }
  double confidence() const { return 1.0 - delta_; }
  bool saturated() const { return saturated_; }
  // The estimate for an item by its base hash; never below the true count.
  std::uint64_t count(std::uint64_t hash) const;

 private:
  // The alternatives' index is log2(bytes of a cell) - 1.
  using Cells = std::variant<core::Array<std::uint16_t>, core::Array<std::uint32_t>,
                             core::Array<std::uint64_t>>;

  // Without cells.
  explicit CountMin(const Params& params);
  CountMin(const CountMin& other);  // for clone()
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  std::size_t cell_count() const { return std::size_t{shape_.rows} * shape_.width; }
  std::uint64_t cell_limit() const;
  std::uint64_t largest_cell() const;
  std::size_t canonical_cell_bytes() const;
  void update_weighted(const Items& items);
  void saturate();
  void make_room(std::uint64_t more);
  void widen_to_hold(std::uint64_t value);

  Params params_;
  double epsilon_;
  double delta_;
  std::uint64_t seed_;
  Shape shape_;
  std::vector<HashRow> rows_;
  Cells cells_;  // row after row; empty once saturated
  std::uint64_t n_ = 0;
  std::uint32_t weighed_ = 0;  // values with weights since the cells were last looked at
  bool saturated_ = false;
  std::uint64_t largest_bound_ = 0;  // no cell is larger
};

}  // namespace weir::synopses
