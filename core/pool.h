// Pool: objects that outlive a ring entry (pushed chunks of bytes), recycled from the threads that
// are done with them to the threads that need one. What a ring entry owns needs no pool: the room
// check proves it free.
//
// Invariants
//  1. take() never fails and never waits: without a recycled object it makes one.
//  2. At most `bound` objects lie idle in the pool; what is given beyond that is freed.
// Thread safety: thread-safe.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstddef>
#include <utility>

namespace weir::core {

template <class T>
class Pool {
 public:
  explicit Pool(std::size_t bound) : bound_(bound) {}

  // As it was given back (contents included), or a new T.
  T take() {
    T object{};
    if (queue_.try_dequeue(object)) idle_.fetch_sub(1, std::memory_order_relaxed);
    return object;
  }
  void give(T object) {
    // Counted before it can be taken, so that the bound holds and the count never wraps.
    if (idle_.fetch_add(1, std::memory_order_relaxed) >= bound_ ||
        !queue_.enqueue(std::move(object))) {
      idle_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  // Objects in the pool now; exact when no thread is in take() or give().
  std::size_t idle() const { return idle_.load(std::memory_order_relaxed); }

 private:
  std::size_t bound_;
  std::atomic<std::size_t> idle_{0};
  moodycamel::ConcurrentQueue<T> queue_;
};

}  // namespace weir::core
