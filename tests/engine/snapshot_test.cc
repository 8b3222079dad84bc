#include "engine/snapshot.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "engine/snapshot_settings.h"
#include "tests/support/temporary_folder.h"

namespace weir::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Snapshot small(std::uint64_t records = 4096) {
  Snapshot snapshot;
  snapshot.records = RecordPosition{records};
  snapshot.position = {1, 77, true, "id,time,price", 2, 5};
  snapshot.changes = 3;
  snapshot.answers_bytes = 1000;
  snapshot.rejects_bytes = 5;
  snapshot.settings = {{"emit", 17}, {"layout", 4}};
  snapshot.names = "names";
  snapshot.plan = "the plan";
  snapshot.cursor = "c";
  snapshot.gate = "gate";
  snapshot.headers = "headers";
  snapshot.workers = {"first", "", "third"};
  return snapshot;
}

Snapshot large() {
  Snapshot snapshot = small();
  std::mt19937_64 random(3);
  for (std::string* text : {&snapshot.plan, &snapshot.lane, &snapshot.workers[1]}) {
    text->resize(30'000);
    for (char& c : *text) c = static_cast<char>(random());
  }
  return snapshot;
}

TEST(Snapshot, ComesBackAsItWas) {
  const Snapshot before = small();
  const std::string bytes = to_bytes(before);
  const Result<Snapshot> after = snapshot_of(bytes);
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_EQ(raw(after->records), 4096u);
  EXPECT_EQ(after->position.source, 1u);
  EXPECT_EQ(after->position.offset, 77u);
  EXPECT_TRUE(after->position.given);
  EXPECT_EQ(after->position.header, "id,time,price");
  EXPECT_EQ(after->position.header_lines, 2u);
  EXPECT_EQ(after->position.before, 5u);
  EXPECT_EQ(after->changes, 3u);
  EXPECT_EQ(after->answers_bytes, 1000u);
  EXPECT_EQ(after->results_bytes, 0u);
  EXPECT_EQ(after->rejects_bytes, 5u);
  EXPECT_EQ(after->settings, before.settings);
  EXPECT_EQ(after->names, "names");
  EXPECT_EQ(after->plan, "the plan");
  EXPECT_EQ(after->cursor, "c");
  EXPECT_EQ(after->gate, "gate");
  EXPECT_EQ(after->headers, "headers");
  EXPECT_EQ(after->lane, "");
  EXPECT_EQ(after->workers, before.workers);
  EXPECT_EQ(to_bytes(*after), bytes);

  const Result<Snapshot> blank = snapshot_of(to_bytes(Snapshot()));
  ASSERT_TRUE(blank.ok());
  EXPECT_FALSE(blank->position.header.has_value());
  EXPECT_THAT(blank->workers, IsEmpty());
}

TEST(Snapshot, RefusesEachTruncation) {
  for (const Snapshot& snapshot : {small(), large()}) {
    const std::string bytes = to_bytes(snapshot);
    std::vector<std::size_t> ends;
    if (bytes.size() < 2000) {
      for (std::size_t end = 0; end < bytes.size(); ++end) ends.push_back(end);
    }
    std::size_t end = 0;
    for (const std::string_view piece : pieces_of(snapshot).all) {
      for (const std::size_t cut : {end - 1, end, end + 1}) {
        if (cut < bytes.size()) ends.push_back(cut);
      }
      end += piece.size();
    }
    for (const std::size_t cut : ends) {
      const Result<Snapshot> read = snapshot_of(std::string_view(bytes).substr(0, cut));
      ASSERT_FALSE(read.ok()) << cut;
      ASSERT_EQ(read.status().code(), Code::kInvalid) << cut;
    }
    EXPECT_FALSE(snapshot_of(bytes + '\0').ok());
  }
}

TEST(Snapshot, RefusesEachChangedByte) {
  std::mt19937 random(5);
  for (const Snapshot& snapshot : {small(), large()}) {
    std::string bytes = to_bytes(snapshot);
    const bool every = bytes.size() < 2000;
    for (std::size_t at = every ? 0 : random() % 100; at < bytes.size();
         at += every ? 1 : 1 + random() % 199) {
      for (const int change : {1 << (random() % 8), 0xff}) {
        bytes[at] = static_cast<char>(bytes[at] ^ change);
        const Result<Snapshot> read = snapshot_of(bytes);
        ASSERT_FALSE(read.ok()) << at;
        ASSERT_EQ(read.status().code(), Code::kInvalid) << at << read.status().message();
        bytes[at] = static_cast<char>(bytes[at] ^ change);
      }
    }
    ASSERT_TRUE(snapshot_of(bytes).ok());
  }
}

TEST(Snapshot, SaysWhereTheDamageIs) {
  const auto damage = [](const std::string& part) {
    std::string bytes = to_bytes(small());
    bytes[bytes.find(part)] ^= 1;
    return snapshot_of(bytes).status().message();
  };
  EXPECT_EQ(damage("weir.snp"), "it does not begin as a snapshot does");
  EXPECT_EQ(damage("the plan"), "checksum of section plan");
  EXPECT_EQ(damage("third"), "checksum of section worker");
  EXPECT_EQ(damage("layout"), "checksum of section run");
  const std::string bytes = to_bytes(small());
  EXPECT_EQ(
      snapshot_of(std::string_view(bytes).substr(0, bytes.find("the plan"))).status().message(),
      "cut off in section plan");
}

// A file whose sections are in another order, or of which one is missing, has good checksums all
// the same.
TEST(Snapshot, RefusesSectionsThatStandElsewhere) {
  Snapshot snapshot = small();
  const SnapshotPieces pieces = pieces_of(snapshot);
  std::vector<std::string_view> all = pieces.all;
  std::rotate(all.begin() + 4, all.begin() + 7, all.begin() + 10);  // names behind plan
  all.pop_back();
  std::string bytes;
  for (const std::string_view piece : all) bytes += piece;
  const std::uint64_t sum = XXH3_64bits(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  EXPECT_THAT(snapshot_of(bytes).status().message(), HasSubstr("something else where section"));
}

std::string of_version(std::uint16_t version) {
  std::string bytes = to_bytes(small());
  std::memcpy(bytes.data() + 8, &version, sizeof version);
  const std::uint64_t sum = XXH3_64bits(bytes.data(), 16);
  std::memcpy(bytes.data() + 16, &sum, sizeof sum);
  return bytes;
}

TEST(Snapshot, OfALaterVersionIsNotDamaged) {
  const Result<Snapshot> read = snapshot_of(of_version(2));
  EXPECT_EQ(read.status().code(), Code::kUnsupported);
  EXPECT_EQ(read.status().message(),
            "it has format 2, and this weir reads up to 1; resume with the weir that wrote it, or "
            "a later one");
  EXPECT_EQ(snapshot_of(of_version(0)).status().code(), Code::kInvalid);
}

// The bytes in docs/formats/snapshot.md.
TEST(Snapshot, OfNothingIsAsThePageShows) {
  std::ifstream page(WEIR_SOURCE_DIR "/docs/formats/snapshot.md");
  std::string line, shown;
  bool inside = false;
  while (std::getline(page, line)) {
    if (line.starts_with("```")) inside = line == "```hexdump";
    if (!inside || line.starts_with("```")) continue;
    for (std::size_t at = 6; at + 1 < line.size() && line[at] != '|' && line[at] != ' '; at += 3) {
      shown.push_back(static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16)));
    }
  }
  EXPECT_EQ(shown, to_bytes(Snapshot()));
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The position of the newest, or -1.
std::int64_t newest_in(const std::string& folder, std::vector<std::string>* notices = nullptr) {
  std::vector<std::string> ignored;
  SnapshotStore store(core::Files::of_system(), folder);
  const auto found = store.newest(notices != nullptr ? *notices : ignored);
  EXPECT_TRUE(found.ok()) << found.status().message();
  if (!found.ok() || !found->has_value()) return -1;
  // Whole: the position alone is not what was kept.
  EXPECT_EQ(to_bytes(**found), to_bytes(small(raw((*found)->records))));
  return static_cast<std::int64_t>(raw((*found)->records));
}

const std::string kFirst = "snapshot-00000000000000000010-0000.weir";
const std::string kSecond = "snapshot-00000000000000000020-0001.weir";
const std::string kThird = "snapshot-00000000000000000020-0002.weir";

TEST(SnapshotStore, KeepsTheLastTwoAndTellsThemApartAtOnePosition) {
  const tests::TemporaryFolder folder;
  const std::string state = folder.at("state");
  SnapshotStore store(core::Files::of_system(), state);
  EXPECT_FALSE(*store.any());
  EXPECT_EQ(newest_in(state), -1);
  ASSERT_TRUE(store.keep(small(10)).ok());
  EXPECT_TRUE(*store.any());
  EXPECT_THAT(names_in(state), ElementsAre(kFirst));
  ASSERT_TRUE(store.keep(small(20)).ok());
  ASSERT_TRUE(store.keep(small(20)).ok());
  EXPECT_THAT(names_in(state), ElementsAre(kSecond, kThird));
  EXPECT_EQ(newest_in(state), 20);
  // Of an input that was made shorter: the newest is the one that was written last.
  ASSERT_TRUE(store.keep(small(5)).ok());
  EXPECT_EQ(newest_in(state), 5);
}

TEST(SnapshotStore, LeavesOtherFilesAloneAndTakesCareOfTemporaries) {
  const tests::TemporaryFolder folder;
  const std::vector<std::string> others = {".x.tmp", "journal", "snapshot-1-2.weir",
                                           "snapshot-00000000000000000010-0000.weir.old"};
  for (const std::string& name : others) folder.write(name, "x");
  folder.write("." + kFirst + ".tmp", "half of a snapshot");
  SnapshotStore store(core::Files::of_system(), folder.path());
  EXPECT_FALSE(*store.any());
  ASSERT_TRUE(store.keep(small(10)).ok());
  std::vector<std::string> expected = others;
  expected.push_back(kFirst);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names_in(folder.path()), expected);
  folder.write("." + kThird + ".tmp", "half of a snapshot");
  EXPECT_EQ(newest_in(folder.path()), 10);
  EXPECT_EQ(names_in(folder.path()), expected);
}

