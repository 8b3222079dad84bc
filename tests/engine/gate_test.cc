#include "engine/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ingest/layout.h"

namespace weir::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kHour = 3600 * kNanosPerSecond;
constexpr std::int64_t kDay = 24 * kHour;

// One record: rejected by its decoder, or a tuple, with a time or without.
struct Made {
  bool tuple = true;
  std::int64_t time = kNoTime.ns;
};
Made at(std::int64_t time) { return {true, time}; }

struct Setting {
  Setting() {
    layout = *ingest::layout_by_name("titan");
    routes->workers = 3;
    for (std::size_t slot = 0; slot < routes->slot_owner.size(); ++slot) {
      routes->slot_owner[slot] = static_cast<std::uint16_t>(slot % 3);
    }
    for (int i = 0; i < 7; ++i) {
      streams.push_back(keys.find_or_add(keys.dataset("D"), "s" + std::to_string(i)));
    }
  }
  core::KeyTable keys;
  std::vector<StreamId> streams;
  ingest::Layout layout;
  std::shared_ptr<core::Routes> routes = std::make_shared<core::Routes>();
};

// What decoding and scattering make of records [from, to); their bytes are their numbers.
void fill(Entry& entry, Setting& setting, const std::vector<Made>& records, std::size_t from,
          std::size_t to) {
  core::Columns& columns = entry.columns;
  columns.reset(2);
  entry.block.bytes.clear();
  for (std::size_t i = from; i < to; ++i) {
    const std::string line = "record " + std::to_string(i) + "\n";
    entry.block.bytes.append(line.data(), line.size());
    const std::uint32_t record = columns.records++;
    if (!records[i].tuple) {
      columns.rejects.push_back({record, record, core::Reason::kJson, 0, 0, "bad", ""});
      continue;
    }
    columns.record.push_back(record);
    columns.stream.push_back(setting.streams[i % setting.streams.size()]);
    columns.time.push_back(records[i].time);
    columns.max_time = std::max(columns.max_time, records[i].time);
    columns.fields[0].bits.push_back(i);
    columns.fields[1].bits.push_back(2 * i);
    columns.fields[1].kinds.push_back(i % 2 == 0 ? core::Kind::kNumber : core::Kind::kInt64);
  }
  columns.lines = columns.records;
  entry.layout = &setting.layout;
  entry.routes = setting.routes;
  entry.batches.resize(setting.routes->workers);
  entry.verdicts.shared = true;
  for (auto* verdicts : {&entry.verdicts.by_synopses, &entry.verdicts.by_groups}) {
    verdicts->resize(columns.tuples());
    std::fill(verdicts->begin(), verdicts->end(), std::uint8_t{0});
  }
  core::Scatter scatter;
  scatter.run(columns, setting.keys, *setting.routes, entry.batches);
}

// The records that the gate rejects, cut into blocks of up to `most`.
std::vector<std::size_t> future(const std::vector<Made>& records, std::int64_t max_jump,
                                std::size_t most = 1'000, std::uint32_t seed = 1) {
  Setting setting;
  Gate gate(max_jump, setting.keys);
  std::mt19937 random(seed);
  std::vector<std::size_t> rejected;
  std::uint64_t seq = 0;
  for (std::size_t from = 0; from < records.size(); ++seq) {
    const std::size_t to = std::min(records.size(), from + 1 + random() % most);
    Entry entry;
    fill(entry, setting, records, from, to);
    gate.pass(entry, Seq{seq});
    for (const core::Reject& reject : entry.columns.rejects) {
      if (reject.reason != core::Reason::kFuture) continue;
      rejected.push_back(from + reject.record);
      EXPECT_EQ(reject.raw, "record " + std::to_string(from + reject.record));
    }
    from = to;
  }
  return rejected;
}

