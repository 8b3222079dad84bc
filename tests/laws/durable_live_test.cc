// Live requests of a run that is resumed, and the end of a run whose journal has failed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/durable_job.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using testing::HasSubstr;

const DurableJob kJob{};

class Host {
 public:
  Host(const std::string& directory, bool resume, const FaultPlan& faults = {})
      : engine_(made(directory, resume, faults)) {
    engine_.on_notice([this](const std::string& notice) { notices.push_back(notice); });
    engine_.on_answer([this](const Answer& answer) { answers.push_back(answer.to_json()); });
    const Status started = engine_.start();
    EXPECT_TRUE(started.ok()) << started.message();
  }
  // All records up to this one.
  void push_to(std::size_t record) {
    const std::string lines = kJob.lines_from(pushed_, record - pushed_);
    EXPECT_EQ(engine_.push(lines), Push::kAccepted);
    pushed_ = record;
    EXPECT_TRUE(job_detail::quiet(engine_, record));
  }
  void ask(const std::string& op, const std::string& more) {
    const Status asked = engine_.request(
        R"({"op":")" + op +
        R"(","dataset":"D","field":"price","synopsis":"GKQuantiles","stream":"S2")" + more + "}");
    EXPECT_TRUE(asked.ok()) << asked.message();
  }
  std::string finish() {
    auto summary = engine_.finish();
    EXPECT_TRUE(summary.ok()) << summary.status().message();
    return summary.ok() ? summary->digest + summary->source_error : "";
  }
  Engine& engine() { return engine_; }

  std::vector<std::string> answers, notices;

 private:
  Engine made(const std::string& directory, bool resume, const FaultPlan& faults) {
    Config config = kJob.config(directory);
    config.snapshot_every = {};
    config.resume = resume;
    config.faults = std::make_shared<const FaultPlan>(faults);
    auto engine = Engine::create(config);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    if (engine.ok() && engine->resumed().has_value()) {
      const std::string lines = kJob.lines();
      pushed_ = job_detail::newlines(std::string_view(lines).substr(0, engine->resumed()->offset));
      EXPECT_EQ(lines.find('\n', engine->resumed()->offset - 1), engine->resumed()->offset - 1);
    }
    return *std::move(engine);
  }
  std::size_t pushed_ = 0;
  Engine engine_;
};

// They are numbered in the journal as they come to lie; one that overtook would damage it.
TEST(DurableLive, NewRequestsComeBehindThoseThatAreRepeated) {
  const TemporaryFolder folder;
  {
    Host host(folder.path(), false);
    host.push_to(600);
    host.ask("build", R"(,"params":{"epsilon":0.05})");
    host.push_to(800);
    host.ask("query", R"(,"requestID":1,"query":0.5)");
    host.push_to(1000);
    host.engine().interrupt();
    host.finish();
  }
  std::vector<std::string> answers;
  std::string digest;
  {
    Host host(folder.path(), true);
    EXPECT_EQ(host.engine().resumed()->changes, 2u);
    host.ask("query", R"(,"requestID":2,"query":0.5)");
    host.push_to(1500);
    host.ask("query", R"(,"requestID":3,"query":0.5)");
    host.push_to(2000);
    digest = host.finish();
    answers = host.answers;
  }
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_THAT(answers[0], HasSubstr(R"("kind":"ack")"));
  EXPECT_THAT(answers[0], HasSubstr(R"("seq":600)"));
  EXPECT_THAT(answers[1], HasSubstr(R"("seq":800)"));
  EXPECT_THAT(answers[2], HasSubstr(R"("requestID":2)"));
  EXPECT_THAT(answers[2], HasSubstr(R"("kind":"ad-hoc")"));
  EXPECT_THAT(answers[3], HasSubstr(R"("seq":1500)"));
  Host again(folder.path(), true);
  EXPECT_EQ(again.engine().resumed()->changes, 4u);
  EXPECT_EQ(again.finish(), digest);
  EXPECT_EQ(again.answers, answers);
}

FaultPlan journal_writes(FaultPlan::Fault::Kind kind, unsigned times) {
  FaultPlan::Fault fault;
  fault.kind = kind;
  fault.call = "write";
  fault.file = "journal";
  fault.times = times;
  return {{fault}};
}

