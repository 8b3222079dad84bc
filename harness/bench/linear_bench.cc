// The Bloom filter and AMS, beside their scalar twins and what one would write first, which hashes
// and touches memory value by value.
#include <benchmark/benchmark.h>

#include "harness/bench/synopses_bench.h"
#include "synopses/ams_kernel.h"
#include "synopses/bloom_filter.h"
#include "synopses/hash.h"

namespace weir::synopses {
namespace {

const Shape kBloomOfAMillion{"BloomFilter", {1e6, 0.01}};
const Shape kWideAms{"AMS", {10, 10'000}};

// The classic filter: m = -n·ln p/ln²2 bits, k of them anywhere, by double hashing.
void bloom_straw_man(benchmark::State& state) {
  constexpr std::uint64_t kBits = 9'585'059;
  constexpr int kHashes = 7;
  std::vector<std::uint64_t> words(kBits / 64 + 1);
  measure(state, [&](std::span<const std::uint64_t> values) {
    for (const std::uint64_t bits : values) {
      const std::uint64_t hash = seeded(hash_number(bits, core::Kind::kNumber), 1);
      const auto low = static_cast<std::uint32_t>(hash);
      const auto high = static_cast<std::uint32_t>(hash >> 32) | 1;
      for (std::uint32_t k = 0; k < kHashes; ++k) {
        const std::uint64_t bit = (std::uint64_t{low + k * high} * kBits) >> 32;
        words[bit / 64] |= std::uint64_t{1} << (bit % 64);
      }
    }
  });
}

void bloom_scalar(benchmark::State& state) {
  const BloomShape shape = *BloomFilter::shape_for(1'000'000, 0.01);
  std::vector<std::uint64_t> words(shape.all_words());
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(state.range(0)));
  measure(state, [&](std::span<const std::uint64_t> bits) {
    hash_doubles_scalar(bits.data(), bits.size(), hashes.data());
    set_bloom_bits_scalar(hashes.data(), bits.size(), seed_key(1), shape, words.data());
  });
}

// One hash an item, value by value: the shape of the goal's straw man.
void ams_straw_man(benchmark::State& state, std::uint32_t depth, std::uint32_t buckets) {
  std::vector<std::int64_t> cells(std::size_t{depth} * buckets);
  measure(state, [&](std::span<const std::uint64_t> values) {
    for (const std::uint64_t bits : values) {
      const std::uint64_t hash = seeded(hash_number(bits, core::Kind::kNumber), 1);
      const auto low = static_cast<std::uint32_t>(hash);
      const auto high = static_cast<std::uint32_t>(hash >> 32) | 1;
      for (std::uint32_t r = 0; r < depth; ++r) {
        const std::uint32_t place = ams_place(low + r * high, buckets);
        cells[std::size_t{r} * buckets + (place >> 1)] += ams_signed(place, 1);
      }
    }
  });
}

// The signs and columns of AMS by the scalar twin, which shares a hash between two rows.
void ams_scalar(benchmark::State& state, std::uint32_t depth, std::uint32_t buckets) {
  constexpr std::size_t kPart = 256;  // so that places stay in the nearest cache
  std::vector<std::int64_t> cells(std::size_t{depth} * buckets);
  std::vector<std::uint64_t> keys((depth + 1) / 2), hashes(kPart);
  SeedSequence random(1);
  for (std::uint64_t& key : keys) key = random.next();
  std::vector<std::uint32_t> places(2 * keys.size() * kPart);
  measure(state, [&](std::span<const std::uint64_t> bits) {
    for (std::size_t done = 0; done < bits.size(); done += kPart) {
      const std::size_t n = std::min(kPart, bits.size() - done);
      hash_doubles_scalar(bits.data() + done, n, hashes.data());
      ams_places_scalar(keys, buckets, hashes.data(), n, places.data(), kPart);
      for (std::uint32_t r = 0; r < depth; ++r) {
        std::int64_t* row = cells.data() + std::size_t{r} * buckets;
        const std::uint32_t* place = places.data() + r * kPart;
        for (std::size_t i = 0; i < n; ++i) row[place[i] >> 1] += ams_signed(place[i], 1);
      }
    }
  });
}

BENCHMARK_CAPTURE(one_stream, BloomFilter, kBloomOfAMillion)->Apply(runs);
BENCHMARK(bloom_scalar)->Name("scalar_twin/BloomFilter")->Apply(runs);
BENCHMARK(bloom_straw_man)->Name("straw_man/BloomFilter")->Apply(runs);
BENCHMARK_CAPTURE(one_stream, AMS_5x1024, kAms)->Apply(runs);
BENCHMARK_CAPTURE(one_stream, AMS_5x1024_weighted, kAms, true)->Apply(runs);
BENCHMARK_CAPTURE(ams_scalar, 5x1024, 5u, 1024u)->Name("scalar_twin/AMS_5x1024")->Apply(runs);
BENCHMARK_CAPTURE(ams_straw_man, 5x1024, 5u, 1024u)->Name("straw_man/AMS_5x1024")->Apply(runs);
BENCHMARK_CAPTURE(one_stream, AMS_10x10000, kWideAms)->Apply(runs);
BENCHMARK_CAPTURE(ams_scalar, 10x10000, 10u, 10'000u)
    ->Name("scalar_twin/AMS_10x10000")
    ->Apply(runs);
BENCHMARK_CAPTURE(ams_straw_man, 10x10000, 10u, 10'000u)
    ->Name("straw_man/AMS_10x10000")
    ->Apply(runs);

// A hundred filters of 100 000 items are 13 MB, a hundred tables of AMS 4 MB.
BENCHMARK_CAPTURE(hundred_streams, BloomFilter, {kBloom})->Apply(short_runs);
BENCHMARK_CAPTURE(hundred_streams, AMS_5x1024, {kAms})->Apply(short_runs);

}  // namespace
}  // namespace weir::synopses
