// Nanoseconds a value of the quantile summaries at ε = 0.01 (the window holds 20 000 values), in
// batches of one stream, and microseconds a query; beside them two straw men: keep everything and
// sort at the end, and sort the same buffers by std::sort without taking them in.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "synopses/gk_summary.h"
#include "synopses/registry.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kValues = 1 << 18;
constexpr double kEpsilon = 0.01;
constexpr double kWindow = 20'000;

std::vector<std::uint64_t> make_values(bool zipf) {
  std::mt19937_64 random(1);
  std::vector<double> cumulative;
  double sum = 0;
  for (int i = 1; i <= 100'000; ++i) cumulative.push_back(sum += std::pow(i, -1.1));
  std::vector<std::uint64_t> bits;
  for (std::size_t i = 0; i < kValues; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const double rank = static_cast<double>(
        std::upper_bound(cumulative.begin(), cumulative.end(), u * sum) - cumulative.begin());
    bits.push_back(core::number(zipf ? 0.0001 * rank + 1.0 : u * 100.0).bits);
  }
  return bits;
}

std::span<const std::uint64_t> values(std::int64_t zipf) {
  static const std::vector<std::uint64_t> kAll[] = {make_values(false), make_values(true)};
  return kAll[zipf];
}

std::unique_ptr<Synopsis> make(const char* name) {
  std::vector<Scalar> numbers = {{core::number(kEpsilon)}};
  if (std::string_view(name) != "GKQuantiles") numbers.push_back({core::number(kWindow)});
  const SynopsisType& type = *find_type(name);
  return *type.create(*parse_params(type, std::span<const Scalar>(numbers)));
}

void report(benchmark::State& state, std::size_t run) {
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(run);
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

// range(0): values a run; range(1): Zipf or uniform; range(2): streams taking turns.
void quantiles(benchmark::State& state, const char* name) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(state.range(1));
  std::vector<std::unique_ptr<Synopsis>> streams;
  for (std::int64_t i = 0; i < state.range(2); ++i) streams.push_back(make(name));
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0, turn = 0;
  for (auto _ : state) {
    streams[turn]->update(Items(all.subspan(at, run), nullptr, nullptr, scratch));
    turn = turn + 1 < streams.size() ? turn + 1 : 0;
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

// Of a stream of 100 000 values; nothing is kept from one query to the next.
void quantile_query(benchmark::State& state, const char* name) {
  const auto synopsis = make(name);
  core::Array<std::uint64_t> scratch;
  synopsis->update(Items(values(0).first(99'937), nullptr, nullptr, scratch));
  const Query median{{{core::number(0.5)}}};
  for (auto _ : state) benchmark::DoNotOptimize(synopsis->estimate(median));
}

void append_and_sort(benchmark::State& state) {
  const auto all = values(state.range(1));
  std::vector<double> kept;
  for (auto _ : state) {
    kept.clear();
    for (const std::uint64_t bits : all) kept.push_back(std::bit_cast<double>(bits));
    std::sort(kept.begin(), kept.end());
    benchmark::ClobberMemory();
  }
  report(state, all.size());
}

void sort_buffers_by_std(benchmark::State& state) {
  const auto all = values(state.range(1));
  const std::size_t size = gk_buffer_size(kEpsilon);
  std::vector<NarrowKey> buffer(size);
  std::size_t at = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < size; ++i) buffer[i] = key_of_double(all[at + i]);
    std::sort(buffer.begin(), buffer.end());
    benchmark::ClobberMemory();
    at = at + 2 * size <= all.size() ? at + size : 0;
  }
  report(state, size);
}

void apply_runs(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf", "streams"});
  for (const int zipf : {0, 1}) {
    bench->Args({25, zipf, 1});
    bench->Args({4096, zipf, 1});
    bench->Args({25, zipf, 100});
  }
}
void apply_whole(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf"})->Args({0, 0})->Args({0, 1});
}

BENCHMARK_CAPTURE(quantiles, GKQuantiles, "GKQuantiles")->Apply(apply_runs);
BENCHMARK_CAPTURE(quantiles, WindowSketchQuantiles, "WindowSketchQuantiles")->Apply(apply_runs);
BENCHMARK_CAPTURE(quantile_query, GKQuantiles, "GKQuantiles");
BENCHMARK_CAPTURE(quantile_query, WindowSketchQuantiles, "WindowSketchQuantiles");
BENCHMARK(append_and_sort)->Apply(apply_whole);
BENCHMARK(sort_buffers_by_std)->Apply(apply_whole);

}  // namespace
}  // namespace weir::synopses
