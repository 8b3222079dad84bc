// Every system call of snapshots and journal fails in turn: the run goes on to the right end or
// ends with a clear error, and what it leaves behind can be gone on with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/durable_job.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Kind = FaultPlan::Fault::Kind;

std::shared_ptr<const FaultPlan> plan_of(Kind kind, const std::string& call, unsigned nth,
                                         unsigned times = 1) {
  FaultPlan::Fault fault;
  fault.kind = kind;
  fault.call = call;
  fault.nth = nth;
  fault.times = times;
  return std::make_shared<const FaultPlan>(FaultPlan{{fault}});
}

bool tells(const JobRun& run, const std::string& text) {
  return run.told().find(text) != std::string::npos;
}

class DurableFaults : public testing::Test {
 protected:
  // One run with the fault, and one that goes on without any. Whether the fault has shown.
  bool try_fault(const DurableJob& job, Kind kind, const std::string& call, unsigned nth,
                 unsigned times = 1) {
    SCOPED_TRACE(testing::Message() << (job.pushed ? "pushed " : "repeatable ") << call << " "
                                    << nth << " kind " << static_cast<int>(kind));
    const TemporaryFolder folder;
    const JobReference& reference = job.pushed ? pushed_ : repeatable_;
    JobOutputs outputs;
    Config config = job.config(folder.path());
    config.faults = plan_of(kind, call, nth, times);
    const JobRun run = run_job(job, std::move(config), outputs);
    const bool shown = !run.status.ok() || !run.notices.empty();
    if (run.status.ok()) {
      expect_same(reference, run, outputs);
      EXPECT_EQ(run.summary.snapshots_failed == 0, !tells(run, "no snapshot at")) << run.told();
    } else {
      EXPECT_THAT(run.status.message(),
                  AnyOf(HasSubstr("Input/output error"), HasSubstr("No space left")));
    }
    last_ = run;
    expect_resumes(job, reference, folder.path(), outputs);
    return shown;
  }
  // From 1 on until the fault shows no more; every one up to `all`, then some. How many showed.
  unsigned try_each(const DurableJob& job, Kind kind, const std::string& call, unsigned all) {
    unsigned nth = 1, shown = 0, quiet = 0;
    while (quiet < 2 && !HasFailure()) {
      const bool now = try_fault(job, kind, call, nth);
      shown += now ? 1 : 0;
      quiet = now ? 0 : quiet + 1;
      nth += nth < all ? 1 : 1 + 2 * nth / 3;
    }
    return shown;
  }
  void try_calls(Kind kind, unsigned all) {
    for (const DurableJob& job : {pushed_job_, repeatable_job_}) {
      for (const char* call : {"open", "write", "fsync", "rename", "mkdir"}) {
        EXPECT_GT(try_each(job, kind, call, all), 0u) << call;
      }
    }
  }

  const DurableJob pushed_job_{}, repeatable_job_{.pushed = false};
  const JobReference pushed_ = reference_of(pushed_job_);
  const JobReference repeatable_ = reference_of(repeatable_job_);
  JobRun last_;
};

TEST_F(DurableFaults, GoOnOrEndClearlyWhicheverCallHasAnErrorOfTheDisk) {
  try_calls(Kind::kIoError, 3);
}

TEST_F(DurableFaults, GoOnOrEndClearlyWhicheverCallFindsNoSpace) { try_calls(Kind::kNoSpace, 1); }

class LongDurableFaults : public DurableFaults {};

TEST_F(LongDurableFaults, GoOnOrEndClearlyWhicheverCallFails) {
  try_calls(Kind::kIoError, 1000);
  try_calls(Kind::kNoSpace, 1000);
}

TEST_F(DurableFaults, DoNotShowInWhatIsQuiet) {
  for (const DurableJob& job : {pushed_job_, repeatable_job_}) {
    for (const char* call : {"unlink", "close"}) {
      for (const unsigned nth : {1, 2, 4}) try_fault(job, Kind::kIoError, call, nth);
    }
    for (unsigned nth = 1; nth < 200; nth *= 3) {
      try_fault(job, Kind::kShortWrite, "write", nth, 3);
      EXPECT_TRUE(last_.status.ok() && last_.notices.empty()) << last_.told();
    }
  }
}

// Behind each write that fails there is a cut back, which may fail, too.
TEST_F(DurableFaults, GoOnWhenATornWriteCannotBeCutBack) {
  for (const unsigned nth : {2, 3, 7}) {
    const TemporaryFolder folder;
    FaultPlan plan;
    for (const char* call : {"write", "truncate"}) {
      FaultPlan::Fault fault;
      fault.kind = call == std::string("write") ? Kind::kNoSpace : Kind::kIoError;
      fault.call = call;
      fault.file = "journal";
      fault.nth = call == std::string("write") ? nth : 1;
      plan.faults.push_back(fault);
    }
    Config config = pushed_job_.config(folder.path());
    config.faults = std::make_shared<const FaultPlan>(plan);
    JobOutputs outputs;
    const JobRun run = run_job(pushed_job_, std::move(config), outputs);
    EXPECT_THAT(run.status.message(), HasSubstr("ftruncate: Input/output error"));
    expect_resumes(pushed_job_, pushed_, folder.path(), outputs);
  }
}

// Space is back after some calls: nothing is lost, and nobody needs to resume.
TEST_F(DurableFaults, RecoverInTheSameRunWhenSpaceReturns) {
  for (const DurableJob& job : {pushed_job_, repeatable_job_}) {
    for (const unsigned nth : {1, 2, 4, 9, 60}) {
      SCOPED_TRACE(nth);
      try_fault(job, Kind::kNoSpace, "write", nth, 5);
      EXPECT_TRUE(last_.status.ok()) << last_.told();
      if (tells(last_, "waits for space")) {
        EXPECT_TRUE(tells(last_, "goes on; there is space")) << last_.told();
      }
    }
  }
}

TEST_F(DurableFaults, HarmNothingWhileARunIsResumed) {
  for (const DurableJob& job : {pushed_job_, repeatable_job_}) {
    const JobReference& reference = job.pushed ? pushed_ : repeatable_;
    for (const char* call : {"open", "read", "fsync", "write", "truncate", "unlink", "rename"}) {
      for (unsigned nth = 1; nth < 8 && !HasFailure(); nth += 1 + nth / 2) {
        SCOPED_TRACE(testing::Message() << call << " " << nth);
        const TemporaryFolder folder;
        JobOutputs outputs;
        // An end in the middle, which leaves both snapshots and something in the journal.
        Config config = job.config(folder.path());
        config.faults = plan_of(Kind::kIoError, "fsync", 20);
        run_job(job, std::move(config), outputs);
        // Something to clean up and something to set aside, so that there are calls for it.
        folder.write(".snapshot-00000000000000000009-0009.weir.tmp", "left by a crash");
        folder.write("snapshot-00000000000000000009-0900.weir", "damaged");
        config = job.config(folder.path());
        config.resume = true;
        config.faults = plan_of(Kind::kIoError, call, nth);
        const JobRun run = run_job(job, std::move(config), outputs);
        if (run.status.ok()) {
          expect_same(reference, run, outputs);
        } else {
          EXPECT_THAT(run.status.message(), HasSubstr("Input/output error"));
        }
        if (HasFailure()) return;
        Config last = job.config(folder.path());
        last.resume = true;
        const JobRun again = run_job(job, std::move(last), outputs);
        EXPECT_TRUE(again.status.ok()) << again.told();
        EXPECT_EQ(again.summary.records, job.records);
      }
    }
  }
}

}  // namespace
}  // namespace weir::tests
