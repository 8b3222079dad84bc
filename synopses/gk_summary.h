// GK summary: the sorted tuples of Greenwald and Khanna, and a buffer of values before them.
//
// A tuple (key, g, Δ) stands for g values: its own and those absorbed into it. With rmin(i) the sum
// of g up to tuple i and rmax(i) = rmin(i) + Δ(i), the rank of its key among the m values behind
// the tuples is in [rmin, rmax].
//
// Invariants
//  1. g(i) ≥ 1; rmin and rmax strictly increase; the first tuple is the minimum (g = 1, Δ = 0) and
//     the last the maximum (Δ = 0); the g add up to m.
//  2. g(i) + Δ(i) ≤ cap(m) = max(1, ⌊2εm⌋). Hence for every rank r of 1 … m some tuple has
//     r - εm ≤ rmin and rmax ≤ r + εm: where cap is 1 every rank has its own tuple; else let i be
//     the first tuple with rmax(i) > r + εm. Then rmax(i-1) ≤ r + εm and
//     rmin(i-1) ≥ rmax(i) - cap(m) > r - εm. If there is no such i, the last tuple will do.
//  3. The buffer holds fewer than buffer_size(ε) values, exactly and in order of arrival.
//
// Taking a buffer in (`absorb`): a value x between the tuples p and s has rmin = rmin(p) + 1 and
// rmax = rmax(s) - 1 among the m values, so Δ = g(s) + Δ(s) - 1 for all values of one gap: their
// cost is one step for every tuple that is kept, not for each value. Merging two summaries
// (`merge`): x of A between p and s of B has rmin = rmin_A(x) + rmin_B(p) and
// rmax = rmax_A(x) + rmax_B(s) - 1. Neighbours z, z' of the merged list then keep
// rmax(z') - rmin(z) ≤ cap(m_A) + cap(m_B) - 1 ≤ cap(m_A + m_B), whether they came from one side or
// from two: invariant 2 holds for any tree of merges, with the same ε.
// Equal values may stand in any order, so they are put side by side, which is sharper: x = key(t)
// just after t has Δ(t); x = y from two summaries become two neighbours of Δ(x) + Δ(y), the first
// with rmin(x) + rmin(y) - 1.
// After either, neighbours are joined from the left while g(i) + g(i+1) + Δ(i+1) ≤ cap; this keeps
// rmin and rmax of those that stay.
// Thread safety: shard-local.
//
// Cost: a buffer of b values is sorted, then O(s + kept) steps and b comparisons for s tuples.
// Source: M. Greenwald, S. Khanna, "Space-efficient online computation of quantile summaries",
// SIGMOD 2001, sections 2 and 3; buffer and joining without bands as GKArray of G. Luo, L. Wang,
// K. Yi, G. Cormode, "Quantiles over data streams", VLDB Journal 25 (2016), section 2.1; merging:
// P. Agarwal et al., "Mergeable summaries", PODS 2012, section 3, and M. Greenwald, S. Khanna,
// "Power-conserving computation of order-statistics over sensor networks", PODS 2004, section 3.
#pragma once

#include <bit>
#include <cstdint>

#include "synopses/ordered_keys.h"
#include "synopses/quantile_query.h"

namespace weir::synopses {

template <class Key>
struct GkTuple {
  Key key;
  std::uint64_t g;
  std::uint64_t delta;
};

// A function of ε alone: four values for each of the 1/ε ranks that can be told apart, so that
// tuples are few beside them and taking them in costs little beyond the sort.
constexpr std::size_t gk_buffer_size(double epsilon) {
  return std::bit_ceil(static_cast<std::size_t>(4.0 / epsilon) + 32);
}

// Joins tuples that come in ascending order as far as `cap` allows.
template <class Key>
class GkJoiner {
 public:
  GkJoiner(core::Array<GkTuple<Key>>& into, std::uint64_t cap) : into_(into), cap_(cap) {}
  void push(const Key& key, std::uint64_t g, std::uint64_t delta) {
    if (into_.empty() && !holds_) {
      into_.push_back({key, g, delta});  // the minimum stands alone
      return;
    }
    if (holds_) {
      if (held_.g + g + delta <= cap_) {
        g += held_.g;
      } else {
        into_.push_back(held_);
      }
    }
    held_ = {key, g, delta};
    holds_ = true;
  }
  // As push(keys[i], 1, delta) for all i.
  void push_run(const Key* keys, std::size_t n, std::uint64_t delta) {
    if (n == 0) return;
    if (into_.empty()) {
      push(*keys++, 1, delta);
      --n;
    }
    const std::uint64_t room = cap_ > delta ? cap_ - delta : 0;  // for g
    while (n != 0) {
      if (holds_ && held_.g >= room) flush();
      const std::uint64_t g = holds_ ? held_.g : 0;
      const std::uint64_t fits = room > g ? room - g : 1;
      const std::size_t take = fits < n ? static_cast<std::size_t>(fits) : n;
      held_ = {keys[take - 1], g + take, delta};
      holds_ = true;
      keys += take;
      n -= take;
    }
  }
  void flush() {
    if (holds_) into_.push_back(held_);
    holds_ = false;
  }

