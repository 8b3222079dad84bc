// Nanoseconds a value of each synopsis: batches of one stream (25 values, as a block of 100 streams
// gives, and 4096), 100 sketches in turn, each beside its scalar twin or a straw man. Figures count
// everything a worker does for a run: hashing, the update, and the call.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "synopses/count_min.h"
#include "synopses/count_min_kernel.h"
#include "synopses/dft_kernel.h"
#include "synopses/hash.h"
#include "synopses/hyper_log_log_kernel.h"
#include "synopses/registry.h"
#include "synopses/twiddles.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kValues = 1 << 16;  // a workload; 512 KiB, read in order
constexpr std::size_t kSketches = 100;

enum Distribution { kUniform, kZipf };

std::vector<std::uint64_t> make_values(int distribution) {
  std::mt19937_64 random(1);
  std::vector<double> cumulative;
  double sum = 0;
  for (int i = 1; i <= 100'000; ++i) cumulative.push_back(sum += std::pow(i, -1.1));
  std::vector<std::uint64_t> bits;
  for (std::size_t i = 0; i < kValues; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const double rank = static_cast<double>(
        std::upper_bound(cumulative.begin(), cumulative.end(), u * sum) - cumulative.begin());
    bits.push_back(core::number(distribution == kUniform ? u * 100.0 : 0.0001 * rank + 1.0).bits);
  }
  return bits;
}

std::span<const std::uint64_t> values(int distribution) {
  static const std::vector<std::uint64_t> kAll[] = {make_values(kUniform), make_values(kZipf)};
  return kAll[distribution];
}

Params params_of(const char* name) {
  const std::vector<double> numbers =
      std::string_view(name) == "CountMin" ? std::vector{0.002, 0.99}
      : std::string_view(name) == "DFT"    ? std::vector{500.0, 200.0, 8.0}
                                           : std::vector{0.02};
  std::vector<Scalar> scalars;
  for (const double number : numbers) scalars.push_back({core::number(number)});
  return *parse_params(*find_type(name), std::span<const Scalar>(scalars));
}

std::unique_ptr<Synopsis> make(const char* name) {
  return *find_type(name)->create(params_of(name));
}

void report(benchmark::State& state, std::size_t run) {
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(run);
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

// range(0): values a run; range(1): distribution.
void one_stream(benchmark::State& state, const char* name) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  const auto synopsis = make(name);
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0;
  for (auto _ : state) {
    synopsis->update(Items(all.subspan(at, run), nullptr, nullptr, scratch));
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

// Runs of 25 values, each for another of 100 streams: what a block of 256 KiB looks like.
void hundred_streams(benchmark::State& state, const std::vector<const char*>& names) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  std::vector<std::unique_ptr<Synopsis>> synopses;
  for (std::size_t i = 0; i < kSketches; ++i) {
    for (const char* name : names) synopses.push_back(make(name));
  }
  std::mt19937_64 random(2);
  std::vector<std::size_t> order(4096);
  for (std::size_t& stream : order) stream = random() % kSketches;
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0, turn = 0;
  for (auto _ : state) {
    const Items items(all.subspan(at, run), nullptr, nullptr, scratch);
    const std::size_t first = order[turn++ % order.size()] * names.size();
    for (std::size_t s = 0; s < names.size(); ++s) synopses[first + s]->update(items);
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

void apply_runs(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf"});
  for (const int run : {25, 4096}) {
    for (const int distribution : {kUniform, kZipf}) bench->Args({run, distribution});
  }
}

void hash_only(benchmark::State& state) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  std::vector<std::uint64_t> hashes(run);
  std::size_t at = 0;
  for (auto _ : state) {
    hash_values(all.data() + at, nullptr, nullptr, run, hashes.data());
    benchmark::DoNotOptimize(hashes.data());
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

// The straw man of CountMin: 5 × 1360 cells of 32 bits, rows by double hashing, value by value.
void count_min_straw_man(benchmark::State& state, std::size_t sketches) {
  constexpr std::size_t kRows = 5, kWidth = 1360;
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  std::vector<std::vector<std::uint32_t>> tables(sketches,
                                                 std::vector<std::uint32_t>(kRows * kWidth));
  std::mt19937_64 random(2);
  std::size_t at = 0;
  for (auto _ : state) {
    std::uint32_t* table = tables[random() % sketches].data();
    for (const std::uint64_t bits : all.subspan(at, run)) {
      const std::uint64_t hash = seeded(hash_number(bits, core::Kind::kNumber), 1);
      const auto low = static_cast<std::uint32_t>(hash);
      const auto high = static_cast<std::uint32_t>(hash >> 32) | 1;
      for (std::uint32_t r = 0; r < kRows; ++r) {
        ++table[r * kWidth + ((std::uint64_t{low + r * high} * kWidth) >> 32)];
      }
    }
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

// CountMin with its scalar twins.
void count_min_scalar(benchmark::State& state) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  const CountMin::Shape shape = CountMin::shape_for(0.002, 0.01);
  std::vector<HashRow> rows;
  SeedSequence random(1);
  for (std::uint32_t r = 0; r < shape.rows; ++r) {
    const std::uint64_t a = random.next(), b = random.next(), c = random.next();
    rows.push_back({a, b, c});
  }
  std::vector<std::uint16_t> table(std::size_t{shape.rows} * shape.width);
  std::vector<std::uint64_t> hashes(run);
  std::vector<std::uint32_t> cells(shape.rows * run);
  std::size_t at = 0;
  for (auto _ : state) {
    hash_doubles_scalar(all.data() + at, run, hashes.data());
    cells_of_scalar(rows, shape.width, hashes.data(), run, cells.data(), run);
    for (std::uint32_t r = 0; r < shape.rows; ++r) {
      for (std::size_t i = 0; i < run; ++i) ++table[r * shape.width + cells[r * run + i]];
    }
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

void hyper_log_log_scalar(benchmark::State& state) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  std::vector<std::uint8_t> registers(1 << 12);
  std::vector<std::uint64_t> hashes(run);
  std::size_t at = 0;
  for (auto _ : state) {
    hash_doubles_scalar(all.data() + at, run, hashes.data());
    raise_registers_scalar(hashes.data(), run, seed_key(1), 12, registers.data());
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

void dft_scalar(benchmark::State& state) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  const auto twiddles = Twiddles::make(500, 100, 8);
  std::vector<double> sums(twiddles->stride);
  DftMoments moments{};
  std::size_t at = 0;
  for (auto _ : state) {
    for (std::size_t done = 0; done < run; done += kDftLeaf) {
      add_to_digest_scalar(all.data() + at + done, std::min<std::size_t>(kDftLeaf, run - done),
                           twiddles->rows.data(), twiddles->stride, sums.data(), moments);
    }
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

BENCHMARK(hash_only)->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, CountMin, "CountMin")->Apply(apply_runs);
BENCHMARK(count_min_scalar)->Apply(apply_runs);
BENCHMARK_CAPTURE(count_min_straw_man, one, std::size_t{1})->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, HyperLogLog, "HyperLogLog")->Apply(apply_runs);
BENCHMARK(hyper_log_log_scalar)->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, DFT, "DFT")->Apply(apply_runs);
BENCHMARK(dft_scalar)->Apply(apply_runs);

void apply_short_runs(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf"});
  for (const int run : {1, 25}) {
    for (const int distribution : {kUniform, kZipf}) bench->Args({run, distribution});
  }
}
BENCHMARK_CAPTURE(hundred_streams, CountMin, std::vector<const char*>{"CountMin"})
    ->Apply(apply_short_runs);
BENCHMARK_CAPTURE(count_min_straw_man, hundred, kSketches)->Apply(apply_short_runs);
BENCHMARK_CAPTURE(hundred_streams, HyperLogLog, std::vector<const char*>{"HyperLogLog"})
    ->Apply(apply_short_runs);
BENCHMARK_CAPTURE(hundred_streams, DFT, std::vector<const char*>{"DFT"})->Apply(apply_short_runs);
BENCHMARK_CAPTURE(hundred_streams, all_three,
                  std::vector<const char*>{"CountMin", "HyperLogLog", "DFT"})
    ->Apply(apply_short_runs);

}  // namespace
}  // namespace weir::synopses
