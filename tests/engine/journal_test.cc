#include "engine/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/engine/journals.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_folder.h"

namespace weir::engine {
namespace {

using Change = Journal::Change;
using Call = tests::FaultyFiles::Call;
using testing::HasSubstr;

Change change(std::uint64_t number) {
  return {number, RecordPosition{10 * number}, 3,
          R"({"op":"build","number":)" + std::to_string(number) + "}"};
}

std::vector<std::string> segments(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/journal")) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}
std::string read_file(const std::string& path) {
  return *core::read_whole(core::Files::of_system(), path);
}
void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Three appends and two changes; what of them a journal holds.
constexpr std::size_t kPieces[] = {40, 25, 33};
void fill(Journal& journal) {
  append(journal, 0, 0, kPieces[0]);
  ASSERT_TRUE(journal.append_change(change(0)).ok());
  append(journal, 0, 40, kPieces[1]);
  ASSERT_TRUE(journal.append_change(change(1)).ok());
  append(journal, 0, 65, kPieces[2]);
}
std::size_t frames_held(Journal& journal) {
  const std::string all = held(journal, 0, 0, 7);
  EXPECT_EQ(all, bytes_of(0, 0, all.size()));
  std::size_t frames = journal.changes().size();
  for (std::size_t i = 0; i < journal.changes().size(); ++i) {
    EXPECT_EQ(journal.changes()[i], change(i));
  }
  EXPECT_TRUE(all.empty() || all.size() == 40 || all.size() == 65 || all.size() == 98);
  frames += all.empty() ? 0 : all.size() == 40 ? 1 : all.size() == 65 ? 2 : 3;
  // A whole prefix.
  EXPECT_TRUE(frames < 1 || !all.empty());
  EXPECT_EQ(journal.changes().size(), frames / 2);
  return frames;
}

TEST(Journal, HoldsWhatWasAppended) {
  const tests::TemporaryFolder folder;
  EXPECT_FALSE(Journal::any(folder.path()));
  {
    auto journal = opened(core::Files::of_system(), folder.path());
    EXPECT_EQ(journal->extent(0), (Journal::Extent{0, 0}));
    fill(*journal);
    ASSERT_TRUE(journal->sync().ok());
    EXPECT_EQ(journal->durable(0), 98u);
    EXPECT_EQ(held(*journal, 0, 0, 7), "") << "only what was there is read";
  }
  EXPECT_TRUE(Journal::any(folder.path()));
  auto journal = opened(core::Files::of_system(), folder.path());
  EXPECT_EQ(frames_held(*journal), 5u);
  EXPECT_EQ(journal->extent(0), (Journal::Extent{0, 98}));
  EXPECT_EQ(journal->durable(0), 98u);
  for (std::uint64_t from = 0; from < 98; ++from) {
    EXPECT_EQ(held(*journal, 0, from, 1000), bytes_of(0, from, 98 - from));
  }
}

TEST(Journal, HoldsSeveralSourcesOverManySegments) {
  const tests::TemporaryFolder folder;
  std::mt19937 random(5);
  std::uint64_t ends[3] = {};
  std::uint64_t changes = 0;
  for (int run = 0; run < 4; ++run) {
    auto journal =
        opened(folder.path(), {.segment_bytes = 2000, .max_unsynced = 1500, .notice = {}});
    for (std::uint32_t source = 0; source < 3; ++source) {
      ASSERT_EQ(journal->extent(source).end, ends[source]);
      ASSERT_EQ(held(*journal, source, 0, 100), bytes_of(source, 0, ends[source]));
    }
    ASSERT_EQ(journal->changes().size(), changes);
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t source = random() % 3;
      const std::size_t n = random() % 10 == 0 ? 4000 : 1 + random() % 300;
      append(*journal, source, ends[source], n);
      ends[source] += n;
      if (random() % 8 == 0) {
        ASSERT_TRUE(journal->append_change(change(changes++)).ok());
      }
    }
  }
  EXPECT_GT(segments(folder.path()).size(), 20u);
}

TEST(Journal, CutsATornEndBackAtEveryByte) {
  const tests::TemporaryFolder folder;
  { fill(*opened(folder.path())); }
  const std::string path = segments(folder.path())[0];
  const std::string whole = read_file(path);
  std::size_t before = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write_file(path, whole.substr(0, size));
    std::vector<std::string> notices;
    {
      auto journal = Journal::open(quick(), folder.path(), {}, notices);
      ASSERT_TRUE(journal.ok()) << size << ": " << journal.status().message();
      const std::size_t frames = frames_held(**journal);
      ASSERT_TRUE(frames == before || frames == before + 1) << size;
      before = frames;
      // It goes on.
      const std::uint64_t end = (*journal)->extent(0).end;
      append(**journal, 0, end, 5);
    }
    auto again = opened(folder.path());
    ASSERT_EQ(held(*again, 0, 0, 100), bytes_of(0, 0, again->extent(0).end)) << size;
    again.reset();
    for (const std::string& one : segments(folder.path())) std::filesystem::remove(one);
  }
  EXPECT_EQ(before, 5u);
}

TEST(Journal, NoticesEveryByteThatChanged) {
  const tests::TemporaryFolder folder;
  {
    auto journal = opened(folder.path());
    fill(*journal);
    ASSERT_TRUE(journal->sync().ok());
    // Says of all those before it that they were on disk.
    append(*journal, 0, 98, 1);
  }
  const std::string path = segments(folder.path())[0];
  const std::string whole = read_file(path);
  const std::size_t last = whole.size() - kFrameHeaderBytes - 1;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    write_file(path, changed);
    std::vector<std::string> notices;
    auto journal = Journal::open(quick(), folder.path(), {}, notices);
    if (at < last) {
      ASSERT_FALSE(journal.ok()) << at;
      EXPECT_THAT(journal.status().message(), HasSubstr(path + ": damaged at byte "));
      EXPECT_EQ(read_file(path), changed) << "what is damaged is left alone";
    } else {
      ASSERT_TRUE(journal.ok()) << at;
      EXPECT_EQ(notices.size(), 1u) << at;
      EXPECT_EQ((*journal)->extent(0).end, 98u);
    }
  }
}

