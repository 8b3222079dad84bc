// Lossy Counting and Sticky Sampling, beside a straw man of each that keeps a standard map and
// prunes or tosses as the paper words it. A stream of values that never repeat is the hardest for
// Lossy Counting: every value is taken in and forgotten again.
#include <benchmark/benchmark.h>

#include <bit>
#include <unordered_map>

#include "harness/bench/synopses_bench.h"
#include "synopses/hash.h"

namespace weir::synopses {
namespace {

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

BENCHMARK_CAPTURE(one_stream, LossyCounting, kLossy)->Apply(runs);
BENCHMARK(lossy_straw_man)->Name("straw_man/LossyCounting")->Apply(runs);
BENCHMARK_CAPTURE(one_stream, LossyCounting_weighted, kLossy, true)->Apply(runs);
BENCHMARK_CAPTURE(one_stream, StickySampling, kSticky)->Apply(runs);
BENCHMARK_CAPTURE(sticky_straw_man, t_9211, 9'211)->Name("straw_man/StickySampling")->Apply(runs);
BENCHMARK_CAPTURE(hundred_streams, LossyCounting, {kLossy})->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, StickySampling, {kSticky})->Apply(short_runs);

}  // namespace
}  // namespace weir::synopses
