// Nanoseconds a value of the Bloom filter, AMS and CountMin with weights: batches of one stream,
// each beside its scalar twin or a straw man that hashes and touches memory value by value. Figures
// count everything a worker does for a run: hashing, the update, and the call.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "synopses/ams_kernel.h"
#include "synopses/bloom_filter.h"
#include "synopses/hash.h"
#include "synopses/registry.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kValues = 1 << 20;  // 8 MiB, read in order; enough to fill a filter

enum Distribution { kUniform, kZipf };

std::vector<std::uint64_t> make_values(int distribution) {
  std::mt19937_64 random(1);
  std::vector<double> cumulative;
  double sum = 0;
  for (int i = 1; i <= 100'000; ++i) cumulative.push_back(sum += std::pow(i, -1.1));
  std::vector<std::uint64_t> bits;
  for (std::size_t i = 0; i < kValues; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const double rank =
        distribution == kUniform
            ? 0.0
            : static_cast<double>(std::upper_bound(cumulative.begin(), cumulative.end(), u * sum) -
                                  cumulative.begin());
    bits.push_back(core::number(distribution == kUniform ? u * 100.0 : 0.0001 * rank + 1.0).bits);
  }
  return bits;
}

std::span<const std::uint64_t> values(int distribution) {
  static const std::vector<std::uint64_t> kAll[] = {make_values(kUniform), make_values(kZipf)};
  return kAll[distribution];
}

void report(benchmark::State& state, std::size_t run) {
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(run);
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

// range(0): values a run; range(1): distribution.
void one_stream(benchmark::State& state, const char* name, std::vector<double> numbers,
                bool weighted) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  const SynopsisType& type = *find_type(name);
  std::vector<Scalar> scalars;
  for (const double number : numbers) scalars.push_back({core::number(number)});
  const auto synopsis = *type.create(*parse_params(type, std::span<const Scalar>(scalars)));
  std::vector<std::int64_t> weights(run);
  for (std::size_t i = 0; i < run; ++i) weights[i] = static_cast<std::int64_t>(i % 100);
  const ItemExtras extras{weighted ? weights.data() : nullptr};
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0;
  for (auto _ : state) {
    synopsis->update(Items(all.subspan(at, run), nullptr, nullptr, scratch, extras));
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

// The classic filter: m = -n·ln p/ln²2 bits, k of them anywhere, by double hashing.
void bloom_straw_man(benchmark::State& state) {
  constexpr std::uint64_t kBits = 9'585'059;
  constexpr int kHashes = 7;
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  std::vector<std::uint64_t> words(kBits / 64 + 1);
  std::size_t at = 0;
  for (auto _ : state) {
    for (const std::uint64_t bits : all.subspan(at, run)) {
      const std::uint64_t hash = seeded(hash_number(bits, core::Kind::kNumber), 1);
      const auto low = static_cast<std::uint32_t>(hash);
      const auto high = static_cast<std::uint32_t>(hash >> 32) | 1;
      for (std::uint32_t k = 0; k < kHashes; ++k) {
        const std::uint64_t bit = (std::uint64_t{low + k * high} * kBits) >> 32;
        words[bit / 64] |= std::uint64_t{1} << (bit % 64);
      }
    }
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

void bloom_scalar(benchmark::State& state) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  const BloomShape shape = *BloomFilter::shape_for(1'000'000, 0.01);
  std::vector<std::uint64_t> words(shape.all_words());
  std::vector<std::uint64_t> hashes(run);
  std::size_t at = 0;
  for (auto _ : state) {
    hash_doubles_scalar(all.data() + at, run, hashes.data());
    set_bloom_bits_scalar(hashes.data(), run, seed_key(1), shape, words.data());
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

// One hash an item, value by value: the shape of the goal's straw man.
void ams_straw_man(benchmark::State& state, std::uint32_t depth, std::uint32_t buckets) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  std::vector<std::int64_t> cells(std::size_t{depth} * buckets);
  std::size_t at = 0;
  for (auto _ : state) {
    for (const std::uint64_t bits : all.subspan(at, run)) {
      const std::uint64_t hash = seeded(hash_number(bits, core::Kind::kNumber), 1);
      const auto low = static_cast<std::uint32_t>(hash);
      const auto high = static_cast<std::uint32_t>(hash >> 32) | 1;
      for (std::uint32_t r = 0; r < depth; ++r) {
        const std::uint32_t place = ams_place(low + r * high, buckets);
        cells[std::size_t{r} * buckets + (place >> 1)] += ams_signed(place, 1);
      }
    }
    benchmark::ClobberMemory();
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

BENCHMARK_CAPTURE(one_stream, Bloom_1M_1pc, "BloomFilter", std::vector{1e6, 0.01}, false)
    ->Apply(apply_runs);
BENCHMARK(bloom_scalar)->Apply(apply_runs);
BENCHMARK(bloom_straw_man)->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, AMS_5x1024, "AMS", std::vector{5.0, 1024.0}, false)
    ->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, AMS_5x1024_weighted, "AMS", std::vector{5.0, 1024.0}, true)
    ->Apply(apply_runs);
BENCHMARK_CAPTURE(ams_straw_man, 5x1024, 5u, 1024u)->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, AMS_10x10000, "AMS", std::vector{10.0, 10'000.0}, false)
    ->Apply(apply_runs);
BENCHMARK_CAPTURE(ams_straw_man, 10x10000, 10u, 10'000u)->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, CountMin_0_002_unweighted, "CountMin", std::vector{0.002, 0.99},
                  false)
    ->Apply(apply_runs);
BENCHMARK_CAPTURE(one_stream, CountMin_0_002_weighted, "CountMin", std::vector{0.002, 0.99}, true)
    ->Apply(apply_runs);

}  // namespace
}  // namespace weir::synopses
