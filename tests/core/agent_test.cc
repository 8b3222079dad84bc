#include "core/agent.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <memory>
#include <thread>
#include <vector>

#include "core/affinity.h"

namespace weir::core {
namespace {

TEST(IdleStrategy, DoesNotSleepWhileThereIsWork) {
  Parker parker;
  IdleStrategy idle(parker);
  for (int i = 0; i < 1000; ++i) idle.idle(1);
  EXPECT_EQ(idle.parks(), 0u);
  EXPECT_EQ(parker.waiters(), 0u);
}

TEST(IdleStrategy, SleepsAfterABoundedNumberOfFruitlessLooksAndLooksAgainAfterAnnouncing) {
  Parker parker;
  IdleStrategy idle(parker);
  constexpr unsigned kLooks =
      IdleStrategy::kSpins + IdleStrategy::kPauseRounds + IdleStrategy::kYields;
  for (unsigned i = 0; i < kLooks; ++i) idle.idle(0);
  EXPECT_EQ(parker.waiters(), 0u);
  idle.idle(0);  // announces, so that the next look cannot miss a notify
  EXPECT_EQ(parker.waiters(), 1u);
  EXPECT_EQ(idle.parks(), 0u);
  idle.idle(0);
  EXPECT_EQ(idle.parks(), 1u);
  EXPECT_EQ(parker.waiters(), 0u);
}

TEST(IdleStrategy, WithdrawsWhenTheLastLookFindsWork) {
  Parker parker;
  IdleStrategy idle(parker);
  while (parker.waiters() == 0) idle.idle(0);
  idle.idle(1);
  EXPECT_EQ(parker.waiters(), 0u);
  EXPECT_EQ(idle.parks(), 0u);
}

TEST(IdleStrategy, WithdrawsWhenItGoes) {
  Parker parker;
  {
    IdleStrategy idle(parker);
    while (parker.waiters() == 0) idle.idle(0);
  }
  EXPECT_EQ(parker.waiters(), 0u);
}

TEST(Parker, DoesNotSleepWhenNotifiedSinceTheAnnouncement) {
  Parker parker;
  const Parker::Ticket ticket = parker.announce();
  parker.notify();
  parker.park(ticket, std::chrono::hours(24));  // returns at once, or this test never ends
  EXPECT_EQ(parker.waiters(), 0u);
}

TEST(Parker, WakesEverySleeper) {
  constexpr unsigned kSleepers = 4;
  Parker parker;
  std::atomic<bool> go{false};
  std::vector<std::thread> sleepers;
  for (unsigned i = 0; i < kSleepers; ++i) {
    sleepers.emplace_back([&] {
      while (true) {
        const Parker::Ticket ticket = parker.announce();
        if (go.load(std::memory_order_acquire)) {
          parker.withdraw();
          return;
        }
        parker.park(ticket, std::chrono::hours(24));
      }
    });
  }
  while (parker.waiters() != kSleepers) std::this_thread::yield();
  go.store(true, std::memory_order_release);
  parker.notify();
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(parker.waiters(), 0u);
}

// Two threads pass a token with a park that only a wake-up ends: a lost one would hang the test.
TEST(Parker, LosesNoWakeUp) {
  constexpr std::uint64_t kTurns = 20'000;
  Parker parker;
  std::atomic<std::uint64_t> turn{0};
  const auto play = [&](std::uint64_t mine) {
    for (std::uint64_t i = mine; i < kTurns; i += 2) {
      while (turn.load(std::memory_order_acquire) != i) {
        const Parker::Ticket ticket = parker.announce();
        if (turn.load(std::memory_order_acquire) == i) {
          parker.withdraw();
          break;
        }
        parker.park(ticket, std::chrono::hours(24));
      }
      turn.store(i + 1, std::memory_order_release);
      parker.notify();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kTurns);
}

// Counts down as far as it is allowed.
class Countdown final : public Agent {
 public:
  std::size_t do_work() override {
    if (allowed_.load(std::memory_order_acquire) == done_.load(std::memory_order_relaxed)) return 0;
    done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return 1;
  }
  bool done() const override { return done_.load(std::memory_order_acquire) == kAll; }
  std::string_view role_name() const override { return "countdown"; }

  static constexpr std::uint64_t kAll = 100;
  std::atomic<std::uint64_t> allowed_{0}, done_{0};
};

TEST(AgentRunner, RunsAnAgentUntilItIsDone) {
  Parker parker;
  Countdown agent;
  PlacedThread placed;
  placed.shard = 0;
  AgentRunner runner(agent, parker, placed);
  for (std::uint64_t i = 1; i <= Countdown::kAll; ++i) {
    agent.allowed_.store(i, std::memory_order_release);
    parker.notify();
  }
  runner.join();
  EXPECT_TRUE(agent.done());
  EXPECT_TRUE(runner.started());
  EXPECT_EQ(runner.settled().complaint, "");
}

TEST(AgentRunner, StopsAnIdleAgent) {
  Parker parker;
  Countdown agent;
  PlacedThread placed;
  placed.ingest = 0;
  std::vector<std::unique_ptr<AgentRunner>> runners;
  runners.push_back(std::make_unique<AgentRunner>(agent, parker, placed));
  while (parker.waiters() == 0) std::this_thread::yield();
  runners.clear();
  EXPECT_FALSE(agent.done());
}

TEST(Affinity, PinsTheCallingThreadAndNamesIt) {
  const auto topology = Topology::of_machine();
  ASSERT_TRUE(topology.ok());
  const auto placement = place(*topology, {.threads = 1});
  ASSERT_TRUE(placement.ok());
  const PlacedThread placed = placement->threads[0];
  Settled settled;
  int cpu = -1;
  char name[16] = {};
  std::thread thread([&] {
    settled = settle(placed);
    cpu = sched_getcpu();
    pthread_getname_np(pthread_self(), name, sizeof name);
  });
  thread.join();
  EXPECT_STREQ(name, "weir-fused-0");
  if (!settled.pinned) GTEST_SKIP() << "this system does not pin: " << settled.complaint;
  EXPECT_EQ(cpu, static_cast<int>(*placed.pu));
}

TEST(Affinity, ReportsAProcessorThatIsNotThere) {
  PlacedThread placed;
  placed.shard = 0;
  placed.pu = 4000;
  Settled settled;
  std::thread thread([&] { settled = settle(placed); });
  thread.join();
  EXPECT_FALSE(settled.pinned);
  EXPECT_NE(settled.complaint.find("cannot pin a thread to CPU 4000"), std::string::npos);
}

TEST(Affinity, ReportsAMemoryGroupThatIsNotThere) {
  Status status;
  std::thread thread([&] { status = prefer_memory_of(900); });
  thread.join();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("NUMA group 900"), std::string::npos);
}

}  // namespace
}  // namespace weir::core