 private:
  core::Array<GkTuple<Key>>& into_;
  std::uint64_t cap_;
  GkTuple<Key> held_{};
  bool holds_ = false;
};

template <class Key>
class GkSummary {
 public:
  using Tuple = GkTuple<Key>;

  explicit GkSummary(double epsilon) : epsilon_(epsilon) {}
  GkSummary(const GkSummary& other)
      : epsilon_(other.epsilon_),
        summarised_(other.summarised_),
        tuples_(copied(other.tuples_)),
        buffer_(copied(other.buffer_)) {}
  GkSummary(GkSummary&&) noexcept = default;
  GkSummary& operator=(const GkSummary&) = delete;
  GkSummary& operator=(GkSummary&&) noexcept = default;
  // The same summary with wide keys.
  explicit GkSummary(const GkSummary<NarrowKey>& narrow) requires(!std::is_same_v<Key, NarrowKey>)
      : epsilon_(narrow.epsilon_),
        summarised_(narrow.summarised_),
        buffer_(widened(narrow.buffer_)) {
    tuples_.reserve(narrow.tuples_.size());
    for (const auto& [key, g, delta] : narrow.tuples_) {
      tuples_.push_back({widened(key), g, delta});
    }
  }

  std::uint64_t n() const { return summarised_ + buffer_.size(); }
  std::span<const Tuple> tuples() const { return tuples_.span(); }
  std::uint64_t cap(std::uint64_t m) const {
    return std::max<std::uint64_t>(1, floor_times(2 * epsilon_, m));
  }

  void take(const Key* keys, std::size_t n) {
    const std::size_t size = gk_buffer_size(epsilon_);
    while (n != 0) {
      const std::size_t fits = std::min(n, size - buffer_.size());
      buffer_.append(keys, fits);
      keys += fits;
      n -= fits;
      if (buffer_.size() < size) return;
      sort_keys(buffer_.data(), size);
      summarised_ += size;
      tuples_ = absorb(buffer_, cap(summarised_));
      buffer_.clear();
    }
  }

  // REQUIRES: the same ε, another object, and n() of both together below 2^63.
  void merge(const GkSummary& other) {
    if (!other.tuples_.empty()) {
      summarised_ += other.summarised_;
      tuples_ = tuples_.empty() ? copied(other.tuples_) : joined(tuples_, other.tuples_);
    }
    take(other.buffer_.data(), other.buffer_.size());
  }

  // The value of rank `rank`, within εn. REQUIRES: 1 ≤ rank ≤ n().
  Quantile<Key> at(std::uint64_t rank) const {
    core::Array<Key> sorted = copied(buffer_);
    sort_keys(sorted.data(), sorted.size());
    const core::Array<Tuple> all = absorb(sorted, 0);
    Quantile<Key> found{all[0].key, all[0].key, all[all.size() - 1].key};
    std::uint64_t best = n(), rmin = 0;
    bool above = false;
    for (const Tuple& tuple : all) {
      rmin += tuple.g;
      const std::uint64_t rmax = rmin + tuple.delta;
      const std::uint64_t error =
          std::max(rmax > rank ? rmax - rank : 0, rank > rmin ? rank - rmin : 0);
      if (error < best) {
        best = error;
        found.value = tuple.key;
      }
      if (rmax <= rank) found.lower = tuple.key;
      if (rmin >= rank && !above) {
        found.upper = tuple.key;
        above = true;
      }
    }
    return found;
  }

  // The buffer counts whole once it has been full.
  std::size_t memory_bytes() const {
    const std::size_t held = summarised_ == 0 ? buffer_.size() : gk_buffer_size(epsilon_);
    return held * sizeof(Key) + tuples_.size() * sizeof(Tuple);
  }

  // u64 m, u64 tuples, u64 buffered, then keys, g and Δ of the tuples, and the buffer.
  void serialize(core::Writer& out) const {
    out.put(summarised_);
    out.put(static_cast<std::uint64_t>(tuples_.size()));
    out.put(static_cast<std::uint64_t>(buffer_.size()));
    for (const Tuple& tuple : tuples_) {
      put_keys(out, &tuple.key, 1);
      out.put(tuple.g);
      out.put(tuple.delta);
    }
    put_keys(out, buffer_.data(), buffer_.size());
  }
  // What is wrong with the bytes, or null. REQUIRES: an empty summary.
  const char* deserialize(core::Reader& in, std::uint64_t most);

