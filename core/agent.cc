#include "core/agent.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace weir::core {
namespace {

void pause_once() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // "yield" is a no-op on most cores
#endif
}

// std::atomic::wait has no time limit, so the system call itself.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                 nullptr, 0);
}

}  // namespace

void Parker::park(Ticket ticket, std::chrono::nanoseconds timeout) {
  const auto ns = std::max<std::chrono::nanoseconds::rep>(timeout.count(), 0);
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  // The kernel compares and sleeps as one step: a wake-up since announce() changed the word.
  // Whatever ends the wait (wake-up, time, a signal), the caller looks for work again.
  futex(epoch_, FUTEX_WAIT_PRIVATE, ticket, &limit);
  withdraw();
}

void Parker::wake() {
  // Release: pairs with the acquire in announce(). An RMW, since several may notify at once.
  epoch_.fetch_add(1, std::memory_order_release);
  // All of them: they wait for different things, and only they know whether theirs has come.
  futex(epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
}

void IdleStrategy::reset() {
  if (announced_) parker_.withdraw();
  announced_ = false;
  round_ = 0;
  timeout_ = kFirstPark;
}

void IdleStrategy::wait() {
  if (announced_) {
    // The look since announce() found nothing.
    announced_ = false;
    parker_.park(ticket_, timeout_);
    ++parks_;
    timeout_ = std::min(2 * timeout_, kLastPark);
    return;  // and look once more; if there is still nothing, announce again
  }
  constexpr unsigned kPausesFrom = kSpins, kYieldsFrom = kPausesFrom + kPauseRounds;
  constexpr unsigned kParksFrom = kYieldsFrom + kYields;
  if (round_ >= kParksFrom) {
    ticket_ = parker_.announce();
    announced_ = true;
    return;
  }
  if (round_ >= kYieldsFrom) {
    sched_yield();
  } else if (round_ >= kPausesFrom) {
    for (unsigned i = 0; i < kPausesEach; ++i) pause_once();
  }
  ++round_;
}

AgentRunner::AgentRunner(Agent& agent, Parker& parker, const PlacedThread& placed)
    : agent_(agent), parker_(parker), thread_([this, placed] { run(placed); }) {}

AgentRunner::~AgentRunner() {
  stop();
  join();
}

void AgentRunner::stop() {
  stop_.store(true, std::memory_order_release);
  parker_.notify();
}

void AgentRunner::join() {
  if (thread_.joinable()) thread_.join();
}

void AgentRunner::run(const PlacedThread& placed) {
  settled_ = settle(placed);
  // Release: whoever sees `started` sees `settled_`.
  started_.store(true, std::memory_order_release);
  IdleStrategy idle(parker_);
  while (!stop_.load(std::memory_order_acquire) && !agent_.done()) {
    const std::size_t work = agent_.do_work();
    // What it did may be what others wait for.
    if (work != 0) parker_.notify();
    idle.idle(work);
  }
  parker_.notify();
}

}  // namespace weir::core
