// Nanoseconds a value of Lossy Counting and Sticky Sampling: batches of one stream (25 values, as a
// block of 100 streams gives, and 4096), beside a straw man of each that keeps a standard map and
// prunes or tosses as the paper words it. A stream of values that never repeat is the hardest for
// Lossy Counting: every value is taken in and forgotten again. Every run starts with what a million
// values of its distribution left.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "synopses/hash.h"
#include "synopses/registry.h"

namespace weir::synopses {
namespace {

constexpr std::size_t kValues = 1 << 20;
constexpr double kEpsilon = 1e-3;

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

std::span<const std::uint64_t> values(bool zipf) {
  static const std::vector<std::uint64_t> kAll[] = {make_values(false), make_values(true)};
  return kAll[zipf];
}

// Calls `update` with one run of values after another, for ever.
template <class Update>
void measure(benchmark::State& state, const Update& update) {
  const auto run = static_cast<std::size_t>(state.range(0));
  const auto all = values(state.range(1) != 0);
  update(all);
  std::size_t at = 0;
  for (auto _ : state) {
    update(all.subspan(at, run));
    at = at + 2 * run <= all.size() ? at + run : 0;
  }
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(run);
  state.counters["ns_a_value"] =
      benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

void synopsis(benchmark::State& state, const char* name, const std::vector<double>& params) {
  const SynopsisType& type = *find_type(name);
  std::vector<Scalar> scalars;
  for (const double param : params) scalars.push_back({core::number(param)});
  const auto made = *type.create(*parse_params(type, std::span<const Scalar>(scalars)));
  core::Array<std::uint64_t> scratch;
  measure(state, [&](std::span<const std::uint64_t> bits) {
    made->update(Items(bits, nullptr, nullptr, scratch));
  });
}

void lossy_straw_man(benchmark::State& state) {
  struct Entry {
    std::uint64_t f, delta;
  };
  constexpr std::uint64_t kWidth = 1'000;
  std::unordered_map<std::uint64_t, Entry> entries;
  std::uint64_t n = 0;
  measure(state, [&](std::span<const std::uint64_t> bits) {
    for (const std::uint64_t value : bits) {
      ++entries.try_emplace(value, Entry{0, n / kWidth}).first->second.f;
      if (++n % kWidth != 0) continue;
      std::erase_if(entries, [now = n / kWidth](const auto& entry) {
        return entry.second.f + entry.second.delta <= now;
      });
    }
  });
}

void sticky_straw_man(benchmark::State& state, std::uint64_t t) {
  std::unordered_map<std::uint64_t, std::uint64_t> entries;
  std::uint64_t n = 0, rate = 1, random = 1;
  measure(state, [&](std::span<const std::uint64_t> bits) {
    for (const std::uint64_t value : bits) {
      random = mix(random + kGolden);
      if (const auto at = entries.find(value); at != entries.end()) {
        ++at->second;
      } else if ((random & (rate - 1)) == 0) {
        entries.emplace(value, 1);
      }
      if (++n < 2 * t * rate) continue;
      rate *= 2;
      for (auto& [item, count] : entries) {
        random = mix(random + kGolden);
        count -= std::min<std::uint64_t>(count, std::countr_zero(random));
      }
      std::erase_if(entries, [](const auto& entry) { return entry.second == 0; });
    }
  });
}

void apply_runs(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"run", "zipf"});
  for (const int run : {25, 4096}) {
    for (const int distribution : {0, 1}) bench->Args({run, distribution});
  }
}

BENCHMARK_CAPTURE(synopsis, lossy_counting, "LossyCounting", {kEpsilon})->Apply(apply_runs);
BENCHMARK(lossy_straw_man)->Apply(apply_runs);
BENCHMARK_CAPTURE(synopsis, sticky_sampling, "StickySampling", {0.01, kEpsilon, 0.01})
    ->Apply(apply_runs);
BENCHMARK_CAPTURE(sticky_straw_man, t_9211, 9'211)->Apply(apply_runs);

}  // namespace
}  // namespace weir::synopses
