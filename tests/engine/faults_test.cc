// Faults of workers: when they happen, who steps in, and how a stall is seen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "engine/stalls.h"
#include "engine/worker_faults.h"
#include "tests/support/live_engine.h"
#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_faults.h"

namespace weir::engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::kForHours;
using tests::slow_of;
using tests::stop_of;
using Kind = FaultPlan::Fault::Kind;
using Faults = std::vector<FaultPlan::Fault>;

std::shared_ptr<const FaultPlan> plan_of(Faults faults) {
  auto plan = std::make_shared<FaultPlan>();
  plan->faults = std::move(faults);
  return plan;
}

FaultPlan::Fault kill_of(std::uint64_t at) {
  FaultPlan::Fault fault = stop_of(0, at, 0);
  fault.kind = Kind::kKill;
  return fault;
}

TEST(WorkerFaults, AreNoneWithoutAPlanAndWithoutOneForWorkers) {
  EXPECT_EQ(WorkerFaults::of(nullptr), nullptr);
  FaultPlan::Fault of_files;
  of_files.kind = Kind::kIoError;
  EXPECT_EQ(WorkerFaults::of(plan_of({of_files})), nullptr);
  EXPECT_NE(WorkerFaults::of(plan_of({of_files, stop_of(0, 1, 1)})), nullptr);
}

TEST(WorkerFaults, StopAWorkerOnceAtOrBehindThePlace) {
  const auto faults =
      WorkerFaults::of(plan_of({stop_of(1, 100, 7), stop_of(1, 100, 5), stop_of(1, 300, 3)}));
  EXPECT_EQ(faults->stop(1, RecordPosition{99}), 0);
  EXPECT_EQ(faults->stop(0, RecordPosition{200}), 0);
  EXPECT_EQ(faults->stop(1, RecordPosition{150}), 12);
  EXPECT_EQ(faults->stop(1, RecordPosition{299}), 0);
  EXPECT_EQ(faults->stop(1, RecordPosition{300}), 3);
  EXPECT_EQ(faults->stop(1, RecordPosition{1000}), 0);
}

TEST(WorkerFaults, SlowAWorkerForAWhileFromThePlaceOn) {
  const auto faults = WorkerFaults::of(plan_of({slow_of(2, 10, 1000, 40), slow_of(2, 20, 50, 90)}));
  EXPECT_EQ(faults->slowness(2, RecordPosition{9}, 1), 0u);
  EXPECT_EQ(faults->slowness(2, RecordPosition{10}, 100), 40u);
  EXPECT_EQ(faults->slowness(1, RecordPosition{10}, 100), 0u);
  EXPECT_EQ(faults->slowness(2, RecordPosition{20}, 500), 90u);
  EXPECT_EQ(faults->slowness(2, RecordPosition{21}, 549), 90u);
  EXPECT_EQ(faults->slowness(2, RecordPosition{21}, 550), 40u);
  EXPECT_EQ(faults->slowness(2, RecordPosition{21}, 1100), 0u);
}

TEST(WorkerFaults, LastAsLongAsAClockCanTell) {
  const auto faults = WorkerFaults::of(plan_of({slow_of(0, 0, INT64_MAX, 50)}));
  EXPECT_EQ(faults->slowness(0, RecordPosition{0}, 1), 50u);
  EXPECT_EQ(faults->slowness(0, RecordPosition{0}, INT64_MAX / 16), 50u);
}

TEST(WorkerFaults, BehindWhichARunIsResumedDoNotComeAgain) {
  const auto faults = WorkerFaults::of(
      plan_of({stop_of(0, 100, 1), slow_of(0, 99, 1000, 50), stop_of(0, 200, 2), kill_of(50)}));
  faults->resume_at(RecordPosition{101});
  faults->reach(RecordPosition{101});  // and nothing is killed
  EXPECT_EQ(faults->stop(0, RecordPosition{150}), 0);
  EXPECT_EQ(faults->slowness(0, RecordPosition{150}, 1), 0u);
  EXPECT_EQ(faults->stop(0, RecordPosition{200}), 2);
}

// Workers 0 and 1 of a ring, moved by hand.
class StallsTest : public testing::Test {
 protected:
  void publish(std::uint64_t seq) { ring_.publish(Seq{seq}); }
  unsigned look(std::int64_t ms, unsigned workers = 2) {
    return stalls_.look(ring_, workers, ms * 1'000'000);
  }

  Ring ring_{4, 2};
  std::vector<std::string> notices_;
  Stalls stalls_{[this](const std::string& text) { notices_.push_back(text); }};
};

