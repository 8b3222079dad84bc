// Agents: roles that do a bit of work when asked, so that a test steps them by hand; how a thread
// waits when none has work (IdleStrategy, Parker); and AgentRunner, which gives an agent a thread.
//
// The words (agent, duty cycle, idle strategy) are those of Aeron and Agrona.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>

#include "core/affinity.h"
#include "core/placement.h"
#include "core/ring.h"

namespace weir::core {

// Thread safety: single-writer; one thread calls it.
class Agent {
 public:
  virtual ~Agent() = default;
  // Does what can be done without waiting and says how much that was; 0 = nothing to do now.
  virtual std::size_t do_work() = 0;
  // True when no call will ever find work again.
  virtual bool done() const { return false; }
  virtual std::string_view role_name() const = 0;
};

// Where threads sleep that found no work, and what wakes them. notify() costs a fence and a load
// when nobody sleeps.
//
// A sleeper announces itself, looks for work once more, and only then waits; a notifier publishes
// work, then looks for sleepers. With a sequentially consistent fence between the two steps on both
// sides, at least one of them sees the other, so no wake-up is lost.
// Thread safety: thread-safe.
class Parker {
 public:
  using Ticket = std::uint32_t;

  // REQUIRES: the work was published before, with release.
  void notify() {
    // Orders the publication before the load of waiters_ (the store-load order that release and
    // acquire do not give). Pairs with the fence in announce().
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Relaxed: the fences decide what is seen. Zero means that whoever announces later sees the
    // work.
    if (waiters_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake();
  }
  // From here on notify() wakes the caller. It must look for work once more before park(), and end
  // with exactly one park() or withdraw().
  Ticket announce() {
    waiters_.fetch_add(1, std::memory_order_relaxed);
    // Acquire: pairs with wake()'s release. If the ticket is that of a wake-up already, its work is
    // visible to the look that follows; if not, that wake-up will change the word and end the wait.
    const Ticket ticket = epoch_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return ticket;
  }
  // Sleeps until a notify() after announce(), or until `timeout` has passed, or for no reason.
  void park(Ticket ticket, std::chrono::nanoseconds timeout);
  void withdraw() { waiters_.fetch_sub(1, std::memory_order_relaxed); }
  // Threads that announced themselves and are not back, for tests and counters.
  std::uint32_t waiters() const { return waiters_.load(std::memory_order_relaxed); }

 private:
  void wake();

  // Read by every notify(), written only by those who go to sleep.
  alignas(kCacheLine) std::atomic<std::uint32_t> waiters_{0};
  alignas(kCacheLine) std::atomic<std::uint32_t> epoch_{0};  // a change ends the waits
};

// What a thread does between two looks for work: nothing, then pause, then yield, then park for a
// bounded time. Bounded spinning is what keeps more threads than cores from starving each other.
// Thread safety: single-writer; one for each thread.
class IdleStrategy {
 public:
  // Looks without a pause; then looks with kPausesEach pause instructions (128 in all, some
  // microseconds); then looks after a yield; then parks.
  static constexpr unsigned kSpins = 8;
  static constexpr unsigned kPauseRounds = 16;
  static constexpr unsigned kPausesEach = 8;
  static constexpr unsigned kYields = 2;
  // The first park; each further one doubles up to the last. Notify ends a wait at once; the bound
  // is for work that nobody notifies of (a pipe).
  static constexpr std::chrono::nanoseconds kFirstPark = std::chrono::milliseconds(1);
  static constexpr std::chrono::nanoseconds kLastPark = std::chrono::milliseconds(8);

  explicit IdleStrategy(Parker& parker) : parker_(parker) {}
  ~IdleStrategy() { reset(); }
  IdleStrategy(const IdleStrategy&) = delete;
  IdleStrategy& operator=(const IdleStrategy&) = delete;

  // `work` is what the last look for work found.
  void idle(std::size_t work) {
    if (work != 0) [[likely]] {
      if (round_ != 0) reset();
      return;
    }
    wait();
  }
  void reset();
  // How often it has slept, for tests and counters.
  std::uint64_t parks() const { return parks_; }

 private:
  void wait();

  Parker& parker_;
  unsigned round_ = 0;
  bool announced_ = false;
  Parker::Ticket ticket_ = 0;
  std::chrono::nanoseconds timeout_ = kFirstPark;
  std::uint64_t parks_ = 0;
};

// Runs an agent on a thread of its own until it is done or stopped.
// Thread safety: thread-compatible; `settled` may be read after started().
class AgentRunner {
 public:
  // Starts the thread. `agent` and `parker` outlive the runner; work that others make for the agent
  // is followed by parker.notify(), and work that it does is followed by one here.
  AgentRunner(Agent& agent, Parker& parker, const PlacedThread& placed);
  ~AgentRunner();  // stop() and join()
  AgentRunner(const AgentRunner&) = delete;
  AgentRunner& operator=(const AgentRunner&) = delete;

  // Asks for the end after the current do_work().
  void stop();
  void join();
  bool started() const { return started_.load(std::memory_order_acquire); }
  // REQUIRES: started().
  const Settled& settled() const { return settled_; }

 private:
  void run(const PlacedThread& placed);

  Agent& agent_;
  Parker& parker_;
  Settled settled_;
  std::atomic<bool> started_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace weir::core
