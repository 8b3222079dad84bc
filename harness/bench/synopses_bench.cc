// The synopses of the paper's throughput experiment, CountMin, HyperLogLog and DFT, and several
// together; beside them their scalar twins and the CountMin one would write first.
#include <benchmark/benchmark.h>

#include "harness/bench/synopses_bench.h"

#include "synopses/count_min.h"
#include "synopses/count_min_kernel.h"
#include "synopses/dft_kernel.h"
#include "synopses/hash.h"
#include "synopses/hyper_log_log_kernel.h"
#include "synopses/twiddles.h"

namespace weir::synopses {
namespace {

void hash_only(benchmark::State& state) {
  std::vector<std::uint64_t> hashes(kValues);
  measure(state, [&](std::span<const std::uint64_t> bits) {
    hash_values(bits.data(), nullptr, nullptr, bits.size(), hashes.data());
    benchmark::DoNotOptimize(hashes.data());
  });
}
BENCHMARK(hash_only)->Apply(runs);

// 5 × 1360 cells of 32 bits, rows by double hashing, value by value.
class TextbookCountMin {
 public:
  void update(std::span<const std::uint64_t> values) {
    for (const std::uint64_t bits : values) {
      const std::uint64_t hash = seeded(hash_number(bits, core::Kind::kNumber), 1);
      const auto low = static_cast<std::uint32_t>(hash);
      const auto high = static_cast<std::uint32_t>(hash >> 32) | 1;
      for (std::uint32_t r = 0; r < kRows; ++r) {
        ++cells_[r * kWidth + ((std::uint64_t{low + r * high} * kWidth) >> 32)];
      }
    }
  }

 private:
  static constexpr std::size_t kRows = 5, kWidth = 1360;
  std::vector<std::uint32_t> cells_ = std::vector<std::uint32_t>(kRows * kWidth);
};

void straw_man(benchmark::State& state) {
  TextbookCountMin table;
  measure(state, [&](std::span<const std::uint64_t> bits) { table.update(bits); });
}
void straw_man_hundred(benchmark::State& state) {
  std::vector<TextbookCountMin> tables(kSketches);
  measure_hundred(state, [&](std::size_t stream, std::span<const std::uint64_t> bits) {
    tables[stream].update(bits);
  });
}

void count_min_scalar(benchmark::State& state) {
  const CountMin::Shape shape = CountMin::shape_for(0.002, 0.01);
  std::vector<HashRow> rows;
  SeedSequence random(1);
  for (std::uint32_t r = 0; r < shape.rows; ++r) {
    const std::uint64_t a = random.next(), b = random.next(), c = random.next();
    rows.push_back({a, b, c});
  }
  std::vector<std::uint16_t> table(std::size_t{shape.rows} * shape.width);
  const auto run = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint64_t> hashes(run);
  std::vector<std::uint32_t> cells(shape.rows * run);
  measure(state, [&](std::span<const std::uint64_t> bits) {
    hash_doubles_scalar(bits.data(), run, hashes.data());
    cells_of_scalar(rows, shape.width, hashes.data(), run, cells.data(), run);
    for (std::uint32_t r = 0; r < shape.rows; ++r) {
      for (std::size_t i = 0; i < run; ++i) ++table[r * shape.width + cells[r * run + i]];
    }
  });
}

void hyper_log_log_scalar(benchmark::State& state) {
  std::vector<std::uint8_t> registers(1 << 12);
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(state.range(0)));
  measure(state, [&](std::span<const std::uint64_t> bits) {
    hash_doubles_scalar(bits.data(), bits.size(), hashes.data());
    raise_registers_scalar(hashes.data(), bits.size(), seed_key(1), 12, registers.data());
  });
}

void dft_scalar(benchmark::State& state) {
  const auto twiddles = Twiddles::make(500, 100, 8);
  std::vector<double> sums(twiddles->stride);
  DftMoments moments{};
  measure(state, [&](std::span<const std::uint64_t> bits) {
    for (std::size_t done = 0; done < bits.size(); done += kDftLeaf) {
      add_to_digest_scalar(bits.data() + done, std::min<std::size_t>(kDftLeaf, bits.size() - done),
                           twiddles->rows.data(), twiddles->stride, sums.data(), moments);
    }
  });
}

BENCHMARK_CAPTURE(one_stream, CountMin, kCountMin)->Apply(runs);
BENCHMARK(count_min_scalar)->Name("scalar_twin/CountMin")->Apply(runs);
BENCHMARK(straw_man)->Name("straw_man/CountMin")->Apply(runs);
BENCHMARK_CAPTURE(one_stream, CountMin_weighted, kCountMin, true)->Apply(runs);
BENCHMARK_CAPTURE(one_stream, HyperLogLog, kHyperLogLog)->Apply(runs);
BENCHMARK(hyper_log_log_scalar)->Name("scalar_twin/HyperLogLog")->Apply(runs);
BENCHMARK_CAPTURE(one_stream, DFT, kDft)->Apply(runs);
BENCHMARK(dft_scalar)->Name("scalar_twin/DFT")->Apply(runs);

BENCHMARK_CAPTURE(hundred_streams, CountMin, {kCountMin})->Apply(short_runs);
BENCHMARK(straw_man_hundred)->Name("straw_man_hundred/CountMin")->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, HyperLogLog, {kHyperLogLog})->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, DFT, {kDft})->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, all_three, {kCountMin, kHyperLogLog, kDft})->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, all_ten,
                  {kCountMin, kHyperLogLog, kBloom, kDft, kLossy, kSticky, kAms, kGk, kLsh,
                   kWindow})
    ->Apply(short_runs);

}  // namespace
}  // namespace weir::synopses
