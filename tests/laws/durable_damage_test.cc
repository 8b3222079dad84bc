// Damage to what a run left, by accident and on purpose: it is found and named, what is good is
// used, and no bytes crash.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "engine/snapshot.h"
#include "tests/support/durable_job.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using engine::Snapshot;
using engine::snapshot_of;
using testing::HasSubstr;

// A job that has run, and what it left.
struct Left {
  explicit Left(const DurableJob& of) : job(of), reference(reference_of(of)) {
    DurableJob paced = job;
    paced.paced_by = folder.path();
    const JobRun run = run_job(paced, job.config(folder.path()), outputs);
    expect_same(reference, run, outputs);
    snapshots = snapshot_names(folder.path());
  }
  const DurableJob job;
  const TemporaryFolder folder;
  const JobReference reference;
  JobOutputs outputs;
  std::vector<std::string> snapshots;
};

void flip(const TemporaryFolder& folder, const std::string& name, std::size_t at) {
  std::string bytes = folder.read(name);
  ASSERT_LT(at, bytes.size());
  bytes[at] ^= 16;
  folder.write(name, bytes);
}

std::string first_segment(const TemporaryFolder& folder) {
  return std::filesystem::directory_iterator(folder.at("journal"))->path().filename().string();
}

const DurableJob kRich{.pushed = false, .rich = true};

TEST(DurableDamage, IsFoundWhereverASnapshotIsChangedOrCutOff) {
  const Left left(kRich);
  const std::string bytes = left.folder.read(left.snapshots.back());
  ASSERT_TRUE(snapshot_of(bytes).ok());
  std::mt19937 random(1);
  std::string changed = bytes;
  for (std::size_t i = 0; i < bytes.size() / 100 + 200; ++i) {
    const std::size_t at = i < 100 ? i : random() % bytes.size();
    for (const unsigned bit : {random() % 8, random() % 8}) {
      changed[at] ^= static_cast<char>(1 << bit);
      EXPECT_FALSE(snapshot_of(changed).ok()) << at;
      changed[at] = bytes[at];
    }
  }
  // Behind each piece that was written: heads, sections, checksums.
  const Snapshot snapshot = *snapshot_of(bytes);
  std::size_t boundaries = 0, length = 0;
  for (const std::string_view piece : engine::pieces_of(snapshot).all) {
    EXPECT_FALSE(snapshot_of(std::string_view(bytes).substr(0, length)).ok()) << length;
    EXPECT_FALSE(snapshot_of(bytes.substr(0, length) + "x").ok()) << length;
    length += piece.size();
    ++boundaries;
  }
  EXPECT_EQ(length, bytes.size());
  EXPECT_GT(boundaries, 20u);
}

TEST(DurableDamage, OfTheNewestSnapshotMakesARunUseTheOneBeforeIt) {
  Left left(kRich);
  flip(left.folder, left.snapshots[1], 1000);
  const JobRun run = expect_resumes(left.job, left.reference, left.folder.path(), left.outputs);
  EXPECT_THAT(run.told(), HasSubstr(left.snapshots[1] + " is damaged (checksum of section"));
  EXPECT_THAT(run.told(), HasSubstr("set aside; using the one before it"));
  EXPECT_TRUE(run.summary.resumed_from.has_value());
  EXPECT_TRUE(std::filesystem::exists(left.folder.at(left.snapshots[1] + ".damaged")));
}

TEST(DurableDamage, OfAllSnapshotsMakesARunBeginAtTheStart) {
  Left left(kRich);
  for (const std::string& name : left.snapshots) flip(left.folder, name, 700);
  const JobRun run = expect_resumes(left.job, left.reference, left.folder.path(), left.outputs);
  EXPECT_THAT(run.told(), HasSubstr("there is none before it"));
  EXPECT_FALSE(run.summary.resumed_from.has_value());
}

// With a journal that reaches back to the beginning, too: live requests come from it again.
TEST(DurableDamage, OfAllSnapshotsMakesARunRepeatItsJournal) {
  Left left(DurableJob{});
  for (const std::string& name : left.snapshots) flip(left.folder, name, 700);
  expect_resumes(left.job, left.reference, left.folder.path(), left.outputs);
}

TEST(DurableDamage, OfTheJournalIsAnErrorUnlessItIsATornEnd) {
  const Left left(DurableJob{});
  const std::string journal = first_segment(left.folder);
  const std::string bytes = left.folder.read("journal/" + journal);
  const auto resumed = [&](const std::string& now, JobOutputs& outputs) {
    left.folder.write("journal/" + journal, now);
    Config config = left.job.config(left.folder.path());
    config.resume = true;
    return run_job(left.job, std::move(config), outputs);
  };
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    std::string changed = bytes;
    changed[random() % (bytes.size() / 2)] ^= 4;
    JobOutputs outputs = left.outputs;
    const JobRun run = resumed(changed, outputs);
    EXPECT_FALSE(run.started);
    EXPECT_THAT(run.status.message(), HasSubstr("/journal/" + journal + ": damaged at byte"));
  }
}

TEST(DurableDamage, OfTheLastWriteToTheJournalIsCutOff) {
  std::mt19937 random(3);
  for (int i = 0; i < 5; ++i) {
    Left left(DurableJob{});
    const std::string journal = "journal/" + first_segment(left.folder);
    const std::string bytes = left.folder.read(journal);
    left.folder.write(journal, bytes.substr(0, bytes.size() - 1 - random() % 3000));
    const JobRun run = expect_resumes(left.job, left.reference, left.folder.path(), left.outputs);
    EXPECT_THAT(run.told(), HasSubstr("its last write was torn"));
  }
}

}  // namespace
}  // namespace weir::tests