TEST(Journal, RefusesDamageOfEarlierSegments) {
  const tests::TemporaryFolder folder;
  {
    auto journal =
        opened(folder.path(), {.segment_bytes = 500, .max_unsynced = 5000, .notice = {}});
    for (std::uint64_t i = 0; i < 10; ++i) append(*journal, 0, 300 * i, 300);
  }
  const std::vector<std::string> paths = segments(folder.path());
  ASSERT_GE(paths.size(), 3u);
  std::vector<std::string> notices;
  const auto error = [&] {
    auto journal = Journal::open(quick(), folder.path(), {}, notices);
    return journal.status().message();
  };
  const std::string whole = read_file(paths[1]);
  write_file(paths[1], whole.substr(0, whole.size() - 1));
  EXPECT_THAT(error(), HasSubstr("only the last segment can be torn"));
  write_file(paths[1], read_file(paths[2]));
  EXPECT_THAT(error(), HasSubstr("another segment"));
  std::filesystem::remove(paths[1]);
  EXPECT_EQ(error().find(paths[1] + ": is missing"), 0u) << error();
}

TEST(Journal, IsNotFooledByBytesThatLookLikeFrames) {
  const tests::TemporaryFolder folder;
  { append(*opened(folder.path()), 0, 0, 10); }
  const std::string path = segments(folder.path())[0];
  // A sender that knows the format, but not the salt.
  FrameHeader forged;
  forged.durable = 1 << 20;
  const auto frame = to_bytes(forged, 0);
  {
    auto journal = opened(folder.path());
    ASSERT_TRUE(journal->append(0, 10, {frame.data(), frame.size()}).ok());
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  // The torn frame holds the forged one but for its last byte; make it whole within the tear.
  std::string bytes = read_file(path);
  bytes.append(frame.data(), frame.size());
  write_file(path, bytes);
  EXPECT_EQ(opened(folder.path())->extent(0).end, 10u);
}

TEST(Journal, SurvivesTheFailureOfEveryCall) {
  for (int kind = 0; kind < static_cast<int>(Call::kCount); ++kind) {
    for (const int error : {0, EIO, ENOSPC}) {
      if (error == 0 && static_cast<Call>(kind) != Call::kWrite) continue;
      for (std::uint64_t nth = 1; nth < 40; ++nth) {
        const tests::TemporaryFolder folder;
        tests::FaultyFiles files;
        files.fail(static_cast<Call>(kind), nth, error);
        const JournalOptions options{.segment_bytes = 200, .max_unsynced = 400, .notice = {}};
        std::uint64_t written = 0, kept = 0, durable = 0;
        {
          std::vector<std::string> notices;
          auto journal = Journal::open(files, folder.path(), options, notices);
          for (int i = 0; journal.ok() && i < 100 && kept < 4; ++i) {
            const auto appended = (*journal)->append(0, written, bytes_of(0, written, 60));
            if (!appended.ok()) break;
            if (*appended == Appended::kWait && !(*journal)->sync().ok()) break;
            if (*appended != Appended::kWritten) continue;
            written += 60;
            if ((*journal)->append_change(change(kept)).ok()) {
              ++kept;
            } else if (!(*journal)->failure().ok()) {
              break;
            }
          }
          if (journal.ok()) durable = (*journal)->durable(0);
          EXPECT_TRUE(kept == 4 || files.has_failed());
          if (journal.ok() && error == ENOSPC && kind == static_cast<int>(Call::kWrite)) {
            EXPECT_EQ(kept, 4u) << "a full disk is waited for";
          }
        }
        const bool was_met = files.has_failed();
        for (const bool power_lost : {false, true}) {
          if (power_lost) files.lose_unsynced();
          auto journal = opened(folder.path(), options);
          ASSERT_NE(journal, nullptr) << kind << " " << nth << " " << error;
          const std::uint64_t end = journal->extent(0).end;
          ASSERT_EQ(held(*journal, 0, 0, 100), bytes_of(0, 0, end));
          EXPECT_GE(end, durable) << kind << " " << nth << " " << error << " " << power_lost;
          EXPECT_LE(end, written);
          if (!power_lost) {
            EXPECT_EQ(end, written) << kind << " " << nth << " " << error;
          }
          ASSERT_GE(journal->changes().size(), kept) << kind << " " << nth << " " << error;
          for (std::size_t i = 0; i < journal->changes().size(); ++i) {
            EXPECT_EQ(journal->changes()[i], change(i));
          }
        }
        if (!was_met) break;
      }
    }
  }
}

TEST(Journal, WaitsWhileTheDiskIsFullAndSaysSoOnce) {
  const tests::TemporaryFolder folder;
  tests::FaultyFiles files;
  std::vector<std::string> told;
  {
    auto journal = opened(files, folder.path(),
                          {.segment_bytes = 4000,
                           .max_unsynced = 4000,
                           .notice = [&](const std::string& text) { told.push_back(text); }});
    append(*journal, 0, 0, 100);
    for (const std::uint64_t room : {0, 1, 55, 56, 57, 100}) {
      files.set_room(room);
      const auto appended = journal->append(0, 100, bytes_of(0, 100, 100));
      ASSERT_TRUE(appended.ok());
      EXPECT_EQ(*appended, Appended::kFull);
    }
    EXPECT_EQ(told, std::vector<std::string>{folder.path() +
                                             "/journal: waits for space; the disk is full"});
    EXPECT_THAT(journal->append_change(change(0)).message(), HasSubstr("the disk is full"));
    EXPECT_TRUE(journal->failure().ok());
    files.set_room(1 << 20);
    append(*journal, 0, 100, 100);
    append(*journal, 0, 200, 100);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[1], folder.path() + "/journal: goes on; there is space");
  }
  auto journal = opened(folder.path());
  EXPECT_EQ(held(*journal, 0, 0, 1000), bytes_of(0, 0, 300));
}

