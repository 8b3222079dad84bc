// Collector: brings the contributions of the shard workers to each answer together and gives the
// answers out in cut order.
//
// Invariants
//  1. Answers leave in the order of cuts, and inside a cut in the order of its crossing, whatever
//     order contributions come in.
//  2. The callback is called by one thread at a time, and never while a worker waits for another.
// Thread safety: thread-safe.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/finish.h"
#include "engine/plan.h"
#include "weir/answer.h"

namespace weir::engine {

class Collector {
 public:
  // At most so many answers wait for poll(); older ones give way and are counted.
  static constexpr std::size_t kMaxWaiting = 1'000'000;

  // Query-time work may use so many threads.
  void use_threads(unsigned threads) { threads_.store(threads, std::memory_order_relaxed); }
  void on_answer(std::function<void(const Answer&)> callback) { callback_ = std::move(callback); }
  void on_reject(std::function<void(const Reject&)> callback) { on_reject_ = std::move(callback); }

  // The first crossing has this number. REQUIRES: before it.
  void start_at(std::uint64_t ordinal) { first_open_ = ordinal; }
  // A new crossing; called in cut order.
  void open(std::shared_ptr<const Crossing> crossing);
  // The whole of what one of `contributors` workers adds to the answer to an ask.
  void contribute(std::uint64_t ordinal, const Action& ask, std::vector<Partial> partials);
  // The finished answers of a sole contributor.
  void complete(std::uint64_t ordinal, std::uint32_t answer, std::vector<Answer> finished);

  void reject(const Reject& reject);
  // Calls `then` once all answers of the cuts that are open now have been given out, before any
  // other is. It must not call back.
  void when_given_out(std::function<void()> then);

  bool poll(Answer& answer) { return waiting_.try_dequeue(answer); }
  std::uint64_t overflowed() const { return overflowed_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::vector<Answer> answers;  // one until it is finished
    std::uint32_t missing = 0;
    std::vector<Partial> partials;
  };
  struct OpenCut {
    std::vector<Slot> slots;
    std::size_t missing = 0;  // slots that are not complete
    std::vector<std::function<void()>> then;
  };
  Slot& slot(std::uint64_t ordinal, std::uint32_t answer);
  void finish_slot(std::uint64_t ordinal, Slot& slot);
  void give_out();  // REQUIRES: mutex_ held
  void give_out(Answer& answer);

  std::atomic<unsigned> threads_{1};
  std::function<void(const Answer&)> callback_;
  std::function<void(const Reject&)> on_reject_;
  std::mutex mutex_;
  std::uint64_t first_open_ = 0;
  std::deque<OpenCut> open_;
  moodycamel::ConcurrentQueue<Answer> waiting_;
  // All answers go in through one token, under mutex_: the queue keeps order by producer alone.
  moodycamel::ProducerToken waiting_token_{waiting_};
  std::atomic<std::uint64_t> overflowed_{0};
};

}  // namespace weir::engine
