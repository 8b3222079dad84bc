// Snapshots whose checksums are right and whose content is not: nobody wrote them, but whatever
// they say, a run that is resumed with them says what is wrong or comes to its end.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "engine/snapshot.h"
#include "tests/support/durable_job.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using engine::Snapshot;

class Mangler {
 public:
  explicit Mangler(std::uint64_t seed) : random_(seed) {}
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }

  void mangle(std::string& bytes) {
    for (std::uint64_t changes = 1 + pick(2); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = pick(bytes.size());
      switch (pick(6)) {
        case 0:
          bytes[at] ^= static_cast<char>(1 << pick(8));
          break;
        case 1:
          bytes.resize(at);
          break;
        case 2:
          bytes.insert(at, bytes.substr(at, pick(40)));
          break;
        case 3:
          bytes.erase(at, pick(16));
          break;
        default:
          write_number(bytes, at);
      }
    }
  }

 private:
  // Numbers that sums and sizes trip over, in four bytes or eight.
  void write_number(std::string& bytes, std::size_t at) {
    const std::uint64_t numbers[] = {0,
                                     1,
                                     2,
                                     0x7fffffff,
                                     0xffffffff,
                                     std::uint64_t{1} << 62,
                                     (std::uint64_t{1} << 63) - 1,
                                     std::uint64_t{1} << 63,
                                     ~std::uint64_t{0},
                                     1546387200000000000,
                                     0x7ff0000000000000,
                                     1000};
    const std::uint64_t number = numbers[pick(std::size(numbers))];
    const std::size_t n = pick(2) == 0 ? 4 : 8;
    for (std::size_t i = 0; i < n && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<char>(number >> (8 * i));
    }
  }
  std::mt19937_64 random_;
};

void mangle_some(Snapshot& snapshot, Mangler& mangler) {
  switch (mangler.pick(9)) {
    case 0:
      return mangler.mangle(snapshot.names);
    case 1:
      return mangler.mangle(snapshot.cursor);
    case 2:
      return mangler.mangle(snapshot.gate);
    case 3:
      return mangler.mangle(snapshot.headers);
    case 4:
      return mangler.mangle(snapshot.lane);
    case 5:
      return mangler.mangle(snapshot.plan);
    case 6:
      if (mangler.pick(2) == 0) {
        snapshot.workers.push_back(snapshot.workers[mangler.pick(snapshot.workers.size())]);
      } else {
        snapshot.workers.pop_back();
      }
      return;
    default:
      return mangler.mangle(snapshot.workers[mangler.pick(snapshot.workers.size())]);
  }
}

Config config_of(const DurableJob& job, const std::string& directory, GroupOptions::Mode mode) {
  using Mode = GroupOptions::Mode;
  Config config = job.config(directory);
  config.groups.mode = mode;
  const bool windows = mode == Mode::kTumbling || mode == Mode::kSliding;
  if (windows) config.groups.grace = 5 * kNanosPerSecond;
  if (mode != Mode::kLatest) config.emit = {20 * kNanosPerSecond, 0};
  if (mode == Mode::kSliding) config.groups.window = 30 * kNanosPerSecond;
  if (mode == Mode::kSliding) config.groups.advance = 10 * kNanosPerSecond;
  return config;
}

void run_hostile(GroupOptions::Mode mode, std::uint64_t seed, std::size_t count) {
  DurableJob job{.pushed = false, .rich = true, .records = 700, .snapshots = 150};
  const TemporaryFolder folder;
  JobOutputs outputs;
  DurableJob paced = job;
  paced.paced_by = folder.path();
  const JobRun run = run_job(paced, config_of(job, folder.path(), mode), outputs);
  ASSERT_TRUE(run.status.ok()) << run.told();
  const Snapshot good = *engine::snapshot_of(folder.read(snapshot_names(folder.path()).back()));
  std::filesystem::remove_all(folder.path() + "/journal");
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::filesystem::remove_all(file.path());
  }
  Mangler mangler(seed);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << i);
    Snapshot snapshot = good;
    mangle_some(snapshot, mangler);
    folder.write("snapshot-00000000000000000001-0001.weir", engine::to_bytes(snapshot));
    Config config = config_of(job, folder.path(), mode);
    config.resume = true;
    config.snapshot_every = {};
    auto engine = Engine::create(std::move(config));
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    engine->on_answer([](const Answer& answer) { (void)answer.to_json(); });
    engine->add_source(std::make_unique<WaitingSource>(job.lines(), 3000));
    ASSERT_TRUE(engine->request(job.requests()).ok());
    const Status started = engine->start();
    if (started.ok()) {
      (void)engine->finish();
    } else {
      ++refused;
      EXPECT_FALSE(started.message().empty());
      EXPECT_EQ(started.message().find('\n'), std::string::npos) << started.message();
    }
  }
  EXPECT_GT(refused, count / 3);
  EXPECT_LT(refused, count);
}

void run_all_modes(std::uint64_t seed, std::size_t count) {
  using Mode = GroupOptions::Mode;
  for (const Mode mode : {Mode::kLatest, Mode::kChangelog, Mode::kTumbling, Mode::kSliding}) {
    SCOPED_TRACE(testing::Message() << "mode " << static_cast<int>(mode));
    run_hostile(mode, seed, count);
  }
}

TEST(DurableHostile, AnErrorOrAWorkingRunWhateverASnapshotSays) { run_all_modes(1, 70); }

TEST(LongDurableHostile, AnErrorOrAWorkingRunWhateverASnapshotSays) {
  for (std::uint64_t seed = 2; seed < 12; ++seed) run_all_modes(seed, 300);
}

}  // namespace
}  // namespace weir::tests
