// Window blocks: the state of WindowSketchQuantiles with keys of one width: the open leaf, one open
// piece of each level, and the blocks of the window (window_plan.h says what these are).
//
// Invariants
//  1. After n values there are n / leaf closed leaves; level j < last has an open piece if and only
//     if bit j of that number is set. The open leaf holds the other n mod leaf, in order.
//  2. Level j ≥ first has closed (n / leaf) >> j blocks; kept are those that begin after
//     n - N - B, that is in the window or at its oldest edge.
//  3. The smallest and largest of the window are those of all closed leaves (window_extremes.h) and
//     of the open one, if the plan has extremes; n - N is then as of the last closed leaf.
//  4. Pieces and blocks are [smallest value, kept values ascending]; the last is the largest.
// Thread safety: shard-local.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "synopses/ordered_keys.h"
#include "synopses/quantile_query.h"
#include "synopses/window_extremes.h"
#include "synopses/window_plan.h"

namespace weir::synopses {

template <class Key>
class WindowBlocks {
 public:
  explicit WindowBlocks(std::shared_ptr<const WindowPlan> plan)
      : plan_(std::move(plan)),
        pieces_(static_cast<std::size_t>(plan_->last)),
        blocks_(plan_->levels.size()) {
    if (plan_->extremes) extremes_.emplace();
  }
  WindowBlocks(const WindowBlocks& other)
      : plan_(other.plan_), n_(other.n_), leaf_(copied(other.leaf_)), extremes_(other.extremes_) {
    for (const auto& piece : other.pieces_) pieces_.push_back(copied(piece));
    for (const auto& ring : other.blocks_) blocks_.push_back(copied(ring));
  }
  WindowBlocks(WindowBlocks&&) noexcept = default;
  WindowBlocks& operator=(const WindowBlocks&) = delete;
  WindowBlocks& operator=(WindowBlocks&&) noexcept = default;
  // The same blocks with wide keys. A template, so that the narrow one is never given it.
  template <class Narrow>
  requires(sizeof(Narrow) < sizeof(Key)) explicit WindowBlocks(const WindowBlocks<Narrow>& narrow)
      : plan_(narrow.plan_), n_(narrow.n_), leaf_(widened(narrow.leaf_)) {
    for (const auto& piece : narrow.pieces_) pieces_.push_back(widened(piece));
    for (const auto& ring : narrow.blocks_) blocks_.push_back(widened(ring));
    if (narrow.extremes_) extremes_.emplace(*narrow.extremes_);
  }

  std::uint64_t n() const { return n_; }
  void take(const Key* keys, std::size_t n);
  // The value of rank `rank` among the last min(n, N), within εN. REQUIRES: 1 ≤ rank ≤ min(n, N).
  Quantile<Key> at(std::uint64_t rank) const;
  std::size_t memory_bytes() const;
  // u64 n, the open leaf (or the last N values), the open pieces from the lowest level, the kept
  // blocks from the lowest level and the oldest block, the extremes.
  void serialize(core::Writer& out) const;
  // What is wrong with the bytes, or null. REQUIRES: no values yet.
  const char* deserialize(core::Reader& in, std::uint64_t most);

 private:
  template <class>
  friend class WindowBlocks;

  struct Weighted {
    Key key;
    std::uint64_t weight;
  };
  // What a query reads: kept values with the number of values each stands for.
  struct Cover {
    std::vector<Weighted> values;
    std::uint64_t below = 0;  // most by which all of them undercount
    void add(const Key* keys, std::size_t kept, std::uint64_t weight, std::uint64_t size);
  };

  std::uint64_t closed() const { return n_ / plan_->leaf; }
  bool is_open(int j) const { return (closed() >> j & 1) != 0; }
  std::uint64_t window_begin() const { return n_ < plan_->window ? 0 : n_ - plan_->window; }
  std::uint64_t blocks_closed(std::size_t level) const {
    return closed() >> (plan_->first + static_cast<int>(level));
  }
  std::uint64_t first_kept(std::size_t level) const;
  std::span<const Key> block(std::size_t level, std::uint64_t index) const;

  void keep_whole(const Key* keys, std::size_t n);
  void close_leaf();
  void keep_block(std::size_t level, std::uint64_t index, const core::Array<Key>& piece);
  Quantile<Key> at_whole(std::uint64_t rank) const;
  Cover cover(std::uint64_t begin) const;
  // The smallest and largest of the window. REQUIRES: extremes_, values.
  std::pair<Key, Key> ends() const;
  const char* read_extremes(core::Reader& in);

  std::shared_ptr<const WindowPlan> plan_;
  std::uint64_t n_ = 0;
  core::Array<Key> leaf_;  // or, of a whole plan, the last N values: number i at i mod N
  std::vector<core::Array<Key>> pieces_;
  std::vector<core::Array<Key>> blocks_;  // of each level a ring: block k at k mod most
  std::optional<WindowExtremes<Key>> extremes_;
};

extern template class WindowBlocks<NarrowKey>;
extern template class WindowBlocks<WideKey>;

}  // namespace weir::synopses
