// LSH, and DFT and LSH on a grid of event time: nanoseconds a value, microseconds a signature
// beside its scalar twin, and a window as a query that compares streams sees it.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "synopses/dft.h"
#include "synopses/hyperplanes.h"
#include "synopses/lsh.h"
#include "synopses/registry.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kValues = 1 << 16;

std::unique_ptr<Synopsis> make(const char* name, const std::vector<double>& numbers) {
  std::vector<Scalar> scalars;
  for (const double number : numbers) scalars.push_back({core::number(number)});
  const SynopsisType& type = *find_type(name);
  return *type.create(*parse_params(type, std::span<const Scalar>(scalars)));
}

struct Column {
  std::vector<std::uint64_t> bits;
  std::vector<std::int64_t> times;
};

// A value every `gap` ns on average: with intervals of a second, 1e9 / gap values an interval.
Column make_column(int zipf, std::int64_t gap) {
  std::mt19937_64 random(1);
  std::vector<double> cumulative;
  double sum = 0;
  for (int i = 1; i <= 100'000; ++i) cumulative.push_back(sum += std::pow(i, -1.1));
  Column column;
  std::int64_t time = 0;
  for (std::size_t i = 0; i < kValues; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const double rank = static_cast<double>(
        std::upper_bound(cumulative.begin(), cumulative.end(), u * sum) - cumulative.begin());
    column.bits.push_back(core::number(zipf == 0 ? u * 100.0 : 0.0001 * rank + 1.0).bits);
    time += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * gap));
    column.times.push_back(time);
  }
  return column;
}

// range(0): values a run; range(1): distribution. Times go on from round to round.
void take(benchmark::State& state, const char* name, const std::vector<double>& params,
          std::int64_t gap) {
  const auto run = static_cast<std::size_t>(state.range(0));
  Column column = make_column(static_cast<int>(state.range(1)), gap);
  const std::int64_t round = column.times.back() + gap;
  const auto synopsis = make(name, params);
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0;
  for (auto _ : state) {
    const ItemExtras extras{nullptr, column.times.data() + at, column.times.data() + at};
    synopsis->update(Items(std::span<const std::uint64_t>(column.bits).subspan(at, run), nullptr,
                           nullptr, scratch, extras));
    at += run;
    if (at + run <= kValues) continue;
    at = 0;
    state.PauseTiming();
    for (std::int64_t& time : column.times) time += round;
    state.ResumeTiming();
  }
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(run);
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

std::vector<double> window_of(std::size_t w) {
  std::mt19937_64 random(2);
  std::vector<double> values(w);
  for (double& value : values) value = static_cast<double>(random() >> 11) * 0x1p-53;
  return values;
}

// range(0): window; range(1): bits.
void signature(benchmark::State& state) {
  const auto w = static_cast<std::uint32_t>(state.range(0));
  const auto bits = static_cast<std::uint32_t>(state.range(1));
  const auto planes = Hyperplanes::make(w, bits, 1);
  const std::vector<double> values = window_of(w);
  for (auto _ : state) benchmark::DoNotOptimize(Lsh::sign(values, bits, *planes));
}

void signature_scalar(benchmark::State& state) {
  const auto w = static_cast<std::uint32_t>(state.range(0));
  const auto bits = static_cast<std::uint32_t>(state.range(1));
  const auto planes = Hyperplanes::make(w, bits, 1);
  const std::vector<double> values = window_of(w);
  std::vector<double> sums(planes->blocks() * kLshBlock);
  for (auto _ : state) {
    project_scalar(values.data(), w, planes->entries(), planes->blocks(), sums.data());
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  }
}

// What a search does for each stream before it compares any.
void window(benchmark::State& state, const char* name, const std::vector<double>& params,
            std::int64_t silent) {
  Column column = make_column(0, 1'000'000'000);
  const auto synopsis = make(name, params);
  core::Array<std::uint64_t> scratch;
  synopsis->update(Items(column.bits, nullptr, nullptr, scratch,
                         {nullptr, column.times.data(), column.times.data()}));
  const std::int64_t now = column.times.back() / 1'000'000'000 + silent;
  const auto* dft = dynamic_cast<const Dft*>(synopsis.get());
  for (auto _ : state) {
    if (dft != nullptr) {
      benchmark::DoNotOptimize(dft->grid_window(now));
    } else {
      benchmark::DoNotOptimize(static_cast<const Lsh&>(*synopsis).window(now));
    }
  }
}

void runs(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf"});
  for (const int run : {25, 4096}) {
    for (const int zipf : {0, 1}) bench->Args({run, zipf});
  }
}

constexpr std::int64_t kSecond = 1'000'000'000;
BENCHMARK_CAPTURE(take, LSH, "LSH", std::vector<double>{100, 100}, kSecond)->Apply(runs);
BENCHMARK_CAPTURE(take, LSH_grid, "LSH", std::vector<double>{100, 100, 1, 1, 1}, kSecond)
    ->Apply(runs);
BENCHMARK_CAPTURE(take, DFT_tuples, "DFT", std::vector<double>{500, 100, 8}, kSecond)->Apply(runs);
BENCHMARK_CAPTURE(take, DFT_grid, "DFT", std::vector<double>{1, 100, 500, 8}, kSecond)->Apply(runs);
BENCHMARK_CAPTURE(take, DFT_grid_ten_an_interval, "DFT", std::vector<double>{1, 100, 500, 8},
                  kSecond / 10)
    ->Apply(runs);
BENCHMARK(signature)->ArgNames({"window", "bits"})->Args({100, 100})->Args({500, 256});
BENCHMARK(signature_scalar)->ArgNames({"window", "bits"})->Args({100, 100})->Args({500, 256});
BENCHMARK_CAPTURE(window, LSH, "LSH", std::vector<double>{100, 100, 1, 1, 1}, 0);
BENCHMARK_CAPTURE(window, LSH_silent, "LSH", std::vector<double>{100, 100, 1, 1, 1}, 50);
BENCHMARK_CAPTURE(window, DFT, "DFT", std::vector<double>{1, 100, 500, 8}, 0);
BENCHMARK_CAPTURE(window, DFT_silent, "DFT", std::vector<double>{1, 100, 500, 8}, 150);

}  // namespace
}  // namespace weir::synopses