TEST(DurableLive, ARequestWaitsForSpaceAndSaysSo) {
  const TemporaryFolder folder;
  Host host(folder.path(), false, journal_writes(FaultPlan::Fault::Kind::kNoSpace, 3));
  host.ask("build", R"(,"params":{"epsilon":0.05})");
  host.push_to(100);
  host.finish();
  ASSERT_EQ(host.notices.size(), 2u);
  EXPECT_THAT(host.notices[0], HasSubstr("waits for space; the disk is full"));
  EXPECT_THAT(host.notices[1], HasSubstr("goes on; there is space"));
  ASSERT_EQ(host.answers.size(), 1u);
  EXPECT_THAT(host.answers[0], HasSubstr(R"("kind":"ack")"));
}

// An acknowledgement is a promise.
TEST(DurableLive, ARequestThatCannotBeKeptIsRefusedAndEndsTheRun) {
  const TemporaryFolder folder;
  {
    Host host(folder.path(), false, journal_writes(FaultPlan::Fault::Kind::kIoError, 1));
    host.ask("build", R"(,"params":{"epsilon":0.05})");
    while (!host.engine().progress().done) std::this_thread::yield();
    const auto summary = host.engine().finish();
    const std::string error = summary.ok() ? summary->source_error : summary.status().message();
    EXPECT_THAT(error, HasSubstr("a live change cannot be kept"));
    EXPECT_THAT(error, HasSubstr("Input/output error"));
    ASSERT_EQ(host.answers.size(), 1u);
    EXPECT_THAT(host.answers[0], HasSubstr(R"("kind":"error")"));
    EXPECT_THAT(host.answers[0], HasSubstr("a live change cannot be kept"));
  }
  Host again(folder.path(), true);
  EXPECT_FALSE(again.engine().resumed().has_value());
  again.push_to(100);
  again.finish();
  EXPECT_THAT(again.answers, testing::IsEmpty());
}

// The source that could not be kept to its end is no less cut off by another that follows it.
TEST(DurableLive, NoSnapshotIsTakenOfWhatFollowsAFailedJournal) {
  const std::string lines = kJob.lines();
  const std::size_t middle = lines.find('\n', lines.size() / 2) + 1;
  const auto run = [&](Config config) -> Result<Summary> {
    auto engine = Engine::create(std::move(config));
    if (!engine.ok()) return engine.status();
    const auto& from = engine->resumed();
    const std::size_t offset = !from.has_value()  ? 0
                               : from->source > 0 ? middle
                                                  : static_cast<std::size_t>(from->offset);
    engine->add_source(
        std::make_unique<MemorySource>(lines.substr(offset, middle - offset), 3000, 1, "pipe"));
    engine->add_source(std::make_unique<WaitingSource>(lines.substr(middle), 3000));
    EXPECT_TRUE(engine->request(kJob.requests()).ok());
    if (Status s = engine->start(); !s.ok()) return s;
    return engine->finish();
  };
  const TemporaryFolder folder, plain;
  const auto reference = run(kJob.config(plain.path()));
  ASSERT_TRUE(reference.ok() && reference->source_error.empty());
  Config config = kJob.config(folder.path());
  config.snapshot_every = {0, 100};
  FaultPlan::Fault fault;
  fault.kind = FaultPlan::Fault::Kind::kIoError;
  fault.call = "write";
  fault.file = "journal";
  fault.nth = 20;
  config.faults = std::make_shared<const FaultPlan>(FaultPlan{{fault}});
  const auto failed = run(config);
  ASSERT_TRUE(failed.ok()) << failed.status().message();
  EXPECT_THAT(failed->source_error, HasSubstr("Input/output error"));
  EXPECT_LT(failed->records, kJob.records / 2);
  config.faults = nullptr;
  config.resume = true;
  const auto resumed = run(config);
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  EXPECT_EQ(resumed->digest, reference->digest);
  EXPECT_EQ(resumed->records, kJob.records);
}

}  // namespace
}  // namespace weir::tests
