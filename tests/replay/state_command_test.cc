// weir state: what a state directory keeps, told without a change to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal.h"
#include "engine/snapshot.h"
#include "replay/state_listing.h"
#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::HasSubstr;

class StateCommand : public testing::Test {
 protected:
  void keep(std::uint64_t records, std::uint64_t offset) {
    engine::Snapshot snapshot;
    snapshot.records = RecordPosition{records};
    snapshot.position.source = 1;
    snapshot.position.offset = offset;
    snapshot.changes = 3;
    snapshot.plan = "plan";
    engine::SnapshotStore store(core::Files::of_system(), folder_.path());
    ASSERT_TRUE(store.keep(snapshot).ok());
  }
  void spoil(const std::string& file) {
    std::string bytes = folder_.read(file);
    bytes[bytes.size() / 2] ^= 1;
    folder_.write(file, bytes);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(file.path().filename());
    }
    return names;
  }
  tests::TemporaryFolder folder_;
};

TEST_F(StateCommand, TellsSnapshotsAndWhatNeedNotBeSentAgain) {
  keep(1'000, 90'000);
  keep(2'000, 180'000);
  folder_.write("monday.state", "no snapshot");
  const Finished ran = run_weir({"state", folder_.path(), "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(R"("file":"snapshot-00000000000000001000-0000.weir")"));
  EXPECT_THAT(ran.out,
              HasSubstr(R"("good":true,"records":2000,"source":1,"offset":180000,"changes":3})"));
  EXPECT_THAT(ran.out, HasSubstr(R"("resumes_at":2000,)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("durable":{"source":1,"bytes":180000})"));
  const Finished shown = run_weir({"state", folder_.path()});
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.out, HasSubstr("180,000"));
  EXPECT_THAT(shown.out, HasSubstr("a sender goes on with source 1 at byte 180000\n"));
}

TEST_F(StateCommand, PassesOverWhatIsDamagedAndLeavesItThere) {
  keep(1'000, 90'000);
  keep(2'000, 180'000);
  spoil("snapshot-00000000000000002000-0001.weir");
  folder_.write("snapshot-00000000000000003000-0002.weir.damaged", "x");
  const auto before = files();
  const auto listing = list_state(folder_.path());
  ASSERT_TRUE(listing.ok());
  ASSERT_EQ(listing->snapshots.size(), 3u);
  EXPECT_NE(listing->snapshots[1].damage, "");
  EXPECT_NE(listing->snapshots[2].damage, "");
  ASSERT_NE(listing->newest(), nullptr);
  EXPECT_EQ(listing->newest()->records, 1'000u);
  EXPECT_EQ(listing->durable().bytes, 90'000u);
  EXPECT_THAT(readable_listing(*listing), HasSubstr("damaged: "));
  EXPECT_THAT(listing_json(*listing), HasSubstr(R"("good":false,"error":")"));
  EXPECT_EQ(files(), before);
}

TEST_F(StateCommand, TakesTheNewestByItsNumber) {
  keep(5'000, 50);
  // One that was made behind it, of a run that went on from an older place.
  std::filesystem::rename(folder_.at("snapshot-00000000000000005000-0000.weir"),
                          folder_.at("snapshot-00000000000000005000-0007.weir"));
  keep(4'000, 40);
  EXPECT_EQ(list_state(folder_.path())->newest()->records, 4'000u);
}

TEST_F(StateCommand, TellsWhatTheJournalHoldsButForItsTornEnd) {
  {
    std::vector<std::string> notices;
    auto journal = engine::Journal::open(core::Files::of_system(), folder_.path(), {}, notices);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    ASSERT_TRUE((*journal)->append(1, 90'000, "0123456789").ok());
    engine::Journal::Change change;
    change.number = 4;
    change.position = RecordPosition{1'234};
    change.text = R"({"workers":4})";
    ASSERT_TRUE((*journal)->append_change(change).ok());
    ASSERT_TRUE((*journal)->append(1, 90'010, "abcde").ok());
  }
  std::string segment;
  for (const auto& file : std::filesystem::directory_iterator(folder_.at("journal"))) {
    if (file.file_size() > 0 && file.path().filename().string()[0] != '.') segment = file.path();
  }
  std::ofstream(segment, std::ios::binary | std::ios::app) << "torn";
  const auto size = std::filesystem::file_size(segment);
  keep(1'000, 90'005);

  const auto listing = list_state(folder_.path());
  ASSERT_TRUE(listing.ok());
  ASSERT_EQ(listing->segments.size(), 1u);
  EXPECT_EQ(listing->segments[0].torn, 4u);
  EXPECT_EQ(listing->segments[0].damage, "");
  EXPECT_EQ(listing->durable().source, 1u);
  EXPECT_EQ(listing->durable().bytes, 90'015u);
  const std::string json = listing_json(*listing);
  EXPECT_THAT(json, HasSubstr(R"("sources":[{"source":1,"begin":90000,"end":90015}])"));
  EXPECT_THAT(json,
              HasSubstr(R"("changes":[{"number":4,"record":1234,"change":"{\"workers\":4}"}])"));
  EXPECT_THAT(json, HasSubstr(R"("durable":{"source":1,"bytes":90015})"));
  const std::string text = readable_listing(*listing);
  EXPECT_THAT(text, HasSubstr("source 1: bytes 90,000 to 90,015"));
  EXPECT_THAT(text, HasSubstr("good, but for 4 bytes that a crash left"));
  EXPECT_THAT(text, HasSubstr("change 4 after 1,234 records: {\"workers\":4}"));
  EXPECT_EQ(std::filesystem::file_size(segment), size);
}

TEST_F(StateCommand, SaysThatNothingIsKept) {
  const Finished empty = run_weir({"state", folder_.path()});
  EXPECT_EQ(empty.status, 0);
  EXPECT_THAT(empty.out, HasSubstr("no snapshots in "));
  EXPECT_THAT(
      run_weir({"state", "--json", folder_.path()}).out,
      HasSubstr(
          R"("snapshots":[],"resumes_at":null,"journal":null,"durable":{"source":0,"bytes":0})"));
  expect_refusal({"state", folder_.at("none")}, 1, "No such file or directory");
  expect_refusal({"state"}, 2, "state needs a DIR");
}

}  // namespace
}  // namespace weir::replay
