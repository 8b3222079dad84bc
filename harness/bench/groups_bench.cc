// Groups, mode by mode: what a measurement costs beyond parsing, with the columns of decoded blocks
// of 4 900 tuples, sensors in turn at 1 Hz each, groups of 8 sensors (and of 8 groups above them).
//
// ns_a_value counts everything from the columns to the rows, which a sink only counts.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "hierarchy/groups.h"

namespace weir::hierarchy {
namespace {

constexpr std::uint32_t kTuples = 4900;
constexpr std::size_t kGroup = 8;

Outline tree_of(std::size_t sensors) {
  std::vector<Outline> level;
  for (std::size_t s = 0; s < sensors; ++s)
    level.push_back({fmt::format("sensor{}", s), "", false, {}});
  for (std::size_t height = 1; level.size() > 1 || height == 1; ++height) {
    std::vector<Outline> above;
    for (std::size_t at = 0; at < level.size(); at += kGroup) {
      Outline group{fmt::format("group{}_{}", height, above.size()), "", true, {}};
      for (std::size_t m = at; m < std::min(level.size(), at + kGroup); ++m) {
        group.children.push_back(std::move(level[m]));
      }
      above.push_back(std::move(group));
    }
    level = std::move(above);
  }
  return std::move(level.front());
}

Spec spec_of(GroupOptions::Mode mode) {
  GroupOptions options;
  options.mode = mode;
  options.emit.ns = 10 * kNanosPerSecond;
  if (mode == GroupOptions::Mode::kTumbling || mode == GroupOptions::Mode::kSliding) {
    options.grace = 10 * kNanosPerSecond;
  }
  if (mode == GroupOptions::Mode::kSliding) {
    options.window = 60 * kNanosPerSecond;
    options.advance = 10 * kNanosPerSecond;
  }
  options.fields = {"v"};
  return {options, {0}};
}

// Blocks as a decoder gives them: times in whole milliseconds, sensors in turn.
class Blocks {
 public:
  Blocks(core::KeyTable& keys, std::size_t sensors) : sensors_(sensors) {
    const DatasetId dataset = keys.dataset("");
    for (std::size_t s = 0; s < sensors; ++s) {
      streams_.push_back(keys.find_or_add(dataset, fmt::format("sensor{}", s)));
    }
    block_.reset(1);
    block_.records = kTuples;
    for (std::uint32_t i = 0; i < kTuples; ++i) block_.record.push_back(i);
    block_.stream.resize(kTuples);
    block_.time.resize(kTuples);
    block_.fields[0].bits.resize(kTuples);
  }
  const core::Columns& next() {
    for (std::uint32_t i = 0; i < kTuples; ++i) {
      block_.stream[i] = streams_[at_];
      const auto second = static_cast<std::int64_t>(second_);
      const auto ms = static_cast<std::int64_t>(at_ * 1000 / sensors_);
      block_.time[i] = second * kNanosPerSecond + ms * 1'000'000;
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      block_.fields[0].bits[i] = core::number(static_cast<double>(random_ >> 54)).bits;
      if (++at_ == sensors_) {
        at_ = 0;
        ++second_;
      }
    }
    return block_;
  }

