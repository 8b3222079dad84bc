#include "engine/journal_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/journals.h"
#include "tests/support/faulty_files.h"
#include "tests/support/memory_source.h"
#include "tests/support/temporary_folder.h"

namespace weir::engine {
namespace {

using Call = tests::FaultyFiles::Call;
using testing::HasSubstr;

std::string drain(Source& source, std::size_t piece) {
  std::string all, into(piece, '\0');
  for (;;) {
    const ReadResult result = source.read(into);
    if (result.state == ReadResult::State::kIdle) continue;
    if (result.state != ReadResult::State::kData) {
      EXPECT_EQ(result.state, ReadResult::State::kEnd) << result.error.message();
      return all;
    }
    all.append(into.data(), result.bytes);
  }
}
std::unique_ptr<Source> sender(std::uint64_t from, std::uint64_t to, std::uint32_t seed) {
  return std::make_unique<tests::MemorySource>(bytes_of(0, from, to - from), 70, seed, "pipe");
}

TEST(JournalSource, GoesOnBehindWhatTheJournalHolds) {
  const tests::TemporaryFolder folder;
  const JournalOptions options{.segment_bytes = 900, .max_unsynced = 500, .notice = {}};
  std::uint64_t end = 0;
  for (std::uint32_t run = 0; run < 8; ++run) {
    auto journal = opened(folder.path(), options);
    JournalSource source(sender(end, end + 1000, run), *journal, 0);
    EXPECT_EQ(source.live_from(), end);
    EXPECT_FALSE(source.repeatable());
    const std::uint64_t from = end * run / 8;
    ASSERT_TRUE(source.skip(from).ok());
    end += 1000;
    ASSERT_EQ(drain(source, 33 + 20 * run), bytes_of(0, from, end - from)) << run;
    EXPECT_EQ(journal->extent(0).end, end);
  }
}

TEST(JournalSource, KeepsWhatADiskThatIsFullDoesNotTake) {
  const tests::TemporaryFolder folder;
  tests::FaultyFiles files;
  auto journal = opened(files, folder.path());
  JournalSource source(sender(0, 500, 1), *journal, 0);
  std::string all, into(64, '\0');
  for (int i = 0; all.size() < 500; ++i) {
    files.set_room(i % 5 == 0 ? 1 << 20 : static_cast<std::uint64_t>(i % 5) * 30);
    const ReadResult result = source.read(std::span(into).first(1 + i % 64));
    ASSERT_NE(result.state, ReadResult::State::kError);
    ASSERT_NE(result.state, ReadResult::State::kEnd);
    if (result.state == ReadResult::State::kData) all.append(into.data(), result.bytes);
    ASSERT_LE(all.size(), journal->extent(0).end) << "given out before it was kept";
  }
  EXPECT_EQ(all, bytes_of(0, 0, 500));
}

TEST(JournalSource, EndsWhenTheJournalFails) {
  const tests::TemporaryFolder folder;
  tests::FaultyFiles files;
  auto journal = opened(files, folder.path());
  JournalSource source(std::make_unique<tests::MemorySource>("abc"), *journal, 0);
  files.fail(Call::kWrite, 2, EIO);  // the first one is the segment's header
  std::string into(3, '\0');
  const ReadResult result = source.read(into);
  ASSERT_EQ(result.state, ReadResult::State::kError);
  EXPECT_THAT(result.error.message(), HasSubstr("memory: " + folder.path() + "/journal/"));
  EXPECT_EQ(source.read(into).state, ReadResult::State::kEnd);
}

TEST(JournalSource, MayGoOnBehindTheJournalsEnd) {
  const tests::TemporaryFolder folder;
  {
    auto journal = opened(folder.path());
    append(*journal, 0, 0, 100);
  }
  // A snapshot got further than the journal, whose end was torn off.
  {
    auto journal = opened(folder.path());
    JournalSource source(sender(130, 200, 1), *journal, 0);
    ASSERT_TRUE(source.skip(130).ok());
    EXPECT_EQ(source.live_from(), 130u);
    EXPECT_EQ(drain(source, 50), bytes_of(0, 130, 70));
  }
  auto journal = opened(folder.path());
  EXPECT_EQ(journal->extent(0), (Journal::Extent{130, 200}));
  EXPECT_EQ(held(*journal, 0, 130, 1000), bytes_of(0, 130, 70));
  JournalSource source(sender(200, 210, 1), *journal, 0);
  ASSERT_TRUE(source.skip(50).ok());
  std::string into(10, '\0');
  EXPECT_EQ(source.read(into).state, ReadResult::State::kError);
}

}  // namespace
}  // namespace weir::engine