TEST(SnapshotStore, SetsDamagedOnesAsideAndSaysSo) {
  const tests::TemporaryFolder folder;
  SnapshotStore store(core::Files::of_system(), folder.path());
  ASSERT_TRUE(store.keep(small(10)).ok());
  ASSERT_TRUE(store.keep(small(20)).ok());
  std::string bytes = folder.read(kSecond);
  bytes[bytes.find("the plan")] ^= 1;
  folder.write(kSecond, bytes);
  std::vector<std::string> notices;
  EXPECT_EQ(newest_in(folder.path(), &notices), 10);
  EXPECT_THAT(notices, ElementsAre(kSecond + " is damaged (checksum of section plan): set aside; "
                                             "using the one before it"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre(kFirst, kSecond + ".damaged"));

  folder.write(kFirst, "");
  notices.clear();
  EXPECT_EQ(newest_in(folder.path(), &notices), -1);
  EXPECT_THAT(notices, ElementsAre(kFirst + " is damaged (cut off in its head): set aside; there "
                                            "is none before it"));
  EXPECT_FALSE(*store.any());
  // No name is used twice.
  ASSERT_TRUE(store.keep(small(20)).ok());
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre(kFirst + ".damaged", kSecond + ".damaged", kThird));
}

TEST(SnapshotStore, RefusesALaterVersionAndLeavesItThere) {
  const tests::TemporaryFolder folder;
  SnapshotStore store(core::Files::of_system(), folder.path());
  ASSERT_TRUE(store.keep(small(10)).ok());
  folder.write(kSecond, of_version(2));
  std::vector<std::string> notices;
  const auto found = store.newest(notices);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.status().message(), HasSubstr(kSecond + ": it has format 2"));
  EXPECT_THAT(notices, IsEmpty());
  EXPECT_THAT(names_in(folder.path()), ElementsAre(kFirst, kSecond));
}

