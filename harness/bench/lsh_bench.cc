// LSH, and DFT and LSH on a grid of event time; microseconds a signature beside its scalar twin,
// and a window as a query that compares streams sees it.
#include "synopses/lsh.h"

#include <benchmark/benchmark.h>

#include <deque>

#include "harness/bench/synopses_bench.h"
#include "synopses/dft.h"
#include "synopses/hyperplanes.h"

namespace weir::synopses {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
const Shape kLshGrid{"LSH", {100, 100, 1, 1, 1}};
const Shape kDftGrid{"DFT", {1, 100, 500, 8}};

// A value every `gap` ns on average: with intervals of a second, 1e9 / gap values an interval.
std::vector<std::int64_t> make_times(std::size_t n, std::int64_t gap) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> times(n);
  std::int64_t time = 0;
  for (std::int64_t& each : times) {
    each = time += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * gap));
  }
  return times;
}

// Values with event times, which go on from round to round.
void on_a_grid(benchmark::State& state, const Shape& shape, std::int64_t gap) {
  constexpr std::size_t kTimes = 1 << 16;  // few enough to be moved on often
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto bits = values(state.range(1));
  std::vector<std::int64_t> times = make_times(kTimes, gap);
  const std::int64_t round = times.back() + gap;
  const auto synopsis = shape.make();
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0;
  for (auto _ : state) {
    const ItemExtras extras{nullptr, times.data() + at, times.data() + at};
    synopsis->update(Items(bits.subspan(at, run), nullptr, nullptr, scratch, extras));
    at += run;
    if (at + run <= kTimes) continue;
    at = 0;
    state.PauseTiming();
    for (std::int64_t& time : times) time += round;
    state.ResumeTiming();
  }
  report(state, static_cast<double>(run));
}

// What one would write first: a queue of the last values. Signatures are left to the query, too.
void queue_of_values(benchmark::State& state) {
  const auto window = static_cast<std::size_t>(kLsh.numbers[0]);
  std::deque<std::uint64_t> last;
  measure(state, [&](std::span<const std::uint64_t> run) {
    for (const std::uint64_t bits : run) {
      last.push_back(bits);
      if (last.size() > window) last.pop_front();
    }
  });
}

std::vector<double> window_of(std::size_t w) {
  std::mt19937_64 random(2);
  std::vector<double> window(w);
  for (double& value : window) value = share(random);
  return window;
}

// range(0): window; range(1): bits.
void signature(benchmark::State& state) {
  const auto w = static_cast<std::uint32_t>(state.range(0));
  const auto bits = static_cast<std::uint32_t>(state.range(1));
  const auto planes = Hyperplanes::make(w, bits, 1);
  const std::vector<double> window = window_of(w);
  for (auto _ : state) benchmark::DoNotOptimize(Lsh::sign(window, bits, *planes));
}

void signature_scalar(benchmark::State& state) {
  const auto w = static_cast<std::uint32_t>(state.range(0));
  const auto bits = static_cast<std::uint32_t>(state.range(1));
  const auto planes = Hyperplanes::make(w, bits, 1);
  const std::vector<double> window = window_of(w);
  std::vector<double> sums(planes->blocks() * kLshBlock);
  for (auto _ : state) {
    project_scalar(window.data(), w, planes->entries(), planes->blocks(), sums.data());
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  }
}

// What a search does for each stream before it compares any.
void window(benchmark::State& state, const Shape& shape, std::int64_t silent) {
  constexpr std::size_t kTaken = 1 << 16;
  const std::vector<std::int64_t> times = make_times(kTaken, kSecond);
  const auto synopsis = shape.make();
  core::Array<std::uint64_t> scratch;
  synopsis->update(Items(values(kUniform).first(kTaken), nullptr, nullptr, scratch,
                         {nullptr, times.data(), times.data()}));
  const std::int64_t now = times.back() / kSecond + silent;
  const auto* dft = dynamic_cast<const Dft*>(synopsis.get());
  for (auto _ : state) {
    if (dft != nullptr) {
      benchmark::DoNotOptimize(dft->grid_window(now));
    } else {
      benchmark::DoNotOptimize(static_cast<const Lsh&>(*synopsis).window(now));
    }
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"window", "bits"})->Args({100, 100})->Args({500, 256});
}

BENCHMARK_CAPTURE(one_stream, LSH, kLsh)->Apply(runs);
BENCHMARK(queue_of_values)->Name("straw_man/LSH")->Apply(runs);
BENCHMARK_CAPTURE(hundred_streams, LSH, {kLsh})->Apply(short_runs);
BENCHMARK_CAPTURE(on_a_grid, LSH, kLshGrid, kSecond)->Apply(runs);
BENCHMARK_CAPTURE(on_a_grid, DFT, kDftGrid, kSecond)->Apply(runs);
BENCHMARK_CAPTURE(on_a_grid, DFT_ten_an_interval, kDftGrid, kSecond / 10)->Apply(runs);
BENCHMARK(signature)->Name("one_stream/LSH_signature")->Apply(sizes);
BENCHMARK(signature_scalar)->Name("scalar_twin/LSH_signature")->Apply(sizes);
BENCHMARK_CAPTURE(window, LSH, kLshGrid, 0);
BENCHMARK_CAPTURE(window, LSH_silent, kLshGrid, 50);
BENCHMARK_CAPTURE(window, DFT, kDftGrid, 0);
BENCHMARK_CAPTURE(window, DFT_silent, kDftGrid, 150);

}  // namespace
}  // namespace weir::synopses
