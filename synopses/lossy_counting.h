// Lossy Counting: which items are frequent, and how often was each seen? The stream is cut into
// buckets of w = ⌈1/ε⌉ values; at each border the items that cannot be frequent are forgotten.
//
// An entry is (item, f, Δ): counted f times since it was last taken in, and at most Δ times before.
// With b = ⌊N/w⌋, the buckets that are over, a new entry begins with f = 1 and Δ = b, and one with
// f + Δ ≤ b is forgotten. (The paper numbers the current bucket: its b_current is b + 1 within a
// bucket and b at a border.)
//
// Invariants
//  1. For every item, f̂ ≤ true count ≤ f̂ + Δ with Δ ≤ b ≤ εN; f̂ = 0 and Δ = b if it has no entry.
//     So an item with a true count above ⌊N/w⌋, hence every one above εN, has an entry; one with
//     exactly εN = ⌊N/w⌋ may have none.
//  2. [s, "FrequentItems"] holds every item with a true count ≥ sN and none with one below
//     (s - ε)N: f̂ ≥ (s - ε)N is the test, and sN - ⌊N/w⌋ ≥ (s - ε)N.
//  3. A value of weight c counts as c values of the item in a row; n() is the sum of weights, and
//     the state is the one that c single values give. Were the sum to pass 2^62, the synopsis is
//     full: it takes no more, forgets its entries, and answers null with that reason.
//  4. merge() adds f and Δ of items in both, and of an item in one only adds the other's b to Δ.
//     Invariant 1 holds after any tree of merges, since ⌊N₁/w⌋ + ⌊N₂/w⌋ ≤ ⌊(N₁ + N₂)/w⌋. It is
//     commutative and associative up to which items with f + Δ ≤ b a partial result forgot.
// Space: (1/ε)·log(εN) entries for one stream; after a merge at most the sum of the parts, until
// further values prune it. Texts are kept whole, beside that.
//
// When entries go is not when they are forgotten: f + Δ ≤ b says at any time whether a border has
// killed an entry since it was last counted, for f and Δ stand still until then and b only grows.
// So an arrival that meets a dead entry begins it anew, every reader passes the dead over, and the
// sweep that frees them runs when the table is full, at a cost of O(1) a value even where each
// value's weight crosses many borders. State is what is alive.
// Cost: 5 to 10 ns a value at ε = 10^-3.
// Source: G. S. Manku, R. Motwani, "Approximate frequency counts over data streams", VLDB 2002,
// section 4.2, lemmas 4.1 to 4.4.
// Thread safety: shard-local.
#pragma once

#include <cstdint>

#include "synopses/frequent_items.h"
#include "synopses/item_table.h"
#include "synopses/registry.h"
#include "synopses/synopsis.h"

namespace weir::synopses {

class LossyCounting final : public Synopsis {
 public:
  static constexpr std::uint64_t kMaxN = std::uint64_t{1} << 62;

  static SynopsisType type();

  int id() const override { return 5; }
  const Params& params() const override { return params_; }
  std::uint64_t n() const override { return n_; }
  void update(const Items& items) override;
  Status merge(const Synopsis& other) override;
  Result<Estimate> estimate(const Query& query) const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<Synopsis> clone() const override;
  void serialize(std::string& into) const override;

  std::uint64_t bucket_width() const { return width_; }
  // Items with an entry.
  std::size_t entries() const;

 private:
  struct Counts {
    std::uint64_t end;    // f + Δ: the number of the border that ends it, if nothing comes
    std::uint64_t delta;  // Δ
    std::uint64_t f() const { return end - delta; }
  };
  using Table = ItemTable<Counts>;

  explicit LossyCounting(const Params& params);
  static Result<std::unique_ptr<Synopsis>> create(const Params& params);
  static Result<std::unique_ptr<Synopsis>> deserialize(const Params& params,
                                                       std::string_view payload);
  std::uint64_t buckets() const { return n_ / width_; }
  auto alive() const {
    return [over = buckets()](const Counts& counts) { return counts.end > over; };
  }
  template <bool plain>
  void take(const Items& items, std::size_t begin, std::size_t end);
  void take_weighted(const Items& items);
  void add(std::uint64_t hash, const ItemView& item, std::uint64_t times);
  void insert(Table::Place place, std::uint64_t hash, const ItemView& item, const Counts& counts);
  std::size_t least_dead() const;
  void sweep();
  void become_full();

  Params params_;
  double epsilon_;
  std::uint64_t width_;  // w
  std::uint64_t n_ = 0;
  bool full_ = false;
  Table table_;
  // When to sweep next; no part of the state.
  std::size_t sweep_at_;
  std::size_t sweep_text_at_;
};

}  // namespace weir::synopses