TEST(SnapshotStore, SaysWhatIsWrongWithItsDirectory) {
  const tests::TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  SnapshotStore store(core::Files::of_system(), file);
  EXPECT_THAT(store.keep(small()).message(), HasSubstr("file: "));
  EXPECT_FALSE(store.any().ok());
  SnapshotStore deep(core::Files::of_system(), folder.at("no/such"));
  EXPECT_EQ(deep.keep(small()).message(),
            folder.at("no/such") + ": mkdir: No such file or directory");
}

// Calls from the one with number `fail_from` on fail, as many as `failures`; writes take at most
// `most` bytes.
class FailingFiles final : public core::Files {
 public:
  int fail_from = 1 << 30, failures = 1, error = EIO;
  std::size_t most = 1 << 20;
  int calls = 0;

  int open(const char* path, int flags, mode_t mode) override {
    return fails() ? -1 : Files::open(path, flags, mode);
  }
  int close(int file) override {
    const int closed = Files::close(file);
    return fails() ? -1 : closed;
  }
  ssize_t write(int file, const char* bytes, std::size_t n) override {
    return fails() ? -1 : Files::write(file, bytes, std::min(n, most));
  }
  ssize_t pread(int file, char* into, std::size_t n, std::uint64_t offset) override {
    return fails() ? -1 : Files::pread(file, into, std::min(n, most), offset);
  }
  // A test loses no power: to sync in earnest would only take long.
  int fdatasync(int) override { return fails() ? -1 : 0; }
  int fsync(int) override { return fails() ? -1 : 0; }
  int rename(const char* from, const char* to) override {
    return fails() ? -1 : Files::rename(from, to);
  }
  int unlink(const char* path) override { return fails() ? -1 : Files::unlink(path); }
  int mkdir(const char* path, mode_t mode) override {
    return fails() ? -1 : Files::mkdir(path, mode);
  }

