// Pool: objects that outlive a ring entry (cloned partials, pushed chunks of bytes), recycled from
// the threads that are done with them to the threads that need one.
//
// Invariants
//  1. take() never fails and never waits: without a recycled object it makes one.
//  2. At most `bound` objects lie idle in the pool; what is given beyond that is freed.
// Thread safety: thread-safe through a Handle for each thread; the pool outlives its handles.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

namespace weir::core {

template <class T>
class Pool {
 public:
  explicit Pool(std::size_t bound) : bound_(bound) {}

  // One thread's way in and out: the queue's tokens, which spare it a look-up at each use.
  class Handle {
   public:
    explicit Handle(Pool& pool) : pool_(pool), producer_(pool.queue_), consumer_(pool.queue_) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    // As it was given back (contents included), or a new T.
    std::unique_ptr<T> take() {
      std::unique_ptr<T> object;
      if (pool_.queue_.try_dequeue(consumer_, object)) {
        pool_.idle_.fetch_sub(1, std::memory_order_relaxed);
        return object;
      }
      return std::make_unique<T>();
    }
    // REQUIRES: object != nullptr.
    void give(std::unique_ptr<T> object) {
      assert(object != nullptr);
      // Counted before it can be taken, so that the bound holds and the count never wraps.
      if (pool_.idle_.fetch_add(1, std::memory_order_relaxed) >= pool_.bound_ ||
          !pool_.queue_.enqueue(producer_, std::move(object))) {
        pool_.idle_.fetch_sub(1, std::memory_order_relaxed);
      }
    }

   private:
    Pool& pool_;
    moodycamel::ProducerToken producer_;
    moodycamel::ConsumerToken consumer_;
  };

  // Objects in the pool now; exact when no thread is in take() or give().
  std::size_t idle() const { return idle_.load(std::memory_order_relaxed); }
  std::size_t bound() const { return bound_; }

 private:
  std::size_t bound_;
  std::atomic<std::size_t> idle_{0};
  moodycamel::ConcurrentQueue<std::unique_ptr<T>> queue_;
};

}  // namespace weir::core
