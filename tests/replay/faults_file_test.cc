// Fault plans: what a file may say, and files that fail as a plan tells.
#include "replay/faults_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/faulty_files.h"
#include "tests/support/temporary_folder.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;
using Kind = FaultPlan::Fault::Kind;

TEST(FaultsFile, TellsEveryKind) {
  const auto plan = parse_faults(R"(
[[fault]]
kind = "stop"
worker = 1
at = 1000000
for = "2s"
[[fault]]
kind = "slow"
worker = 2
at = 5
for = "500ms"
percent = 50
[[fault]]
kind = "kill"
at = 7
[[fault]]
kind = "no-space"
call = "write"
file = "journal"
nth = 3
times = 0
[[fault]]
kind = "short-write"
file = "*"
[[fault]]
kind = "io-error"
call = "fsync"
file = "snapshot"
[[fault]]
kind = "flip"
file = "snapshot"
at_byte = 100
)",
                                 "f.toml");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto& faults = plan->faults;
  ASSERT_EQ(faults.size(), 7u);
  EXPECT_EQ(faults[0].kind, Kind::kStop);
  EXPECT_EQ(faults[0].worker, 1u);
  EXPECT_EQ(faults[0].at, RecordPosition{1'000'000});
  EXPECT_EQ(faults[0].for_ns, 2 * kNanosPerSecond);
  EXPECT_EQ(faults[1].percent, 50u);
  EXPECT_EQ(faults[2].kind, Kind::kKill);
  EXPECT_EQ(faults[2].at, RecordPosition{7});
  EXPECT_EQ(faults[3].kind, Kind::kNoSpace);
  EXPECT_EQ(faults[3].call, "write");
  EXPECT_EQ(faults[3].nth, 3u);
  EXPECT_EQ(faults[3].times, 0u);
  EXPECT_EQ(faults[4].call, "write");
  EXPECT_EQ(faults[5].kind, Kind::kIoError);
  EXPECT_EQ(faults[5].times, 1u);
  EXPECT_EQ(faults[6].at_byte, 100u);
  EXPECT_FALSE(faults[2].of_files());
  EXPECT_TRUE(faults[4].of_files());
}

TEST(FaultsFile, SaysWhatIsWrongAndWhere) {
  const std::string stop = "[[fault]]\nkind = \"stop\"\n";
  const std::pair<std::string, const char*> wrong[] = {
      {"faults = 1", "f.toml:1:1: unknown key 'faults'"},
      {"fault = 1", "[[fault]]"},
      {"[fault]\nkind = \"kill\"", "double brackets"},
      {"[[fault]]\nat = 1", "needs kind, one of stop, slow, kill"},
      {"[[fault]]\nkind = 3", "f.toml:2:8: kind must be a string"},
      {"[[fault]]\nkind = \"stopp\"", "did you mean"},
      {stop + "worker = 0\nat = 1", "needs for"},
      {stop + "wroker = 0", "f.toml:3:1: unknown key 'wroker' of a fault of kind \"stop\""},
      {stop + "percent = 5", "unknown key 'percent'"},
      {stop + "at = -1", "at: -1 is out of range"},
      {stop + "at = \"x\"", "at must be an integer, not a string"},
      {stop + "for = 2", "for must be a duration"},
      {stop + "for = \"2\"", "has no unit"},
      {stop + "worker = 100000", "out of range"},
      {"[[fault]]\nkind = \"io-error\"\nfile = \"*\"\ncall = \"chmod\"",
       "call must be one of open, close, read, write, fsync, truncate, rename, unlink, mkdir"},
      {"[[fault]]\nkind = \"io-error\"\nfile = \"a\"\ncall = \"open\"", "file must be one of"},
      {"[[fault]]\nkind = \"short-write\"\nfile = \"*\"\ncall = \"open\"", "only a write"},
      {"[[fault]\n", "f.toml:1:"},
  };
  for (const auto& [text, says] : wrong) {
    const auto plan = parse_faults(text, "f.toml");
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_EQ(plan.status().code(), Code::kConfig);
    EXPECT_THAT(plan.status().message(), HasSubstr(says));
  }
  EXPECT_EQ(load_faults("/no/such.toml").status().code(), Code::kConfig);
}

class FaultyFilesTest : public testing::Test {
 protected:
  // REQUIRES: `toml` is right.
  std::unique_ptr<engine::FaultyFiles> files(const std::string& toml) {
    return std::make_unique<engine::FaultyFiles>(
        std::make_shared<const FaultPlan>(*parse_faults(toml, "f.toml")));
  }
  Status keep(core::Files& files, const std::string& name, int* error = nullptr) {
    return core::write_new_file(files, folder_.path(), name, {"abcdef", "ghi"}, error);
  }
  tests::TemporaryFolder folder_;
};

