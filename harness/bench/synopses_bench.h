// What the benchmarks of synopses share: values, kinds by name, and the loops that measure an
// update, so that all rows of the table in docs/performance.md count the same.
//
// Benchmarks are called
//   one_stream/KIND       batches of one stream, of `run` values each
//   hundred_streams/KIND  each batch for another of a hundred synopses, in a random order
//   scalar_twin/KIND, straw_man/KIND, straw_man_hundred/KIND
//                         the same work by the kernel's scalar twin, or by the code one would write
//                         first
// with run:25 (what a block of 100 streams gives) or run:4096, and zipf:0 (uniform doubles, which
// hardly repeat) or zipf:1 (exponent 1.1 over 100 000 items). All begin with what half a million
// values left, and give items, that is values, a second. A figure counts everything a worker does
// for a run: hashing, the update, and the call.
//
// Thread safety: thread-compatible.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "synopses/registry.h"

namespace weir::synopses {

inline constexpr std::size_t kValues = 1 << 19;  // 4 MiB, read in order
inline constexpr std::size_t kSketches = 100;

enum Distribution { kUniform, kZipf };

// A share of the way through a generator's range, below 1.
inline double share(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

inline std::vector<std::uint64_t> make_values(int distribution) {
  std::mt19937_64 random(1);
  std::vector<double> cumulative;
  double sum = 0;
  for (int i = 1; i <= 100'000; ++i) cumulative.push_back(sum += std::pow(i, -1.1));
  std::vector<std::uint64_t> bits;
  bits.reserve(kValues);
  for (std::size_t i = 0; i < kValues; ++i) {
    const double u = share(random);
    double value = 100.0 * u;
    if (distribution == kZipf) {
      const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), u * sum);
      value = 0.0001 * static_cast<double>(at - cumulative.begin()) + 1.0;
    }
    bits.push_back(core::number(value).bits);
  }
  return bits;
}

inline std::span<const std::uint64_t> values(std::int64_t distribution) {
  static const std::vector<std::uint64_t> kAll[] = {make_values(kUniform), make_values(kZipf)};
  return kAll[distribution];
}

// A kind and its parameters, in order.
struct Shape {
  const char* name;
  std::vector<double> numbers;

  Params params() const {
    std::vector<Scalar> scalars;
    for (const double number : numbers) scalars.push_back({core::number(number)});
    return *parse_params(*find_type(name), std::span<const Scalar>(scalars));
  }
  std::unique_ptr<Synopsis> make() const { return *find_type(name)->create(params()); }
};

// What the whole job builds (harness/synopses.cc).
inline const Shape kCountMin{"CountMin", {0.002, 0.99}};
inline const Shape kHyperLogLog{"HyperLogLog", {0.02}};
inline const Shape kBloom{"BloomFilter", {100'000, 0.01}};
inline const Shape kDft{"DFT", {500, 200, 8}};
inline const Shape kLossy{"LossyCounting", {1e-3}};
inline const Shape kSticky{"StickySampling", {0.01, 1e-3, 0.01}};
inline const Shape kAms{"AMS", {5, 1024}};
inline const Shape kGk{"GKQuantiles", {0.01}};
inline const Shape kLsh{"LSH", {100, 100}};
inline const Shape kWindow{"WindowSketchQuantiles", {0.01, 20'000}};

inline void report(benchmark::State& state, double values_a_turn) {
  const double total = static_cast<double>(state.iterations()) * values_a_turn;
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

// Calls update(values) with one run of range(0) values of distribution range(1) after another, a
// million values (or `before`) before time is taken.
template <class Update>
void measure(benchmark::State& state, const Update& update, std::size_t before = kValues) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(state.range(1));
  for (std::size_t i = 0; i + run <= before; i += run) update(all.subspan(i, run));
  std::size_t at = 0;
  for (auto _ : state) {
    update(all.subspan(at, run));
    benchmark::ClobberMemory();
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, static_cast<double>(run));
}

// Calls update(which of a hundred, values), some thousand values of each before time is taken.
template <class Update>
void measure_hundred(benchmark::State& state, const Update& update) {
  std::mt19937_64 random(2);
  std::vector<std::size_t> order(4096);
  for (std::size_t& stream : order) stream = random() % kSketches;
  std::size_t turn = 0;
  measure(state,
          [&](std::span<const std::uint64_t> bits) { update(order[turn++ % order.size()], bits); });
}

inline void one_stream(benchmark::State& state, const Shape& shape, bool weighted = false) {
  const auto synopsis = shape.make();
  std::vector<std::int64_t> weights(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::int64_t>(i % 100);
  const ItemExtras extras{weighted ? weights.data() : nullptr};
  core::Array<std::uint64_t> scratch;
  measure(state, [&](std::span<const std::uint64_t> bits) {
    synopsis->update(Items(bits, nullptr, nullptr, scratch, extras));
  });
}

// The hundred are clones of one that saw half a million values, so that each is as far as that.
inline void hundred_streams(benchmark::State& state, const std::vector<Shape>& shapes) {
  core::Array<std::uint64_t> scratch;
  std::vector<std::unique_ptr<Synopsis>> seen;
  for (const Shape& shape : shapes) {
    seen.push_back(shape.make());
    seen.back()->update(Items(values(state.range(1)), nullptr, nullptr, scratch));
  }
  std::vector<std::unique_ptr<Synopsis>> synopses;
  for (std::size_t i = 0; i < kSketches; ++i) {
    for (const auto& each : seen) synopses.push_back(each->clone());
  }
  measure_hundred(state, [&](std::size_t stream, std::span<const std::uint64_t> bits) {
    const Items items(bits, nullptr, nullptr, scratch);
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      synopses[stream * shapes.size() + s]->update(items);
    }
  });
}

inline void apply(benchmark::internal::Benchmark* bench, std::initializer_list<int> runs) {
  bench->ArgNames({"run", "zipf"});
  for (const int run : runs) {
    for (const int distribution : {kUniform, kZipf}) bench->Args({run, distribution});
  }
}
inline void runs(benchmark::internal::Benchmark* bench) { apply(bench, {25, 4096}); }
inline void short_runs(benchmark::internal::Benchmark* bench) { apply(bench, {1, 25}); }

}  // namespace weir::synopses