 private:
  std::size_t sensors_, at_ = 0;
  std::uint64_t second_ = 1'600'000'000, random_ = 1;
  std::vector<StreamId> streams_;
  core::Columns block_;
};

void measure(benchmark::State& state, GroupOptions::Mode mode) {
  const auto sensors = static_cast<std::size_t>(state.range(0));
  core::KeyTable keys;
  Blocks blocks(keys, sensors);
  std::uint64_t rows = 0;
  Groups groups(keys, [&](const PublishCut&, std::span<const Row> of) { rows += of.size(); });
  groups.change(std::make_shared<const Registry>(*Registry::of(tree_of(sensors))), spec_of(mode),
                {});
  std::vector<std::uint8_t> verdicts(kTuples);
  std::uint64_t base = 0;
  const auto step = [&](const core::Columns& block) {
    groups.apply(block, 0, kTuples, base, verdicts.data());
    base += kTuples;
  };
  // Two and a half periods, so that windows are recycled.
  for (std::size_t i = 0; i < sensors * 25 / kTuples; ++i) step(blocks.next());
  std::uint64_t measured = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const core::Columns& block = blocks.next();
    state.ResumeTiming();
    step(block);
    measured += kTuples;
  }
  benchmark::DoNotOptimize(rows);
  state.SetItemsProcessed(static_cast<std::int64_t>(measured));
  state.counters["ns_a_value"] =
      benchmark::Counter(static_cast<double>(measured) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["rows_a_value"] = static_cast<double>(rows) / static_cast<double>(base);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("sensors");
  for (const int sensors : {64, 512, 4096, 32'768, 1'000'000}) bench->Arg(sensors);
}
BENCHMARK_CAPTURE(measure, latest, GroupOptions::Mode::kLatest)
    ->Name("groups/latest")
    ->Apply(sizes);
BENCHMARK_CAPTURE(measure, tumbling, GroupOptions::Mode::kTumbling)
    ->Name("groups/tumbling")
    ->Apply(sizes);
BENCHMARK_CAPTURE(measure, changelog, GroupOptions::Mode::kChangelog)
    ->Name("groups/changelog")
    ->Apply(sizes);
BENCHMARK_CAPTURE(measure, sliding, GroupOptions::Mode::kSliding)
    ->Name("groups/sliding_6")
    ->Apply(sizes);

// One sensor into another group.
void move_one(Outline& tree) {
  Outline* left = &tree;
  while (left->children.front().group) left = &left->children.front();
  tree.children.back().children.back().children.push_back(left->children.back());
  left->children.pop_back();
}

// Every other leaf group changes places with that of the group beside the one above it.
void swap_half(Outline& tree) {
  if (tree.children.front().children.front().children.front().group) {
    for (Outline& child : tree.children) swap_half(child);
    return;
  }
  for (std::size_t pair = 0; pair + 1 < tree.children.size(); pair += 2) {
    auto& left = tree.children[pair].children;
    auto& right = tree.children[pair + 1].children;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); i += 2) {
      std::swap(left[i], right[i]);
    }
  }
}

// A registry of 32 768 sensors put in the place of another, over and over.
void replace(benchmark::State& state, GroupOptions::Mode mode, void (*edit)(Outline&)) {
  constexpr std::size_t kSensors = 32'768;
  core::KeyTable keys;
  Blocks blocks(keys, kSensors);
  Outline tree = tree_of(kSensors), edited = tree;
  edit(edited);
  const std::shared_ptr<const Registry> registries[] = {
      std::make_shared<const Registry>(*Registry::of(tree)),
      std::make_shared<const Registry>(*Registry::of(edited))};
  Groups groups(keys, [](const PublishCut&, std::span<const Row>) {});
  groups.change(registries[0], spec_of(mode), {});
  std::vector<std::uint8_t> verdicts(kTuples);
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < kSensors * 15 / kTuples; ++i, base += kTuples) {
    groups.apply(blocks.next(), 0, kTuples, base, verdicts.data());
  }
  std::size_t turn = 0;
  for (auto _ : state) {
    groups.change(registries[++turn % 2], spec_of(mode), {RecordPosition{base}, kNoTime, false});
  }
}
#define REPLACE(name, mode, edit)              \
  BENCHMARK_CAPTURE(replace, name, mode, edit) \
      ->Name("groups/replace_32768/" #name)    \
      ->Unit(benchmark::kMillisecond)
REPLACE(latest, GroupOptions::Mode::kLatest, move_one);
REPLACE(tumbling, GroupOptions::Mode::kTumbling, move_one);
REPLACE(latest_half, GroupOptions::Mode::kLatest, swap_half);
REPLACE(tumbling_half, GroupOptions::Mode::kTumbling, swap_half);
#undef REPLACE

}  // namespace
}  // namespace weir::hierarchy