 private:
  template <class>
  friend class GkSummary;

  // tuples_ with the sorted values taken in.
  core::Array<Tuple> absorb(const core::Array<Key>& sorted, std::uint64_t cap) const {
    core::Array<Tuple> into;
    // As many as are usual after joining; without it, every one stays.
    into.reserve(tuples_.size() + (cap == 0 ? sorted.size() : sorted.size() / 8) + 2);
    GkJoiner<Key> joiner(into, cap);
    const Key* from = sorted.begin();
    for (const Tuple& tuple : tuples_) {
      const Key* to = from;
      while (to != sorted.end() && *to < tuple.key) ++to;
      joiner.push_run(from, static_cast<std::size_t>(to - from), tuple.g + tuple.delta - 1);
      joiner.push(tuple.key, tuple.g, tuple.delta);
      from = to;
      while (to != sorted.end() && *to == tuple.key) ++to;
      joiner.push_run(from, static_cast<std::size_t>(to - from), tuple.delta);
      from = to;
    }
    joiner.push_run(from, static_cast<std::size_t>(sorted.end() - from), 0);
    joiner.flush();
    return into;
  }

  core::Array<Tuple> joined(const core::Array<Tuple>& a, const core::Array<Tuple>& b) const {
    core::Array<Tuple> into;
    GkJoiner<Key> joiner(into, cap(summarised_));
    const auto push = [&](const Tuple& tuple, const core::Array<Tuple>& others, std::size_t next) {
      const std::uint64_t between =
          next < others.size() ? others[next].g + others[next].delta - 1 : 0;
      joiner.push(tuple.key, tuple.g, tuple.delta + between);
    };
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      if (i < a.size() && j < b.size() && a[i].key == b[j].key) {
        const std::uint64_t delta = a[i].delta + b[j].delta;
        joiner.push(a[i].key, a[i].g + b[j].g - 1, delta);
        joiner.push(a[i++].key, 1, delta);
        ++j;
      } else if (j == b.size() || (i < a.size() && a[i].key <= b[j].key)) {
        push(a[i], b, j);
        ++i;
      } else {
        push(b[j], a, i);
        ++j;
      }
    }
    joiner.flush();
    return into;
  }

  double epsilon_;
  std::uint64_t summarised_ = 0;  // m
  core::Array<Tuple> tuples_;
  core::Array<Key> buffer_;
};

template <class Key>
const char* GkSummary<Key>::deserialize(core::Reader& in, std::uint64_t most) {
  summarised_ = in.get<std::uint64_t>();
  const auto tuples = in.get<std::uint64_t>();
  const auto buffered = in.get<std::uint64_t>();
  constexpr std::size_t kTupleBytes = sizeof(Key) + 2 * sizeof(std::uint64_t);
  if (!in.ok() || tuples > in.rest().size() / kTupleBytes) return "it is too short";
  if (buffered >= gk_buffer_size(epsilon_)) return "more values in the buffer than it holds";
  if (summarised_ > most || buffered > most - summarised_) return "more than 2^63 values";
  const std::uint64_t limit = cap(summarised_);
  std::uint64_t rmin = 0, rmax = 0;
  tuples_.reserve(static_cast<std::size_t>(tuples));
  for (std::uint64_t i = 0; i < tuples; ++i) {
    Tuple tuple;
    in.raw(&tuple.key, sizeof tuple.key);
    tuple.g = in.get<std::uint64_t>();
    tuple.delta = in.get<std::uint64_t>();
    if (!is_key(tuple.key)) return "a key that no number has";
    if (i != 0 && tuple.key < tuples_[i - 1].key) return "tuples out of order";
    // No sum wraps: each is at most m, which is at most 2^63.
    if (tuple.g == 0 || tuple.g > summarised_ - rmin) return "counts that do not add up";
    rmin += tuple.g;
    if (tuple.delta > summarised_ - rmin || rmin + tuple.delta <= rmax) return "ranks out of order";
    rmax = rmin + tuple.delta;
    if (tuple.g + tuple.delta > limit) return "a tuple wider than its error allows";
    if ((i == 0 && rmax != 1) || (i == tuples - 1 && tuple.delta != 0)) {
      return "the smallest or largest value is not exact";
    }
    tuples_.push_back(tuple);
  }
  if (rmin != summarised_) return "counts that do not add up";
  if (!get_keys(in, buffer_, buffered) || !in.rest().empty()) return "its buffer is not whole";
  return nullptr;
}

}  // namespace weir::synopses
