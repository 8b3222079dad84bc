// The interface of plug-ins: the example TopK, whose library WEIR_BENCH_PLUGIN names, beside a
// straw man of Space-Saving (hash map and ordered set).
#include <benchmark/benchmark.h>

#include <set>
#include <unordered_map>

#include "harness/bench/synopses_bench.h"
#include "synopses/plugin.h"

namespace weir::synopses {
namespace {

// range(2): counters.
void top_k(benchmark::State& state) {
  const auto plugin = Plugin::open(WEIR_BENCH_PLUGIN);
  if (!plugin.ok()) return state.SkipWithError(plugin.status().message().c_str());
  const auto made = Plugin::type(*plugin)->create({0, {static_cast<double>(state.range(2))}});
  core::Array<std::uint64_t> scratch;
  measure(state, [&](std::span<const std::uint64_t> bits) {
    (*made)->update(Items(bits, nullptr, nullptr, scratch));
  });
}

void top_k_straw_man(benchmark::State& state) {
  const auto k = static_cast<std::size_t>(state.range(2));
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  std::set<std::pair<std::uint64_t, std::uint64_t>> order;
  measure(state, [&](std::span<const std::uint64_t> bits) {
    for (const std::uint64_t item : bits) {
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
  });
}

void runs_and_counters(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf", "k"});
  for (const int k : {1'000, 100'000}) {
    for (const int run : {25, 4096}) {
      for (const int distribution : {kUniform, kZipf}) bench->Args({run, distribution, k});
    }
  }
}
BENCHMARK(top_k)->Name("one_stream/TopK")->Apply(runs_and_counters);
BENCHMARK(top_k_straw_man)->Name("straw_man/TopK")->Apply(runs_and_counters);

}  // namespace
}  // namespace weir::synopses
