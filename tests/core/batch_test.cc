#include "core/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace weir::core {
namespace {

struct Input {
  KeyTable keys;
  Columns columns;
  Routes routes;
};

void add_streams(Input& input, std::uint32_t streams) {
  const DatasetId dataset = input.keys.dataset("D");
  for (std::uint32_t i = 0; i < streams; ++i) input.keys.find_or_add(dataset, std::to_string(i));
}

void fill_columns(Input& input, std::uint32_t tuples, std::size_t fields, std::mt19937_64& random) {
  Columns& columns = input.columns;
  columns.reset(fields);
  columns.records = 2 * tuples;
  for (std::uint32_t i = 0; i < tuples; ++i) {
    columns.record.push_back(2 * i + static_cast<std::uint32_t>(random() % 2));
    // Squared, so that some streams have many tuples and some none.
    const double share = std::generate_canonical<double, 53>(random);
    columns.stream.push_back(
        StreamId{static_cast<std::uint32_t>(share * share * input.keys.size())});
    columns.time.push_back(static_cast<std::int64_t>(i));
    for (std::size_t f = 0; f < fields; ++f) columns.fields[f].bits.push_back(random());
  }
  for (std::size_t f = 0; f < fields; f += 2) {  // every other field has kinds
    for (std::uint32_t i = 0; i < tuples; ++i) {
      columns.fields[f].kinds.push_back(static_cast<Kind>(random() % 5));
    }
  }
}

void fill_routes(Input& input, std::uint16_t workers, bool parts, std::mt19937_64& random) {
  input.routes = Routes{};
  input.routes.workers = workers;
  for (auto& owner : input.routes.slot_owner) {
    owner = static_cast<std::uint16_t>(random() % workers);
  }
  if (!parts) return;
  for (std::uint32_t id = 0; id < input.keys.size(); id += 3) {
    const std::uint16_t owner = input.routes.owner(input.keys.key(StreamId{id}));
    for (std::uint16_t w = 0; w < workers; ++w) {
      if (w != owner && random() % 2 == 0) input.routes.parts[id].push_back(w);
    }
  }
}

// What the batches must hold, told without any cleverness.
void expect_scattered(const Input& input, std::span<const Batch> batches) {
  const Columns& columns = input.columns;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < columns.tuples(); ++i) {
    const StreamId stream = columns.stream[i];
    expected[{input.routes.owner(input.keys.key(stream)), raw(stream)}].push_back(i);
    const auto parts = input.routes.parts.find(raw(stream));
    if (parts == input.routes.parts.end()) continue;
    for (const std::uint16_t w : parts->second) expected[{w, raw(stream)}].push_back(i);
  }
  std::size_t runs = 0;
  for (std::uint32_t w = 0; w < input.routes.workers; ++w) {
    const Batch& batch = batches[w];
    std::uint32_t covered = 0;
    for (const Run& run : batch.runs) {
      const auto at = expected.find({w, raw(run.stream)});
      ASSERT_NE(at, expected.end());
      ASSERT_EQ(run.count, at->second.size());
      ASSERT_EQ(run.begin, covered) << "runs lie one behind the other";
      covered += run.count;
      const bool owner = input.routes.owner(input.keys.key(run.stream)) == w;
      ASSERT_EQ(run.primary, owner);
      for (std::uint32_t i = 0; i < run.count; ++i) {
        ASSERT_EQ(batch.tuple[run.begin + i], at->second[i]);
      }
      ++runs;
    }
    ASSERT_EQ(batch.tuple.size(), covered);
    ASSERT_EQ(batch.fields.size(), columns.fields.size());
    for (std::size_t f = 0; f < columns.fields.size(); ++f) {
      const Column& from = columns.fields[f];
      const Column& to = batch.fields[f];
      ASSERT_EQ(to.bits.size(), covered);
      ASSERT_EQ(to.kinds.size(), from.kinds.empty() ? 0 : covered);
      for (std::uint32_t i = 0; i < covered; ++i) {
        ASSERT_EQ(to.bits[i], from.bits[batch.tuple[i]]);
        if (!from.kinds.empty()) {
          ASSERT_EQ(to.kinds[i], from.kinds[batch.tuple[i]]);
        }
      }
    }
  }
  ASSERT_EQ(runs, expected.size());
}

TEST(Scatter, AgreesWithANaiveGroupingOnRandomBlocks) {
  std::mt19937_64 random(11);
  Input input;
  Scatter scatter;
  std::vector<Batch> batches(5);  // reused, as a ring entry's are
  for (int round = 0; round < 120; ++round) {
    // Streams come while the scatter lives, as they do in a run.
    if (round % 10 == 0) add_streams(input, 1u << (round / 10));
    fill_columns(input, static_cast<std::uint32_t>(random() % 700), random() % 4, random);
    const auto workers = static_cast<std::uint16_t>(1 + random() % 5);
    const std::uint64_t version = input.routes.version + 1;
    fill_routes(input, workers, round % 2 == 1, random);
    input.routes.version = version;
    for (int again = 0; again < 2; ++again) {
      scatter.run(input.columns, input.keys, input.routes, batches);
      expect_scattered(input, batches);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Scatter, GivesEveryWorkerAnEmptyBatchForABlockWithoutTuples) {
  Input input;
  add_streams(input, 3);
  input.routes.workers = 2;
  input.columns.reset(1);
  std::vector<Batch> batches(2);
  batches[1].runs.push_back({StreamId{1}, 0, 7, true});
  batches[1].tuple.resize(7);
  Scatter scatter;
  scatter.run(input.columns, input.keys, input.routes, batches);
  for (const Batch& batch : batches) {
    EXPECT_TRUE(batch.runs.empty());
    EXPECT_TRUE(batch.tuple.empty());
    ASSERT_EQ(batch.fields.size(), 1u);
    EXPECT_TRUE(batch.fields[0].bits.empty());
  }
}

TEST(Scatter, ForgetsOwnersWhenTheRoutesChange) {
  Input input;
  add_streams(input, 50);
  std::mt19937_64 random(3);
  fill_columns(input, 200, 1, random);
  std::vector<Batch> batches(3);
  Scatter scatter;
  fill_routes(input, 3, false, random);
  scatter.run(input.columns, input.keys, input.routes, batches);
  Routes moved = input.routes;
  for (auto& owner : moved.slot_owner) owner = static_cast<std::uint16_t>((owner + 1) % 3);
  input.routes = std::move(moved);
  input.routes.version = 1;  // same address, new version
  scatter.run(input.columns, input.keys, input.routes, batches);
  expect_scattered(input, batches);
}

}  // namespace
}  // namespace weir::core
