// Seat: where a shard worker is stepped. Its own thread sits there; while that one is stopped, on
// purpose and between two entries, another thread of the generation takes its place.
//
// Why nobody meets anybody inside
//  1. Only the holder steps the worker or looks into it, and only the holder leaves the seat.
//  2. A seat is taken by a compare-exchange from kNobody, which one thread wins.
//  3. Whoever leaves does so with release and whoever takes does so with acquire: all that the
//     one before did inside is seen by the next, as if one thread had done it all. What the worker
//     shares with others (ring, plan log, collector, hand-over) knows it by its number, not by the
//     thread that steps it.
//  4. A thread is never stopped inside: it leaves first. A thread that hangs inside (in a callback)
//     keeps its seat; that is a stall (engine/stalls.h), not a case for taking over.
// A thread that never stops never leaves, and steps its worker without a look at any of this.
// Thread safety: thread-safe, but for what is inside.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "engine/shard.h"

namespace weir::engine {

class Seat {
 public:
  // Threads are told by their number in the generation. `own` sits there from the start.
  Seat(std::uint32_t its_number, std::uint32_t own) : number(its_number), holder_(own) {}

  bool free() const { return holder_.load(std::memory_order_relaxed) == kNobody; }
  bool take(std::uint32_t thread) {
    std::uint32_t nobody = kNobody;
    return free() && holder_.compare_exchange_strong(nobody, thread, std::memory_order_acquire,
                                                     std::memory_order_relaxed);
  }
  // REQUIRES: the caller holds it.
  void leave() { holder_.store(kNobody, std::memory_order_release); }

  // By its own thread: it is back. A holder leaves at the next border, and no other takes the seat.
  // Relaxed: a hint; who sees it late steps one entry more.
  void want(bool it) { wanted_.store(it, std::memory_order_relaxed); }
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }

  const std::uint32_t number;  // of the worker

  // Inside; made by its own thread.
  std::unique_ptr<ShardWorker> worker;
  bool taken_over = false;  // since its own thread left

 private:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  std::atomic<std::uint32_t> holder_;
  std::atomic<bool> wanted_{false};
};

}  // namespace weir::engine
