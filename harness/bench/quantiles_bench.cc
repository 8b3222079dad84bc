// The quantile summaries at ε = 0.01 (the window holds 20 000 values), and microseconds a query.
// Beside GKQuantiles two straw men: keep a hundred thousand values and sort them at the end, and
// sort the same buffers by std::sort without taking them in; beside the window one that keeps its
// values in a standard tree.
#include <benchmark/benchmark.h>

#include <bit>
#include <set>

#include "harness/bench/synopses_bench.h"
#include "synopses/gk_summary.h"

namespace weir::synopses {
namespace {

// Of a stream of 100 000 values; nothing is kept from one query to the next.
void quantile_query(benchmark::State& state, const Shape& shape) {
  const auto synopsis = shape.make();
  core::Array<std::uint64_t> scratch;
  synopsis->update(Items(values(kUniform).first(99'937), nullptr, nullptr, scratch));
  const Query median{{{core::number(0.5)}}};
  for (auto _ : state) benchmark::DoNotOptimize(synopsis->estimate(median));
}

// A run is appended; every hundred thousand values are sorted and forgotten.
void append_and_sort(benchmark::State& state) {
  constexpr std::size_t kKept = 100'000;
  std::vector<double> kept;
  kept.reserve(kKept + 4096);
  measure(state, [&](std::span<const std::uint64_t> run) {
    for (const std::uint64_t bits : run) kept.push_back(std::bit_cast<double>(bits));
    if (kept.size() < kKept) return;
    std::sort(kept.begin(), kept.end());
    benchmark::DoNotOptimize(kept.data());
    kept.clear();
  });
}

void sort_buffers(benchmark::State& state) {
  std::vector<NarrowKey> buffer(gk_buffer_size(kGk.numbers[0]));
  std::size_t filled = 0;
  measure(state, [&](std::span<const std::uint64_t> run) {
    for (const std::uint64_t bits : run) {
      buffer[filled++] = key_of_double(bits);
      if (filled < buffer.size()) continue;
      std::sort(buffer.begin(), buffer.end());
      benchmark::DoNotOptimize(buffer.data());
      filled = 0;
    }
  });
}

// Exact: the newest values in a tree of which the oldest leaves at each arrival.
void window_in_a_tree(benchmark::State& state) {
  const auto window = static_cast<std::size_t>(kWindow.numbers[1]);
  std::multiset<double> sorted;
  std::vector<std::multiset<double>::iterator> ring;
  std::size_t oldest = 0;
  measure(state, [&](std::span<const std::uint64_t> run) {
    for (const std::uint64_t bits : run) {
      const auto entry = sorted.insert(std::bit_cast<double>(bits));
      if (ring.size() < window) {
        ring.push_back(entry);
        continue;
      }
      sorted.erase(ring[oldest]);
      ring[oldest] = entry;
      oldest = oldest + 1 < window ? oldest + 1 : 0;
    }
  });
}

BENCHMARK_CAPTURE(one_stream, GKQuantiles, kGk)->Apply(runs);
BENCHMARK(append_and_sort)->Name("straw_man/GKQuantiles")->Apply(runs);
BENCHMARK(sort_buffers)->Name("straw_man/GKQuantiles_sort_of_buffers")->Apply(runs);
BENCHMARK_CAPTURE(one_stream, WindowSketchQuantiles, kWindow)->Apply(runs);
BENCHMARK(window_in_a_tree)->Name("straw_man/WindowSketchQuantiles")->Apply(runs);
BENCHMARK_CAPTURE(hundred_streams, GKQuantiles, {kGk})->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, WindowSketchQuantiles, {kWindow})->Apply(short_runs);
BENCHMARK_CAPTURE(quantile_query, GKQuantiles, kGk);
BENCHMARK_CAPTURE(quantile_query, WindowSketchQuantiles, kWindow);

}  // namespace
}  // namespace weir::synopses