 private:
  bool fails() {
    const int call = calls++;
    if (call < fail_from || call - fail_from >= failures) return false;
    errno = error;
    return true;
  }
};

TEST(SnapshotStore, HasAWholeSnapshotWhateverCallFails) {
  // One call fails, or everything from it on, as if the machine had gone.
  for (const int failures : {1, 1 << 20}) {
    for (const std::size_t most : {std::size_t{1} << 20, std::size_t{37}}) {
      bool reached = true;
      int failed = 0;
      for (int call = 0; reached; ++call) {
        const tests::TemporaryFolder folder;
        FailingFiles good;
        SnapshotStore before(good, folder.path());
        ASSERT_TRUE(before.keep(small(10)).ok());
        ASSERT_TRUE(before.keep(small(20)).ok());
        FailingFiles files;
        files.fail_from = call;
        files.failures = failures;
        files.most = most;
        SnapshotStore store(files, folder.path());
        const Status kept = store.keep(small(30));
        reached = files.calls > call;
        failed += kept.ok() ? 0 : 1;
        std::vector<std::string> notices;
        const std::int64_t newest = newest_in(folder.path(), &notices);
        ASSERT_THAT(notices, IsEmpty()) << call;
        if (kept.ok()) {
          ASSERT_EQ(newest, 30) << call;
        } else {
          ASSERT_TRUE(newest == 20 || newest == 30) << call << ": " << newest;
        }
        // It works again, and nothing is left of the failure.
        ASSERT_TRUE(before.keep(small(40)).ok());
        ASSERT_EQ(newest_in(folder.path()), 40);
        ASSERT_EQ(names_in(folder.path()).size(), 2u);
      }
      EXPECT_GT(failed, 5);
    }
  }
}

TEST(SnapshotStore, ReadsWholeOrSaysWhyNot) {
  const tests::TemporaryFolder folder;
  SnapshotStore before(core::Files::of_system(), folder.path());
  ASSERT_TRUE(before.keep(small(10)).ok());
  bool reached = true;
  for (int call = 0; reached; ++call) {
    FailingFiles files;
    files.fail_from = call;
    files.most = 7;
    SnapshotStore store(files, folder.path());
    std::vector<std::string> notices;
    const auto found = store.newest(notices);
    reached = files.calls > call;
    // A disk that does not read has not damaged anything.
    EXPECT_THAT(notices, IsEmpty());
    if (found.ok()) {
      ASSERT_TRUE(found->has_value());
      EXPECT_EQ(to_bytes(**found), to_bytes(small(10)));
    } else {
      EXPECT_EQ(found.status().code(), Code::kIo);
    }
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre(kFirst));
}