TEST(Journal, WhatIsDurableOutlivesThePower) {
  const tests::TemporaryFolder folder;
  tests::FaultyFiles files;
  std::uint64_t end = 0, durable = 0;
  {
    auto journal =
        opened(files, folder.path(), {.segment_bytes = 3000, .max_unsynced = 2000, .notice = {}});
    for (int i = 0; i < 50; ++i, end += 90) append(*journal, 0, end, 90);
    ASSERT_TRUE(journal->append_change(change(0)).ok());
    durable = journal->durable(0);
    EXPECT_EQ(durable, end) << "a change takes what is before it with it";
    // From here on nothing reaches the disk.
    files.fail(Call::kFdatasync, 1, EIO);
    (void)journal->append(0, end, bytes_of(0, end, 90));
    EXPECT_FALSE(journal->sync().ok());
    EXPECT_EQ(journal->durable(0), durable);
    EXPECT_FALSE(journal->append(0, end + 90, "x").ok()) << "a failed sync is the end";
    EXPECT_FALSE(journal->append_change(change(1)).ok());
  }
  files.lose_unsynced();
  auto journal = opened(folder.path());
  EXPECT_EQ(journal->extent(0).end, durable);
  EXPECT_EQ(journal->changes().size(), 1u);
}

TEST(Journal, TrimsWhatASnapshotCovers) {
  const tests::TemporaryFolder folder;
  const JournalOptions options{.segment_bytes = 1000, .max_unsynced = 4000, .notice = {}};
  const auto at = [](std::uint32_t source, std::uint64_t offset) {
    SourcePosition position;
    position.source = source;
    position.offset = offset;
    return position;
  };
  {
    auto journal = opened(folder.path(), options);
    for (std::uint64_t i = 0; i < 10; ++i) append(*journal, 0, 800 * i, 800);
    ASSERT_TRUE(journal->append_change(change(0)).ok());
    for (std::uint64_t i = 0; i < 10; ++i) append(*journal, 1, 800 * i, 800);
    ASSERT_TRUE(journal->trim(at(0, 799), 0).ok());
    EXPECT_EQ(journal->extent(0), (Journal::Extent{0, 8000}));
    ASSERT_TRUE(journal->trim(at(0, 2000), 0).ok());
    EXPECT_EQ(journal->extent(0), (Journal::Extent{1600, 8000}));
  }
  {
    auto journal = opened(folder.path(), options);
    EXPECT_EQ(journal->extent(0), (Journal::Extent{1600, 8000}));
    EXPECT_EQ(held(*journal, 0, 2000, 300), bytes_of(0, 2000, 6000));
    std::string into(10, '\0');
    EXPECT_EQ(journal->read(0, 1599, into).state, ReadResult::State::kError);
    // The change is not covered, so it stays.
    ASSERT_TRUE(journal->trim(at(1, 4000), 0).ok());
    EXPECT_EQ(journal->extent(1).begin, 0u);
    ASSERT_TRUE(journal->trim(at(1, 4000), 1).ok());
    EXPECT_EQ(journal->extent(1), (Journal::Extent{4000, 8000}));
    ASSERT_TRUE(journal->trim(at(2, 0), 1).ok());
    EXPECT_EQ(segments(folder.path()).size(), 1u) << "never the last";
  }
  auto journal = opened(folder.path(), options);
  EXPECT_EQ(journal->extent(1), (Journal::Extent{7200, 8000}));
  EXPECT_TRUE(journal->changes().empty());
  ASSERT_TRUE(journal->append_change(change(1)).ok());
}