TEST_F(FaultyFilesTest, FailTheCallsThatThePlanNames) {
  const auto faulty = files(
      "[[fault]]\nkind = \"no-space\"\ncall = \"write\"\nfile = \"snapshot\"\nnth = 3\ntimes = 2\n"
      "[[fault]]\nkind = \"io-error\"\ncall = \"rename\"\nfile = \"journal\"\n");
  int error = 0;
  EXPECT_TRUE(keep(*faulty, "snapshot-1", &error).ok());  // two writes
  EXPECT_TRUE(keep(*faulty, "other", &error).ok());
  EXPECT_FALSE(keep(*faulty, "snapshot-2", &error).ok());
  EXPECT_EQ(error, ENOSPC);
  EXPECT_FALSE(keep(*faulty, "snapshot-2", &error).ok());
  EXPECT_TRUE(keep(*faulty, "snapshot-2", &error).ok());
  EXPECT_FALSE(keep(*faulty, "journal-1", &error).ok());
  EXPECT_EQ(error, EIO);
  EXPECT_TRUE(keep(*faulty, "journal-1", &error).ok());
  EXPECT_EQ(folder_.read("snapshot-2"), "abcdefghi");
}

TEST_F(FaultyFilesTest, KnowTheJournalByItsFolder) {
  const auto faulty =
      files("[[fault]]\nkind = \"io-error\"\ncall = \"open\"\nfile = \"journal\"\n");
  ASSERT_EQ(faulty->mkdir(folder_.at("journal").c_str()), 0);
  EXPECT_TRUE(keep(*faulty, "snapshot").ok());
  EXPECT_EQ(faulty->open(folder_.at("journal/1").c_str(), O_WRONLY | O_CREAT), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(faulty->close(faulty->open(folder_.at("journal/1").c_str(), O_WRONLY | O_CREAT)), 0);
}

TEST_F(FaultyFilesTest, FailForEverIfThePlanSaysSo) {
  const auto faulty =
      files("[[fault]]\nkind = \"io-error\"\ncall = \"fsync\"\nfile = \"*\"\ntimes = 0\n");
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(keep(*faulty, "snapshot").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FaultyFilesTest, WriteShortWithoutLosingAnything) {
  const auto faulty = files("[[fault]]\nkind = \"short-write\"\nfile = \"*\"\ntimes = 0\n");
  EXPECT_TRUE(keep(*faulty, "snapshot").ok());
  EXPECT_EQ(folder_.read("snapshot"), "abcdefghi");
}

TEST_F(FaultyFilesTest, TakeAWriteOfSeveralPartsForOne) {
  const auto faulty = files(
      "[[fault]]\nkind = \"no-space\"\ncall = \"write\"\nfile = \"*\"\n"
      "[[fault]]\nkind = \"flip\"\nfile = \"*\"\nat_byte = 3\n");
  const int file = faulty->open(folder_.at("a").c_str(), O_WRONLY | O_CREAT, 0600);
  std::string first = "abc", second = "def";
  const iovec parts[] = {{first.data(), first.size()}, {second.data(), second.size()}};
  EXPECT_EQ(faulty->writev(file, parts, 2), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(faulty->writev(file, parts, 2), 6);
  EXPECT_EQ(faulty->close(file), 0);
  EXPECT_EQ(folder_.read("a"), "abceef");
}

TEST_F(FaultyFilesTest, FlipABitOfOneFile) {
  const auto faulty = files(
      "[[fault]]\nkind = \"flip\"\nfile = \"snapshot\"\nat_byte = 7\nnth = 2\n"
      "[[fault]]\nkind = \"short-write\"\nfile = \"*\"\ntimes = 0\n");
  for (const char* name : {"snapshot-1", "snapshot-2", "snapshot-3"}) {
    EXPECT_TRUE(keep(*faulty, name).ok());
    EXPECT_EQ(folder_.read(name), name == std::string("snapshot-2") ? "abcdefgii" : "abcdefghi");
  }
}

TEST_F(FaultyFilesTest, DoWhatTheSystemDoesWithoutAFault) {
  engine::FaultyFiles plain(std::make_shared<const FaultPlan>());
  EXPECT_EQ(plain.open(folder_.at("none").c_str(), O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(keep(plain, "a").ok());
  EXPECT_EQ(*core::read_whole(plain, folder_.at("a")), "abcdefghi");
  EXPECT_EQ(plain.unlink(folder_.at("a").c_str()), 0);
  EXPECT_EQ(plain.mkdir(folder_.at("d").c_str()), 0);
}

}  // namespace
}  // namespace weir::replay
