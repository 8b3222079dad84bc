// Law: threads that stop, are slow, and are replaced by others show in nothing that a run says.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "replay/faults_file.h"
#include "replay/paced_source.h"
#include "tests/support/hierarchy_run.h"
#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_faults.h"
#include "tests/support/random_hierarchies.h"
#include "tests/support/random_records.h"
#include "tests/support/random_rescales.h"
#include "tests/support/random_scenario.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

// Small blocks and rings, so that everybody waits for everybody soon.
Config small_config(std::uint64_t seed) {
  std::mt19937_64 random(seed * 31 + 7);
  Config config;
  config.placement = "none";
  config.block_size = 4096 + random() % 3000;
  config.ring_entries = std::array{2, 2, 4, 8}[random() % 4];
  if (random() % 4 == 0) {
    config.ingest_threads = static_cast<unsigned>(1 + random() % 2);
    config.shard_threads = 4;
  } else {
    config.threads = random() % 3 == 0 ? static_cast<unsigned>(1 + random() % 5) : 4;
  }
  return config;
}

ObservedRun run_scenario(std::uint64_t seed, std::size_t records, const std::string& states,
                         std::shared_ptr<const FaultPlan> faults) {
  std::filesystem::remove_all(states);
  std::filesystem::create_directory(states);
  RandomScenario scenario(seed, records, false);
  Config config = small_config(seed);
  config.layout = "saams";
  config.emit = scenario.emit();
  config.max_jump = scenario.max_jump();
  config.state_directory = states;
  config.faults = std::move(faults);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(scenario.lines()));
  return observe(config, scenario.requests() + random_rescales(seed, records), std::move(sources));
}

void expect_same(const ObservedRun& run, const ObservedRun& expected) {
  for (std::size_t i = 0; i < std::min(run.answers.size(), expected.answers.size()); ++i) {
    ASSERT_EQ(run.answers[i], expected.answers[i]) << "answer " << i;
  }
  EXPECT_EQ(run.answers.size(), expected.answers.size());
  EXPECT_EQ(run.rejects, expected.rejects);
  EXPECT_EQ(run.fingerprint(), expected.fingerprint());
  EXPECT_FALSE(run.summary.digest.empty());
}

void compare(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::size_t records = 500 + seed * 37 % 2000;
  const TemporaryFolder folder;
  const std::string states = folder.at("states");  // answers name it
  const ObservedRun expected = run_scenario(seed, records, states, nullptr);
  expect_same(run_scenario(seed, records, states, random_faults(seed, records)), expected);
}

void compare_hierarchies(std::uint64_t seed) {
  RunPlan plan;
  plan.seed = seed;
  plan.rescales = seed % 3 != 0;
  plan.way = std::array{Way::kSource, Way::kBytes, Way::kTuples}[seed / 4 % 3];
  plan.config = small_config(seed);
  const RandomHierarchies random(seed, plan.layout, plan.way == Way::kTuples);
  const OracleScenario scenario = random.scenario();
  plan.config.faults = random_faults(seed, scenario.records.size());
  const auto found = difference(HierarchyOracle::run(scenario), run_hierarchies(scenario, plan));
  EXPECT_FALSE(found.has_value()) << "seed " << seed << ": " << *found;
}

TEST(FaultsLaw, StopsAndSlownessAndRescalesShowInNoAnswer) {
  for (std::uint64_t seed = 1; seed <= 80 && !HasFailure(); ++seed) compare(seed);
}

TEST(FaultsLaw, OrInAnyResultOfGroups) {
  for (std::uint64_t seed = 1; seed <= 80 && !HasFailure(); ++seed) compare_hierarchies(seed);
}

TEST(LongFaultsLaw, ShowInNothingInManyRuns) {
  for (std::uint64_t seed = 1000; seed < 4000 && !HasFailure(); ++seed) {
    compare(seed);
    compare_hierarchies(seed);
  }
}

const char* const kRequests = R"(
{"op":"build","synopsis":"CountMin","dataset":"Stocks","stream":"","field":"price","params":{"epsilon":0.01,"confidence":0.99,"seed":7},"parallelism":4}
{"op":"build","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S0","field":"price","params":{"rsd":0.02}}
{"op":"build","synopsis":"GKQuantiles","dataset":"Stocks","stream":"S1","field":"price","params":{"epsilon":0.02},"parallelism":3}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"","field":"price","query":105.5,"continuous":true}
{"op":"query","synopsis":"GKQuantiles","dataset":"Stocks","stream":"S1","field":"price","query":0.5,"continuous":true}
)";

// Records come in at a fixed rate, and three of four workers stop and start again while they do, as
// in Titan's Figure 5.
TEST(FaultsLaw, ThreeQuartersOfTheWorkersStopAndStartAgainDuringAPacedRun) {
  constexpr std::size_t kRecords = 30'000;
  const std::string lines = as_lines(random_records(11, kRecords));
  Config config;
  config.layout = "saams";
  config.threads = 4;
  config.placement = "none";
  config.block_size = 4096;
  config.ring_entries = 4;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(lines));
  const ObservedRun expected = observe(config, kRequests, std::move(sources));
  ASSERT_GT(expected.answers.size(), 50u);

  auto plan = std::make_shared<FaultPlan>();
  for (const unsigned worker : {1u, 2u, 3u}) {
    plan->faults.push_back(stop_of(worker, kRecords / 4, 150 * kMillisecond));
    plan->faults.push_back(stop_of(worker, kRecords / 2 + 100 * worker, 100 * kMillisecond));
  }
  config.faults = plan;
  const auto schedule = std::make_shared<replay::PaceSchedule>(replay::Speed{0, 60'000},
                                                               replay::PaceClock::of_system());
  sources.clear();
  sources.push_back(std::make_unique<replay::PacedSource>(std::make_unique<MemorySource>(lines),
                                                          schedule, replay::PacedRecords{}));
  const ObservedRun run = observe(config, kRequests, std::move(sources));
  // All that was offered has been applied, so nothing is left of the backlog.
  EXPECT_EQ(run.summary.records, schedule->report().records);
  expect_same(run, expected);
}

// The plan that docs/operations.md shows.
TEST(FaultsLaw, ThePlanOfTheOperationsPageShowsInNothing) {
  std::ifstream page(std::filesystem::path(WEIR_SOURCE_DIR) / "docs/operations.md");
  std::string toml;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```toml";
    } else if (inside) {
      toml += line + "\n";
    }
  }
  const auto plan = replay::parse_faults(toml, "operations.md");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->faults.size(), 3u);
  const std::string lines = as_lines(random_records(12, 30'000));
  Config config;
  config.layout = "saams";
  config.threads = 4;
  config.placement = "none";
  config.block_size = 4096;
  const auto run = [&] {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::make_unique<MemorySource>(lines));
    return observe(config, kRequests, std::move(sources));
  };
  const ObservedRun expected = run();
  config.faults = std::make_shared<const FaultPlan>(*plan);
  expect_same(run(), expected);
}

}  // namespace
}  // namespace weir::tests