TEST(Journal, ServesThoseWhoAppendChangeTrimAndAskAtOnce) {
  const tests::TemporaryFolder folder;
  const JournalOptions options{.segment_bytes = 3000, .max_unsynced = 6000, .notice = {}};
  {
    auto journal = opened(folder.path(), options);
    std::atomic<bool> done{false};
    std::thread changes([&] {
      for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(journal->append_change(change(i)).ok());
    });
    std::thread trims([&] {
      while (!done) {
        SourcePosition position;
        position.offset = journal->durable(0) / 2;
        ASSERT_TRUE(journal->trim(position, 0).ok());
        const std::uint64_t durable = journal->durable(0);
        ASSERT_LE(durable, journal->extent(0).end);
      }
    });
    for (std::uint64_t i = 0; i < 2000; ++i) append(*journal, 0, 50 * i, 50);
    changes.join();
    done = true;
    trims.join();
  }
  auto journal = opened(folder.path(), options);
  EXPECT_EQ(journal->extent(0).end, 100'000u);
  EXPECT_EQ(journal->changes().size(), 200u);
  const std::uint64_t begin = journal->extent(0).begin;
  EXPECT_EQ(held(*journal, 0, begin, 512), bytes_of(0, begin, 100'000 - begin));
}

}  // namespace
}  // namespace weir::engine
