// Nanoseconds a record of the NDJSON decoder: generated saams and titan records of 100 streams in a
// block of 256 KiB, on every SIMD target, beside simdjson's dom with the same work on every line.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hwy/targets.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "ingest/json_decoder.h"
#include "ingest/json_record.h"
#include "ingest/json_sink.h"

namespace weir::ingest {
namespace {

constexpr std::size_t kBlockSize = 256 << 10;
constexpr std::uint64_t kStreams = 100;

// 107 bytes a record on average, prices that walk, a clock that goes on.
std::string saams_records() {
  std::mt19937_64 random(1);
  std::string bytes;
  double price = 6.0654;
  for (std::uint64_t i = 0;; ++i) {
    price = std::abs(price + static_cast<double>(random() % 2001) / 1e5 - 0.01) + 0.001;
    const std::uint64_t second = i / 20 % 86'400;
    std::string record = fmt::format(
        R"({{"streamID":"S{:04}","dataSetKey":"Forex","date":"01/02/2019","time":"{:02}:{:02}:{:02}",)"
        R"("price":{:.{}f},"volume":{}}})"
        "\n",
        random() % kStreams, second / 3600, second / 60 % 60, second % 60, price,
        4 + static_cast<int>(random() % 2), 1 + random() % 9);
    if (bytes.size() + record.size() > kBlockSize) return bytes;
    bytes += record;
  }
}

std::string titan_records() {
  std::mt19937_64 random(2);
  std::string bytes;
  for (std::uint64_t i = 0;; ++i) {
    std::string record =
        fmt::format(R"({{"identifier":"server{}","timestamp":{},"valueInW":{:.1f}}})"
                    "\n",
                    random() % kStreams, 1'574'000'000'000 + i * 7,
                    static_cast<double>(random() % 100'000) / 10);
    if (bytes.size() + record.size() > kBlockSize) return bytes;
    bytes += record;
  }
}

core::Block block_of(const std::string& bytes) {
  core::Block block;
  block.bytes.reserve(bytes.size() + core::kBlockPadding);
  block.bytes.append(bytes.data(), bytes.size());
  std::memset(block.bytes.data() + bytes.size(), 0, core::kBlockPadding);
  return block;
}

Layout layout_of(LayoutKind kind) {
  Layout layout;
  layout.kind = kind;
  return layout;
}
std::string records_of(LayoutKind kind) {
  return kind == LayoutKind::kTitan ? titan_records() : saams_records();
}
core::FieldSet field_of(LayoutKind kind) {
  return {{kind == LayoutKind::kTitan ? "valueInW" : "price"}};
}

void by_shape(benchmark::State& state, LayoutKind kind, std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  core::KeyTable keys;
  const auto decoder = make_json_decoder(layout_of(kind), keys);
  const core::Block block = block_of(records_of(kind));
  const core::FieldSet fields = field_of(kind);
  core::Columns columns;
  std::uint64_t records = 0;
  for (auto _ : state) {
    decoder->decode(block, fields, columns);
    benchmark::DoNotOptimize(columns.fields[0].bits.data());
    records += columns.tuples();
  }
  hwy::SetSupportedTargetsForTest(0);
  state.SetItemsProcessed(static_cast<std::int64_t>(records));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(block.bytes.size()));
  state.counters["record"] = benchmark::Counter(
      static_cast<double>(records), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void by_dom(benchmark::State& state, LayoutKind kind) {
  core::KeyTable keys;
  const JsonLayout layout = compile_json_layout(layout_of(kind));
  JsonRecordReader reader(layout, keys);
  const core::FieldSet fields = field_of(kind);
  reader.bind(fields);
  const core::Block block = block_of(records_of(kind));
  core::Columns columns;
  JsonSink sink;
  JsonRecordReader::Failure failure;
  std::uint64_t records = 0;
  for (auto _ : state) {
    columns.reset(1);
    sink.open(columns, block.bytes.size() / 7);
    const char* at = block.bytes.data();
    const char* const end = at + block.bytes.size();
    for (std::uint32_t i = 0; at != end; ++i) {
      const auto* newline =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      reader.read({at, static_cast<std::size_t>(newline - at)}, i, sink, failure);
      at = newline + 1;
    }
    sink.close(columns);
    records += columns.tuples();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(records));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(block.bytes.size()));
  state.counters["record"] = benchmark::Counter(
      static_cast<double>(records), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

const bool kRegistered = [] {
  for (const LayoutKind kind : {LayoutKind::kSaams, LayoutKind::kTitan}) {
    const std::string name = layout_of(kind).name();
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      benchmark::RegisterBenchmark(
          fmt::format("parse/{}/shape/{}", name, hwy::TargetName(target)).c_str(), by_shape, kind,
          target);
    }
    benchmark::RegisterBenchmark(fmt::format("parse/{}/dom", name).c_str(), by_dom, kind);
  }
  return true;
}();

}  // namespace
}  // namespace weir::ingest