TEST(SnapshotStore, WorksAgainWhenThereIsRoomAgain) {
  const tests::TemporaryFolder folder;
  FailingFiles files;
  files.error = ENOSPC;
  SnapshotStore store(files, folder.path());
  ASSERT_TRUE(store.keep(small(10)).ok());
  files.fail_from = files.calls + 5;  // in the midst of the writes
  files.failures = 1;
  int error = 0;
  const Status full = store.keep(small(20), &error);
  EXPECT_THAT(full.message(), HasSubstr("No space left on device"));
  EXPECT_EQ(error, ENOSPC);
  EXPECT_THAT(names_in(folder.path()), ElementsAre(kFirst));
  ASSERT_TRUE(store.keep(small(20)).ok());
  EXPECT_EQ(newest_in(folder.path()), 20);
}

TEST(SnapshotSettings, NameTheFirstThatDiffers) {
  const auto settings = [](const std::function<void(Config&)>& change,
                           const std::vector<std::string>& sources = {"a.csv", "b.csv"},
                           std::string_view requests = "[]") {
    Config config;
    config.hierarchies.push_back({"child,parent\nb,a\n", "plant.csv", {}});
    change(config);
    return settings_of(config, sources, requests);
  };
  const auto same = [&](const std::function<void(Config&)>& change) {
    return same_settings(settings([](Config&) {}), settings(change));
  };
  const auto differs = [&](const std::function<void(Config&)>& change) {
    const std::string message = same(change).message();
    return message.substr(0,
                          message.find(" the run began with; give what it began with, or begin"));
  };
  for (const auto& change : std::vector<std::function<void(Config&)>>{
           [](Config&) {}, [](Config& c) { c.threads = 7; }, [](Config& c) { c.block_size = 4096; },
           [](Config& c) { c.ring_entries = 8; }, [](Config& c) { c.placement = "none"; },
           [](Config& c) { c.digest = true; }, [](Config& c) { c.state_directory = "s"; },
           [](Config& c) { c.hierarchies[0].name = "other.csv"; }}) {
    EXPECT_TRUE(same(change).ok()) << same(change).message();
  }
  EXPECT_EQ(differs([](Config& c) { c.layout = "titan"; }), "--layout differs from that");
  EXPECT_EQ(differs([](Config& c) {
              c.mapping_toml = "x";
              c.layout = "titan";
            }),
            "--layout differs from that");
  EXPECT_EQ(differs([](Config& c) { c.emit.ns = 1; }), "--emit differs from that");
  EXPECT_EQ(differs([](Config& c) { c.max_jump = 1; }), "--max-jump differs from that");
  EXPECT_EQ(differs([](Config& c) { c.max_record_bytes = 100; }),
            "--max-record-bytes differs from that");
  EXPECT_EQ(differs([](Config& c) { c.max_reject_samples = 1; }),
            "max-reject-samples differs from that");
  EXPECT_EQ(differs([](Config& c) { c.groups.grace = 1; }),
            "options of hierarchies (--mode, --window, …) differ from those");
  EXPECT_EQ(differs([](Config& c) { c.hierarchies[0].registry += "c,a\n"; }),
            "--registry differs from that");
  EXPECT_EQ(differs([](Config& c) { c.hierarchies[0].options.emplace().fields = {"price"}; }),
            "--registry differs from that");
  const auto before = settings([](Config&) {});
  const auto none = [](Config&) {};
  EXPECT_THAT(same_settings(before, settings(none, {"a.csv", "b.csv"}, "{}")).message(),
              HasSubstr("--requests differ from those the run began with"));
  EXPECT_THAT(same_settings(before, settings(none, {"a.csvb.csv"})).message(),
              HasSubstr("the inputs differ from those the run began with"));
  // A setting that this version does not know.
  auto later = before;
  later["colour"] = 1;
  EXPECT_THAT(same_settings(later, before).message(), HasSubstr("colour differs"));
}

}  // namespace
}  // namespace weir::engine
