// SequencedRing: the one place where parsed blocks meet the workers that apply them, indexed by
// sequence number as in the LMAX Disruptor.
//
// An entry holds one block, what was parsed of it, and a batch for every worker. Any agent may fill
// any claimed entry; each consumer takes entries strictly in sequence order.
//
// Invariants
//  1. Sequence s is claimed only when every consumer has consumed s - size(): a claimed entry can
//     always be published, so the ring cannot deadlock and its size bounds what is in flight.
//  2. An entry is written only between claim and publish, by the claimant; read only between
//     publish and the last consume.
//  3. Full is an answer (has_room() == false), not an error.
//  4. Consumers 0, 1, … n-1 take part; n changes between two claims (set_consumers). A consumer
//  that
//     takes no part any more is waited for up to the entry where it left.
// Thread safety: thread-safe by role: has_room and set_consumers by whoever holds the claim lock,
// publish by the claimant, ready/at/consume(c) by consumer c.
// Source: Thompson, Farley, Barker, Gee, Stewart, "Disruptor", LMAX 2011.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "weir/types.h"

namespace weir::core {

inline constexpr std::size_t kCacheLine = 64;

template <class Payload>
class SequencedRing {
 public:
  // `size` is rounded up to a power of two. REQUIRES: size > 0, 0 < consumers <= most_consumers.
  SequencedRing(std::size_t size, std::uint32_t consumers, std::uint32_t most_consumers)
      : mask_(std::bit_ceil(size) - 1),
        entries_(new Entry[mask_ + 1]),
        consumed_(most_consumers),
        consumers_(consumers),
        known_(consumers) {}
  SequencedRing(std::size_t size, std::uint32_t consumers)
      : SequencedRing(size, consumers, consumers) {}

  std::size_t size() const { return mask_ + 1; }
  std::uint32_t consumers() const { return consumers_; }

  // Entries from `from` on are for so many consumers. Those that are new begin there, those that
  // leave have done with the entry before it. REQUIRES: `from` is the next to be claimed, and who
  // left before has come to where it left.
  void set_consumers(Seq from, std::uint32_t consumers) {
    assert(consumers > 0 && consumers <= consumed_.size());
    for (std::uint32_t c = consumers_; c < consumers; ++c) {
      // Release: the new consumer's first consume() follows it.
      consumed_[c].count.store(raw(from), std::memory_order_release);
      consumed_[c].left = kNever;
    }
    for (std::uint32_t c = consumers; c < consumers_; ++c) consumed_[c].left = raw(from);
    consumers_ = consumers;
    known_ = std::max(known_, consumers);
  }

  // May sequence `seq` be claimed? The acquire pairs with consume()'s release: whoever sees the
  // entry as consumed also sees that nobody reads it any more.
  bool has_room(Seq seq) const {
    if (raw(seq) < size()) return true;
    const std::uint64_t needed = raw(seq) - size() + 1;
    for (std::uint32_t c = 0; c < known_; ++c) {
      const Consumed& consumer = consumed_[c];
      const std::uint64_t waited_for = std::min(needed, consumer.left);
      if (consumer.count.load(std::memory_order_acquire) < waited_for) return false;
    }
    return true;
  }
  Payload& at(Seq seq) { return entries_[raw(seq) & mask_].payload; }
  const Payload& at(Seq seq) const { return entries_[raw(seq) & mask_].payload; }

  // Release: whoever sees the number also sees the payload.
  void publish(Seq seq) {
    entries_[raw(seq) & mask_].published.store(raw(seq) + 1, std::memory_order_release);
  }
  bool ready(Seq seq) const {
    return entries_[raw(seq) & mask_].published.load(std::memory_order_acquire) == raw(seq) + 1;
  }
  // REQUIRES: called by `consumer` for 0, 1, 2, … in turn.
  void consume(std::uint32_t consumer, Seq seq) {
    assert(consumed_[consumer].count.load(std::memory_order_relaxed) == raw(seq));
    consumed_[consumer].count.store(raw(seq) + 1, std::memory_order_release);
  }
  // Number of entries that `consumer` has consumed.
  std::uint64_t consumed(std::uint32_t consumer) const {
    return consumed_[consumer].count.load(std::memory_order_acquire);
  }

 private:
  struct alignas(kCacheLine) Entry {
    std::atomic<std::uint64_t> published{0};  // sequence + 1, 0 before the first
    Payload payload;
  };
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  struct alignas(kCacheLine) Consumed {
    std::atomic<std::uint64_t> count{0};
    std::uint64_t left = kNever;  // it takes no part from this entry on; under the claim lock
  };

  std::size_t mask_;
  std::unique_ptr<Entry[]> entries_;
  std::vector<Consumed> consumed_;
  std::uint32_t consumers_;  // that take part now
  std::uint32_t known_;      // that ever did
};

}  // namespace weir::core