TEST_F(StallsTest, WithoutWorkNobodyStalls) {
  EXPECT_EQ(look(1), 0u);
  EXPECT_EQ(look(60'000), 0u);
  publish(0);
  // Nobody knows since when it is there.
  EXPECT_EQ(look(120'000), 0u);
  EXPECT_EQ(look(121'000), 0u);
  EXPECT_EQ(look(121'001), 2u);
}

TEST_F(StallsTest, AreSeenByLooksFarApart) {
  publish(0);
  EXPECT_EQ(look(1), 0u);
  ring_.consume(0, Seq{0});
  EXPECT_EQ(look(600'000), 1u);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("worker 1 stalls")));
}

TEST_F(StallsTest, AreToldOnceAndOnceWhenTheyEnd) {
  publish(0);
  publish(1);
  look(1);
  EXPECT_EQ(look(1500), 2u);
  EXPECT_EQ(look(2500), 2u);
  ring_.consume(0, Seq{0});
  EXPECT_EQ(look(2600), 1u);
  ring_.consume(1, Seq{0});
  ring_.consume(1, Seq{1});
  EXPECT_EQ(look(2700), 0u);
  // The entry behind it counts from when it was seen to be next.
  EXPECT_EQ(look(3600), 0u);
  EXPECT_EQ(look(3601), 1u);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("worker 0 stalls"), HasSubstr("worker 1 stalls"),
                                    HasSubstr("worker 0 goes on"), HasSubstr("worker 1 goes on"),
                                    HasSubstr("worker 0 stalls")));
}

TEST_F(StallsTest, OfWorkersThatAreGoneCountNoMore) {
  publish(0);
  look(1);
  EXPECT_EQ(look(5000), 2u);
  EXPECT_EQ(look(5001, 1), 1u);
  EXPECT_EQ(look(5002, 2), 1u);  // a new one of its number begins afresh
}

Config config_of(unsigned threads, Faults faults) {
  Config config;
  config.layout = "saams";
  config.placement = "none";
  config.threads = threads;
  config.block_size = 4096;
  config.ring_entries = 4;
  config.emit = {0, 500};
  config.faults = plan_of(std::move(faults));
  return config;
}

constexpr std::uint64_t kRecords = 5000;
const char* const kRequests = R"(
{"op":"build","synopsis":"CountMin","dataset":"D","stream":"","field":"price","params":{"epsilon":0.05,"confidence":0.9,"seed":3},"parallelism":4}
{"op":"build","synopsis":"DFT","dataset":"D","stream":"A","field":"price","params":{"window":8,"slide":4,"coefficients":2}}
{"op":"query","synopsis":"CountMin","dataset":"D","stream":"","field":"price","query":7,"continuous":true}
)";

std::string lines(std::uint64_t records = kRecords) {
  std::string lines;
  for (std::uint64_t i = 0; i < records; ++i) {
    lines += tests::line_of(i, std::string(1, static_cast<char>('A' + i % 11)));
  }
  return lines;
}

tests::ObservedRun run(const Config& config, const std::string& more = {}) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<tests::MemorySource>(lines()));
  return tests::observe(config, kRequests + more, std::move(sources));
}

TEST(Faults, OthersBringARunToItsEndWhenAllButOneHaveStopped) {
  const auto expected = run(config_of(1, {}));
  EXPECT_EQ(expected.summary.records, kRecords);
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1}, kRecords / 2, kRecords}) {
    const auto seen = run(config_of(4, {stop_of(1, at, kForHours), stop_of(2, at, kForHours),
                                        stop_of(3, at, kForHours), slow_of(0, at, kForHours, 50)}));
    EXPECT_EQ(seen.answers, expected.answers) << at;
    EXPECT_EQ(seen.fingerprint(), expected.fingerprint()) << at;
  }
}

TEST(Faults, ThreadsThatOnlyParseStepInToo) {
  const auto expected = run(config_of(1, {}));
  Config config = config_of(0, {stop_of(0, 100, kForHours), stop_of(1, 2000, kForHours)});
  config.ingest_threads = 1;
  config.shard_threads = 2;
  EXPECT_EQ(run(config).fingerprint(), expected.fingerprint());
}

TEST(Faults, WorkersOfAGenerationThatEndsAreSteppedToItsEnd) {
  const std::string rescales = R"({"at":{"record":1500},"workers":2}
{"at":{"record":2500},"workers":5}
{"at":{"record":3500},"workers":1}
)";
  const auto expected = run(config_of(1, {}), rescales);
  const auto seen = run(config_of(4, {stop_of(1, 1400, kForHours), stop_of(2, 0, kForHours),
                                      stop_of(3, 1490, kForHours), stop_of(4, 2600, kForHours),
                                      stop_of(1, 2600, kForHours), slow_of(0, 0, kForHours, 60)}),
                        rescales);
  EXPECT_EQ(seen.answers, expected.answers);
  EXPECT_EQ(seen.fingerprint(), expected.fingerprint());
  EXPECT_EQ(seen.summary.rescales.count, 3u);
}

TEST(Faults, AThreadAloneComesBackByItself) {
  const auto expected = run(config_of(1, {}));
  const auto seen = run(config_of(1, {stop_of(0, 0, 2'000'000), stop_of(0, 3000, 2'000'000)}));
  EXPECT_EQ(seen.answers, expected.answers);
  EXPECT_EQ(seen.fingerprint(), expected.fingerprint());
}

// A running engine that is pushed to.
class LiveFaults {
 public:
  LiveFaults(unsigned threads, Faults faults)
      : engine_(*Engine::create(config_of(threads, std::move(faults)))) {
    engine_.on_notice([this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      notices_.push_back(text);
    });
  }
  Engine& engine() { return engine_; }
  std::vector<std::string> notices() const {
    const std::scoped_lock lock(mutex_);
    return notices_;
  }
  bool told(const std::string& part) const {
    for (const std::string& notice : notices()) {
      if (notice.find(part) != std::string::npos) return true;
    }
    return false;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> notices_;
  Engine engine_;
};

TEST(Faults, ItIsToldWhoStepsInAndWhoIsBack) {
  // Many stops: however slow this machine is, one of them lasts until somebody has looked.
  Faults faults;
  for (std::uint64_t i = 0; i < 1000; ++i) faults.push_back(stop_of(1, 500 * i, 20'000'000));
  LiveFaults live(2, faults);
  ASSERT_TRUE(live.engine().start().ok());
  std::uint64_t pushed = 0;
  while (!(live.told("goes on by itself"))) {
    ASSERT_TRUE(tests::push_all(live.engine(), tests::line_of(pushed++)));
  }
  const auto summary = live.engine().finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->records, pushed);
  EXPECT_TRUE(summary->conserved());
  EXPECT_THAT(live.notices(),
              Contains(AllOf(HasSubstr("worker 1 at record "),
                             HasSubstr("stopped; its slots are applied by thread 0"))));
}

TEST(Faults, AWorkerThatHangsInACallbackIsSeenToStall) {
  LiveFaults live(1, {});
  std::mutex mutex;
  std::condition_variable released;
  bool go_on = false;
  live.engine().on_answer([&](const Answer&) {
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return go_on; });
  });
  ASSERT_TRUE(live.engine().start().ok());
  // Its answer comes at its cut, inside the entry.
  ASSERT_TRUE(
      live.engine()
          .request(R"({"op":"query","synopsis":"CountMin","dataset":"D","stream":"","field":"f",)"
                   R"("query":1})")
          .ok());
  ASSERT_TRUE(tests::push_all(live.engine(), tests::line_of(0)));
  while (live.engine().progress().stalled == 0) std::this_thread::yield();
  EXPECT_EQ(live.engine().progress().workers, 1u);
  EXPECT_TRUE(live.told("worker 0 stalls"));
  {
    const std::scoped_lock lock(mutex);
    go_on = true;
  }
  released.notify_all();
  while (live.engine().progress().stalled != 0) std::this_thread::yield();
  EXPECT_TRUE(live.told("worker 0 goes on"));
  ASSERT_TRUE(live.engine().finish().ok());
  EXPECT_EQ(live.notices().size(), 2u);
}

class DeathOfAProcess : public testing::Test {
 protected:
  DeathOfAProcess() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(DeathOfAProcess, ComesWhenTheFirstWorkerReachesThePlace) {
  EXPECT_EXIT(run(config_of(3, {kill_of(kRecords / 2)})), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(run(config_of(1, {kill_of(0)})), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(run(config_of(2, {kill_of(kRecords)})), testing::KilledBySignal(SIGKILL), "");
}

TEST_F(DeathOfAProcess, DoesNotComeBeforeIt) {
  // What is far ahead in the input is parsed and answered nowhere before the place.
  EXPECT_EQ(run(config_of(2, {kill_of(kRecords + 1)})).summary.records, kRecords);
}

}  // namespace
}  // namespace weir::engine