TEST(Gate, RejectsWhatIsFurtherAheadOfStreamTimeThanMaxJump) {
  EXPECT_THAT(future({at(0), at(kHour), at(3 * kHour), at(2 * kHour), at(-kDay), at(2 * kHour + 1),
                      at(4 * kHour)},
                     kHour),
              ElementsAre(2, 6));
  EXPECT_THAT(future({at(kDay), at(0), at(kDay + kHour), at(kDay + 2 * kHour + 1)}, kHour),
              ElementsAre(3));
}

TEST(Gate, LetsEverythingThroughWithoutALimit) {
  EXPECT_THAT(future({at(0), at(400 * kDay), at(kDay)}, 0), IsEmpty());
}

TEST(Gate, LetsTheFirstTimeThroughWhateverItIs) {
  EXPECT_THAT(future({{}, {false}, at(100 * kDay), at(0), at(200 * kDay)}, kHour), ElementsAre(4));
}

TEST(Gate, HoldsTimesThatAreCenturiesApart) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(future({at(-kMost), at(kMost), at(-kMost + kDay)}, kMost), ElementsAre(1));
}

TEST(Gate, TakesTheSixtyFourthInARowForRealTime) {
  std::vector<Made> records = {at(0)};
  for (int i = 0; i < 70; ++i) records.push_back(at(100 * kDay + i));
  std::vector<std::size_t> first(63);
  for (std::size_t i = 0; i < 63; ++i) first[i] = i + 1;
  for (const std::size_t most : {1, 7, 1000}) {
    EXPECT_EQ(future(records, kHour, most), first);
  }
  // One that is let through begins the row anew: none of the 8 behind it is the 64th.
  records.insert(records.begin() + 63, at(1));
  EXPECT_EQ(future(records, kHour).size(), 70u);
}

TEST(Gate, TuplesWithoutATimeAndRejectsNeitherMakeNorEndARow) {
  std::vector<Made> records = {at(0)};
  for (int i = 0; i < 64; ++i) {
    records.push_back(at(100 * kDay));
    records.push_back(i % 2 == 0 ? Made{} : Made{false, 0});
  }
  EXPECT_EQ(future(records, kHour).size(), 63u);
}

TEST(Gate, TakesFutureTuplesOutOfColumnsAndBatches) {
  Setting setting;
  std::vector<Made> records;
  std::vector<Made> without;
  for (int i = 0; i < 200; ++i) {
    const bool far = i % 5 == 3;
    records.push_back(i % 11 == 10 ? Made{false, 0} : at(far ? 10 * kDay : i));
    without.push_back(far ? Made{false, 0} : records.back());
  }
  Entry entry, expected;
  fill(entry, setting, records, 0, records.size());
  fill(expected, setting, without, 0, without.size());
  Gate gate(kHour, setting.keys);
  gate.pass(entry, Seq{0});
  const auto same = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  EXPECT_TRUE(same(entry.columns.record, expected.columns.record));
  EXPECT_TRUE(same(entry.columns.stream, expected.columns.stream));
  EXPECT_TRUE(same(entry.columns.time, expected.columns.time));
  EXPECT_EQ(entry.columns.max_time, expected.columns.max_time);
  EXPECT_EQ(entry.columns.records, expected.columns.records);
  EXPECT_EQ(entry.verdicts.by_groups.size(), expected.columns.tuples());
  EXPECT_EQ(entry.verdicts.by_synopses.size(), expected.columns.tuples());
  ASSERT_EQ(entry.columns.rejects.size(), expected.columns.rejects.size());
  for (std::size_t i = 0; i < expected.columns.rejects.size(); ++i) {
    const core::Reject& reject = entry.columns.rejects[i];
    EXPECT_EQ(reject.record, expected.columns.rejects[i].record);
    if (reject.reason == core::Reason::kJson) continue;
    EXPECT_EQ(reject.raw, "record " + std::to_string(reject.record));
    EXPECT_THAT(reject.detail, testing::MatchesRegex("9d 23h ahead of stream time"));
  }
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_TRUE(same(entry.columns.fields[f].bits, expected.columns.fields[f].bits));
    EXPECT_TRUE(same(entry.columns.fields[f].kinds, expected.columns.fields[f].kinds));
  }
  for (std::size_t worker = 0; worker < 3; ++worker) {
    const core::Batch& batch = entry.batches[worker];
    EXPECT_TRUE(same(batch.tuple, expected.batches[worker].tuple));
    ASSERT_EQ(batch.runs.size(), expected.batches[worker].runs.size());
    for (std::size_t f = 0; f < 2; ++f) {
      EXPECT_TRUE(same(batch.fields[f].bits, expected.batches[worker].fields[f].bits));
      EXPECT_TRUE(same(batch.fields[f].kinds, expected.batches[worker].fields[f].kinds));
    }
  }
}

