// The state of hierarchies: values into panels with what groups come to at different times, and
// registries compiled into trees. Measurements are of random sensors; groups have eight members.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hierarchy/panel.h"
#include "hierarchy/registry.h"
#include "hierarchy/tree.h"

namespace weir::hierarchy {
namespace {

constexpr std::size_t kFan = 8;
constexpr std::size_t kMeasurements = 8192;

// Groups of eight, level by level, until one is left.
Outline outline_of(std::size_t sensors, const std::string& prefix = "") {
  std::vector<Outline> level(sensors);
  for (std::size_t i = 0; i < sensors; ++i) level[i].identifier = prefix + "s" + std::to_string(i);
  std::size_t groups = 0;
  while (level.size() > 1) {
    std::vector<Outline> above;
    for (std::size_t i = 0; i < level.size(); i += kFan) {
      Outline& group = above.emplace_back();
      group.identifier = prefix + "g" + std::to_string(groups++);
      group.group = true;
      for (std::size_t j = i; j < std::min(i + kFan, level.size()); ++j) {
        group.children.push_back(std::move(level[j]));
      }
    }
    level = std::move(above);
  }
  return std::move(level.front());
}

std::shared_ptr<const Registry> registry_of(std::size_t sensors, const std::string& prefix = "") {
  return std::make_shared<const Registry>(*Registry::of(outline_of(sensors, prefix)));
}

std::shared_ptr<const Tree> tree_of(std::size_t sensors) {
  return std::make_shared<const Tree>(registry_of(sensors));
}

struct Measurements {
  explicit Measurements(std::size_t sensors) {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < 64 * kMeasurements; ++i) {
      leaves.push_back(static_cast<std::uint32_t>(random() % sensors));
      values.push_back(static_cast<double>(random() >> 11) * 0x1p-33);
    }
  }
  std::vector<std::uint32_t> leaves;
  std::vector<double> values;
};

void count_measurements(benchmark::State& state, std::size_t each) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(each));
  state.counters["ns/measurement"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(each) / 1e9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Values, and the root every 8192 of them. `passes` off: values alone.
void panel_set(benchmark::State& state, bool passes) {
  const auto sensors = static_cast<std::size_t>(state.range(0));
  Panel panel(tree_of(sensors));
  const Measurements measurements(sensors);
  const std::uint32_t root = panel.tree().groups() - 1;
  std::size_t from = 0;
  for (auto _ : state) {
    for (std::size_t i = from; i < from + kMeasurements; ++i) {
      panel.set(measurements.leaves[i], measurements.values[i]);
    }
    if (passes) benchmark::DoNotOptimize(panel.at(root));
    from = (from + kMeasurements) % measurements.leaves.size();
  }
  count_measurements(state, kMeasurements);
}

// What `latest` does: every group that was touched, every 8192 measurements.
void panel_touched(benchmark::State& state) {
  const auto sensors = static_cast<std::size_t>(state.range(0));
  Panel panel(tree_of(sensors));
  const Measurements measurements(sensors);
  std::vector<std::uint32_t> groups;
  std::size_t from = 0;
  for (auto _ : state) {
    for (std::size_t i = from; i < from + kMeasurements; ++i) {
      panel.set(measurements.leaves[i], measurements.values[i]);
    }
    panel.take_touched(groups);
    for (const std::uint32_t group : groups) benchmark::DoNotOptimize(panel.at(group));
    from = (from + kMeasurements) % measurements.leaves.size();
  }
  count_measurements(state, kMeasurements);
}

// What `changelog` does: every group above, after each measurement.
void panel_changelog(benchmark::State& state) {
  const auto sensors = static_cast<std::size_t>(state.range(0));
  Panel panel(tree_of(sensors));
  const Measurements measurements(sensors);
  std::size_t from = 0;
  for (auto _ : state) {
    for (std::size_t i = from; i < from + kMeasurements; ++i) {
      const std::uint32_t leaf = measurements.leaves[i];
      panel.set(leaf, measurements.values[i]);
      for (const std::uint32_t group : panel.tree().ancestors(leaf)) {
        benchmark::DoNotOptimize(panel.at(group));
      }
    }
    from = (from + kMeasurements) % measurements.leaves.size();
  }
  count_measurements(state, kMeasurements);
}

// A window that is recycled after 100 measurements.
void panel_reset(benchmark::State& state) {
  const auto sensors = static_cast<std::size_t>(state.range(0));
  Panel panel(tree_of(sensors));
  const Measurements measurements(sensors);
  std::size_t from = 0;
  for (auto _ : state) {
    for (std::size_t i = from; i < from + 100; ++i) {
      panel.set(measurements.leaves[i], measurements.values[i]);
    }
    panel.reset();
    from = (from + kMeasurements) % measurements.leaves.size();
  }
  count_measurements(state, 100);
}

void fold_cells(benchmark::State& state, Folded (*fold_of)(const Cell*, std::uint32_t)) {
  std::vector<Cell> cells;
  for (int i = 0; i < state.range(0); ++i) cells.push_back(Cell::of(i));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fold_of(cells.data(), static_cast<std::uint32_t>(cells.size())));
    benchmark::ClobberMemory();
  }
}

void registry_read(benchmark::State& state) {
  const Outline outline = outline_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Registry::of(outline).ok());
}

// A registry in the place of another, beside one as large and 50 small ones.
void registries_put(benchmark::State& state) {
  const auto sensors = static_cast<std::size_t>(state.range(0));
  Registries standing;
  bool fine = standing.put(registry_of(sensors, "other ")).ok();
  for (int i = 0; i < 50; ++i) {
    fine &= standing.put(registry_of(100, "small " + std::to_string(i) + " ")).ok();
  }
  const auto one = registry_of(sensors), equal = registry_of(sensors);
  for (auto _ : state) fine &= standing.put(one).ok() && standing.put(equal).ok();
  if (!fine) state.SkipWithError("refused");
  state.SetItemsProcessed(2 * state.iterations());
}

void tree_compile(benchmark::State& state) {
  const auto registry = registry_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Tree(registry).cells());
}

void tree_check(benchmark::State& state) {
  const auto registry = registry_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Tree::check(*registry).ok());
}

// 8 and 64 … 10^6 sensors are 1 to 7 levels of groups.
#define EVERY_SIZE Arg(64)->Arg(4096)->Arg(32'768)->Arg(1'000'000)
BENCHMARK_CAPTURE(panel_set, alone, false)->EVERY_SIZE;
BENCHMARK_CAPTURE(panel_set, root_every_8192, true)->EVERY_SIZE;
BENCHMARK(panel_touched)->EVERY_SIZE;
BENCHMARK(panel_changelog)->EVERY_SIZE;
BENCHMARK(panel_reset)->Arg(32'768)->Arg(1'000'000);
BENCHMARK_CAPTURE(fold_cells, kernel, fold)->Arg(2)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(fold_cells, scalar, fold_scalar)->Arg(2)->Arg(8)->Arg(16);
BENCHMARK(registry_read)->Arg(32'768)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(registries_put)->Arg(32'768)->Unit(benchmark::kMillisecond);
BENCHMARK(tree_compile)->Arg(32'768)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(tree_check)->Arg(32'768)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weir::hierarchy
