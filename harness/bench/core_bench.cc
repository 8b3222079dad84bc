// Micro-benchmarks of core: ring, key look-up, scatter. Figures are a call's time over its items.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/batch.h"
#include "core/keys.h"
#include "core/ring.h"

namespace {

using weir::DatasetId;
using weir::Seq;
using weir::StreamId;
using namespace weir::core;

// One thread that claims, publishes and consumes: what an entry costs without any waiting.
void ring_publish_consume(benchmark::State& state) {
  SequencedRing<std::uint64_t> ring(16, 1);
  std::uint64_t seq = 0, sum = 0;
  for (auto _ : state) {
    if (!ring.has_room(Seq{seq})) state.SkipWithError("no room");
    ring.at(Seq{seq}) = seq;
    ring.publish(Seq{seq});
    if (ring.ready(Seq{seq})) sum += ring.at(Seq{seq});
    ring.consume(0, Seq{seq});
    ++seq;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ring_publish_consume);

// A second thread consumes: what an entry costs when it changes cores. Both yield when they wait.
void ring_hand_over(benchmark::State& state) {
  SequencedRing<std::uint64_t> ring(16, 1);
  std::atomic<bool> stop{false};
  std::thread consumer([&] {
    for (std::uint64_t seq = 0;; ++seq) {
      while (!ring.ready(Seq{seq})) {
        if (stop.load(std::memory_order_acquire) && !ring.ready(Seq{seq})) return;
        std::this_thread::yield();
      }
      benchmark::DoNotOptimize(ring.at(Seq{seq}));
      ring.consume(0, Seq{seq});
    }
  });
  std::uint64_t seq = 0;
  for (auto _ : state) {
    while (!ring.has_room(Seq{seq})) std::this_thread::yield();
    ring.at(Seq{seq}) = seq;
    ring.publish(Seq{seq});
    ++seq;
  }
  stop.store(true, std::memory_order_release);
  consumer.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ring_hand_over)->UseRealTime();

// Stream names as they stand in a block, each look-up in another place.
struct Names {
  std::string bytes;
  std::vector<std::uint32_t> offset;
  std::vector<std::uint32_t> length;

  Names(KeyTable& table, std::uint32_t streams, std::uint32_t lookups, const char* stem) {
    const DatasetId dataset = table.dataset("bench");
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < streams; ++i) {
      names.push_back(std::string(stem).append(std::to_string(i)));
      table.find_or_add(dataset, names.back());
    }
    std::mt19937_64 random(5);
    for (std::uint32_t i = 0; i < lookups; ++i) {
      const std::string& name = names[random() % streams];
      offset.push_back(static_cast<std::uint32_t>(bytes.size()));
      length.push_back(static_cast<std::uint32_t>(name.size()));
      bytes += name;
    }
  }
};

void look_up(benchmark::State& state, const char* stem) {
  constexpr std::uint32_t kLookups = 1 << 20;
  KeyTable table;
  const Names names(table, static_cast<std::uint32_t>(state.range(0)), kLookups, stem);
  const DatasetId dataset = table.dataset("bench");
  for (auto _ : state) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kLookups; ++i) {
      sum +=
          raw(table.find_or_add(dataset, {names.bytes.data() + names.offset[i], names.length[i]}));
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kLookups);
}
void key_look_up(benchmark::State& state) { look_up(state, "S"); }
void key_look_up_long_names(benchmark::State& state) {
  look_up(state, "building-7/floor-3/meter-");
}
BENCHMARK(key_look_up)->Arg(100)->Arg(32'768)->Arg(1'000'000);
BENCHMARK(key_look_up_long_names)->Arg(100)->Arg(32'768);

// Blocks of 2 400 tuples (256 KiB of records), enough of them that 1 000 000 streams do not all
// stay in cache. Arguments: streams, workers, fields.
void scatter(benchmark::State& state) {
  constexpr std::uint32_t kTuples = 2400, kBlocks = 64;
  const auto streams = static_cast<std::uint32_t>(state.range(0));
  const auto fields = static_cast<std::size_t>(state.range(2));
  KeyTable table;
  const DatasetId dataset = table.dataset("bench");
  for (std::uint32_t i = 0; i < streams; ++i) table.find_or_add(dataset, std::to_string(i));
  std::mt19937_64 random(5);
  std::vector<Columns> blocks(kBlocks);
  for (Columns& columns : blocks) {
    columns.reset(fields);
    for (std::uint32_t i = 0; i < kTuples; ++i) {
      columns.record.push_back(i);
      columns.time.push_back(i);
      columns.stream.push_back(StreamId{static_cast<std::uint32_t>(random() % streams)});
      for (Column& field : columns.fields) field.bits.push_back(random());
    }
  }
  Routes routes;
  routes.workers = static_cast<std::uint32_t>(state.range(1));
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    routes.slot_owner[slot] = static_cast<std::uint16_t>(slot % routes.workers);
  }
  std::vector<Batch> batches(routes.workers);
  Scatter scatter;
  std::size_t i = 0;
  for (auto _ : state) {
    scatter.run(blocks[i++ % kBlocks], table, routes, batches);
    benchmark::DoNotOptimize(batches.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kTuples);
}
BENCHMARK(scatter)
    ->ArgNames({"streams", "workers", "fields"})
    ->Args({100, 1, 1})
    ->Args({100, 2, 1})
    ->Args({100, 2, 4})
    ->Args({10'000, 2, 1})
    ->Args({1'000'000, 2, 1});

}  // namespace