TEST(Gate, ShowsEveryWorkerTheSameEntries) {
  constexpr std::size_t kEntries = 200, kWorkers = 4;
  Setting setting;
  std::mt19937 random(5);
  std::vector<Made> records;
  for (int i = 0; i < 20 * int(kEntries); ++i) {
    records.push_back(at(random() % 4 == 0 ? 10 * kDay : i));
  }
  std::vector<Entry> entries(kEntries);
  for (std::size_t i = 0; i < kEntries; ++i)
    fill(entries[i], setting, records, 20 * i, 20 * i + 20);
  Gate gate(kHour, setting.keys);
  std::vector<std::vector<std::uint32_t>> seen(kWorkers);
  std::vector<std::thread> workers;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      for (std::size_t i = 0; i < kEntries; ++i) {
        gate.pass(entries[i], Seq{i});
        const auto& record = entries[i].columns.record;
        seen[worker].insert(seen[worker].end(), record.begin(), record.end());
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_LT(seen[0].size(), 16 * kEntries);
  for (std::size_t worker = 1; worker < kWorkers; ++worker) EXPECT_EQ(seen[worker], seen[0]);
}

TEST(Gate, JudgesByTheRecordsAloneWhereverBlocksEnd) {
  std::mt19937_64 random(7);
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<Made> records;
    std::int64_t clock = 0;
    std::uint64_t far = 0;
    for (int i = 0; i < 400; ++i) {
      clock += static_cast<std::int64_t>(random() % kHour) / 4;
      if (far == 0 && random() % 40 == 0) far = random() % 3 == 0 ? 60 + random() % 10 : 1;
      if (random() % 10 == 0) {
        records.push_back({random() % 2 == 0, kNoTime.ns});
      } else {
        records.push_back(at(clock + (far > 0 ? 30 * kDay : 0)));
        if (far > 0) --far;
      }
    }
    std::vector<std::size_t> naive;
    std::optional<std::int64_t> now;
    int row = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!records[i].tuple || records[i].time == kNoTime.ns) continue;
      if (now.has_value() && records[i].time - *now > kHour && ++row < 64) {
        naive.push_back(i);
        continue;
      }
      row = 0;
      now = std::max(now.value_or(records[i].time), records[i].time);
    }
    for (const std::size_t most : {1, 3, 50, 1000}) {
      ASSERT_EQ(future(records, kHour, most, seed), naive) << seed;
    }
  }
}

TEST(NoteLeap, FindsTheLongestOneWhereverBlocksEnd) {
  const std::vector<Made> records = {{},           at(0),        at(kDay),         at(-9 * kDay),
                                     {false},      at(3 * kDay), at(3 * kDay + 1), at(9 * kDay),
                                     at(15 * kDay)};
  for (const std::size_t step : {1, 2, 3, 4, 100}) {
    Setting setting;
    Summary::Leap leap;
    std::int64_t before = kNoTime.ns;
    for (std::size_t from = 0; from < records.size(); from += step) {
      Entry entry;
      fill(entry, setting, records, from, std::min(records.size(), from + step));
      note_leap(entry.columns, before, from, leap);
      before = std::max(before, entry.columns.max_time);
    }
    EXPECT_EQ(leap.ns, 6 * kDay) << step;
    EXPECT_EQ(leap.record, RecordPosition{8}) << step;
  }
}

}  // namespace
}  // namespace weir::engine
