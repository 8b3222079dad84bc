// Nanoseconds a value through the interface of plug-ins: the example TopK, whose library
// WEIR_BENCH_PLUGIN names, beside a straw man of Space-Saving (hash map and ordered set).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "synopses/plugin.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kValues = 1 << 20;

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

void report(benchmark::State& state, std::size_t run) {
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(run);
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

// Range: values in a call, distribution, counters.
void top_k(benchmark::State& state) {
  const auto plugin = Plugin::open(WEIR_BENCH_PLUGIN);
  if (!plugin.ok()) return state.SkipWithError(plugin.status().message().c_str());
  const auto made = Plugin::type(*plugin)->create({0, {static_cast<double>(state.range(2))}});
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(static_cast<int>(state.range(1)));
  core::Array<std::uint64_t> scratch;
  std::size_t at = 0;
  for (auto _ : state) {
    (*made)->update(Items(all.subspan(at, run), nullptr, nullptr, scratch));
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

void top_k_straw_man(benchmark::State& state) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto k = static_cast<std::size_t>(state.range(2));
  const auto all = values(static_cast<int>(state.range(1)));
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  std::set<std::pair<std::uint64_t, std::uint64_t>> order;
  std::size_t at = 0;
  for (auto _ : state) {
    for (const std::uint64_t item : all.subspan(at, run)) {
      std::uint64_t count = 0;
      if (const auto found = counts.find(item); found != counts.end()) {
        count = found->second;
        order.erase({count, item});
      } else if (counts.size() == k) {
        count = order.begin()->first;
        counts.erase(order.begin()->second);
        order.erase(order.begin());
      }
      counts[item] = count + 1;
      order.emplace(count + 1, item);
    }
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  report(state, run);
}

void apply_runs(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf", "k"});
  for (const int k : {1'000, 100'000}) {
    for (const int run : {25, 4096}) {
      for (const int distribution : {kUniform, kZipf}) bench->Args({run, distribution, k});
    }
  }
}
BENCHMARK(top_k)->Apply(apply_runs);
BENCHMARK(top_k_straw_man)->Apply(apply_runs);

}  // namespace
}  // namespace weir::synopses
