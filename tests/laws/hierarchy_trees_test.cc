// Real hierarchies: plugs of houses with their measurements, and a building's registry with made-up
// ones, against tests/oracle/tree_check.py, which knows nothing of weir.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/shared_data.h"
#include "tests/support/temporary_folder.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

int tree_check(const std::string& arguments) {
  return std::system(
      fmt::format("{} {}/tests/oracle/tree_check.py {}", WEIR_PYTHON, WEIR_SOURCE_DIR, arguments)
          .c_str());
}

Summary run(const TemporaryFolder& folder, bool windows, unsigned threads,
            const std::string& results) {
  Config config;
  config.threads = threads;
  config.block_size = 16 << 10;
  config.layout = "titan";
  config.placement = "none";
  config.groups.mode = windows ? GroupOptions::Mode::kTumbling : GroupOptions::Mode::kLatest;
  config.groups.emit = {10 * kNanosPerSecond, 0};
  if (windows) config.groups.grace = 10 * kNanosPerSecond;
  config.groups.fields = {"valueInW"};
  config.hierarchies.push_back({folder.read("registry.json"), "registry.json", std::nullopt});
  auto engine = Engine::create(config);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  if (!engine.ok()) return {};
  std::ofstream out(results);
  engine->on_result([&](const GroupResult& result) {
    std::string line;
    result.append_json(line);
    out << line << "\n";
  });
  auto sources = open_sources({folder.at("records.ndjson")});
  EXPECT_TRUE(sources.ok());
  for (auto& source : *sources) engine->add_source(std::move(source));
  EXPECT_TRUE(engine->start().ok());
  auto summary = engine->finish();
  EXPECT_TRUE(summary.ok());
  return summary.ok() ? *std::move(summary) : Summary{};
}

void expect_right(const std::string& kind, const std::string& source, std::uint64_t sensors) {
  const TemporaryFolder folder;
  const std::string data = fmt::format("'{}'", (shared_data() / source).string());
  ASSERT_EQ(tree_check(fmt::format("make {} {} '{}'", kind, data, folder.path())), 0);
  for (const bool windows : {true, false}) {
    for (const unsigned threads : {1u, 4u}) {
      const std::string results = folder.at("results.ndjson");
      const Summary summary = run(folder, windows, threads, results);
      ASSERT_EQ(summary.hierarchies.size(), 1u);
      EXPECT_EQ(summary.hierarchies.begin()->second.sensors, sensors);
      EXPECT_EQ(summary.rejected_total(), 0u);
      EXPECT_GT(summary.results, 100u);
      EXPECT_EQ(tree_check(fmt::format("check {} {} {} '{}'", kind, data,
                                       windows ? "tumbling" : "latest", results)),
                0)
          << kind << (windows ? " tumbling " : " latest ") << threads << " threads";
    }
  }
}

TEST(HierarchyTrees, SumsThePlugsOfHousesInExactFractions) {
  WEIR_NEEDS_SHARED_DATA("sensor/debs2014_plugs_part1.txt");
  expect_right("plugs", "sensor/debs2014_plugs_part1.txt", 470);
}

TEST(HierarchyTrees, SumsTheSensorsOfABuildingInExactFractions) {
  WEIR_NEEDS_SHARED_DATA("sensor/brick_soda_hall_tree.json");
  expect_right("building", "sensor/brick_soda_hall_tree.json", 591);
}

}  // namespace
}  // namespace weir::tests
