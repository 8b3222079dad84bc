// A disk that is really full: a small one in memory, with a ballast that is taken away meanwhile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/durable_job.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using testing::HasSubstr;

class SmallDisk {
 public:
  explicit SmallDisk(std::size_t kilobytes) {
    const std::string size = "size=" + std::to_string(kilobytes) + "k";
    if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, size.c_str()) != 0) error_ = errno;
  }
  ~SmallDisk() {
    if (error_ == 0) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  std::string error() const { return error_ == 0 ? "" : std::strerror(error_); }
  std::string states() const { return folder_.at("states"); }
  // Until so much is left.
  void fill(std::size_t free_kilobytes) const {
    const std::size_t now = std::filesystem::space(folder_.path()).available >> 10;
    if (now <= free_kilobytes) return;
    folder_.write("ballast", std::string((now - free_kilobytes) << 10, 'b'));
  }
  void drop_ballast() const { std::filesystem::remove(folder_.at("ballast")); }

 private:
  TemporaryFolder folder_;
  int error_ = 0;
};

#define WEIR_NEED_DISK(disk)                                                                 \
  if (!(disk).error().empty())                                                               \
  GTEST_SKIP() << "a full disk is NOT tested: a tmpfs cannot be mounted (" << (disk).error() \
               << "); this needs root"

// Drops the ballast when a notice tells of what is missing.
JobRun run_on(const SmallDisk& disk, const DurableJob& job, JobOutputs& outputs,
              const std::string& missed) {
  return run_job(job, job.config(disk.states()), outputs, [&](const std::string& notice) {
    if (!missed.empty() && notice.find(missed) != std::string::npos) disk.drop_ballast();
  });
}

TEST(DurableFullDisk, MakesTheJournalWaitUntilSpaceReturns) {
  const DurableJob job;
  const JobReference reference = reference_of(job);
  for (const std::size_t free : {0, 4, 40, 100, 150, 200}) {
    SCOPED_TRACE(free);
    const SmallDisk disk(2048);
    WEIR_NEED_DISK(disk);
    std::filesystem::create_directories(disk.states() + "/journal");
    disk.fill(free);
    JobOutputs outputs;
    const JobRun run = run_on(disk, job, outputs, "waits for space");
    expect_same(reference, run, outputs);
    EXPECT_THAT(run.told(), HasSubstr("waits for space; the disk is full"));
    EXPECT_THAT(run.told(), HasSubstr("goes on; there is space"));
    expect_resumes(job, reference, disk.states(), outputs);
  }
}

TEST(DurableFullDisk, DelaysSnapshotsUntilSpaceReturns) {
  const DurableJob job{.pushed = false, .rich = true};
  const JobReference reference = reference_of(job);
  for (const std::size_t free : {0, 4, 16, 40}) {
    SCOPED_TRACE(free);
    const SmallDisk disk(2048);
    WEIR_NEED_DISK(disk);
    std::filesystem::create_directories(disk.states() + "/journal");
    disk.fill(free);
    JobOutputs outputs;
    const JobRun run = run_on(disk, job, outputs, "no snapshot at record");
    expect_same(reference, run, outputs);
    EXPECT_THAT(run.told(), HasSubstr("No space left on device"));
    EXPECT_GT(run.summary.snapshots_failed, 0u);
    const JobRun again = expect_resumes(job, reference, disk.states(), outputs);
    EXPECT_EQ(again.summary.resumed_from.has_value(), run.summary.snapshots > 0);
  }
}

TEST(DurableFullDisk, LeavesTheSnapshotsThatThereAre) {
  const DurableJob job{.pushed = false, .rich = true};
  const JobReference reference = reference_of(job);
  const SmallDisk disk(2048);
  WEIR_NEED_DISK(disk);
  JobOutputs outputs;
  const JobRun first = run_on(disk, job, outputs, "");
  ASSERT_GT(first.summary.snapshots, 0u) << first.told();
  disk.fill(4);
  const JobRun again = expect_resumes(job, reference, disk.states(), outputs);
  EXPECT_TRUE(again.summary.resumed_from.has_value()) << again.told();
}

}  // namespace
}  // namespace weir::tests
