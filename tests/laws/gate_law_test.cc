// A limit on how far a record may be ahead (engine/gate.h) is kept record by record: at every
// number of threads, block size and way in, with records that have newlines in their quotes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"

namespace weir::tests {
namespace {

constexpr const char* kRequests = R"(
{"op":"build","synopsis":"CountMin","dataset":"D","stream":"s0","field":"v","params":{"epsilon":0.01,"confidence":0.9,"seed":3},"parallelism":3}
{"op":"build","synopsis":"GKQuantiles","dataset":"D","stream":"","field":"v","params":{"epsilon":0.02}}
{"op":"build","synopsis":"HyperLogLog","dataset":"D","stream":"","field":"v","params":{"rsd":0.1},"window":{"size":"2m","grace":"10s"}}
{"op":"query","synopsis":"GKQuantiles","dataset":"D","stream":"","field":"v","query":0.5,"continuous":true}
{"op":"query","synopsis":"HyperLogLog","dataset":"D","stream":"","field":"v","continuous":true}
{"op":"query","synopsis":"CountMin","dataset":"D","stream":"s0","field":"v","query":6,"continuous":true}
)";

struct Input {
  std::vector<std::string> records;  // with their newlines; the first is the header
  std::vector<std::string> future;   // source, line, offset, record and reason of each
  Summary::Leap leap;
  std::string text() const {
    std::string all;
    for (const std::string& record : records) all += record;
    return all;
  }
};

// CSV in which one record in thirty is dated 40 days ahead, now and then for a row, and the source
// sleeps for five days.
Input random_input(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  Input input{{"id,t,note,v\n"}, {}, {}};
  std::int64_t clock = 1'574'000'000, newest = 0;
  std::size_t far = 0, row = 0, sequence = 0;
  std::uint64_t line = 2, offset = input.records[0].size();
  for (std::size_t i = 0; i < count; ++i) {
    clock += random() % 3;
    if (i == count / 2) clock += 5 * 86'400;
    if (far == 0 && random() % 30 == 0) far = random() % 3 == 0 ? 60 + random() % 8 : 1;
    const std::int64_t time = clock + (far > 0 ? 40 * 86'400 : 0);
    far -= far > 0;
    const char* const notes[] = {"plain", "\"two\nlines\"", "\"\"\"\n\n,\"", ""};
    std::string record =
        fmt::format("s{},{},{},{}\n", random() % 9, time, notes[random() % 4], random() % 20);
    if (random() % 20 == 0) record = random() % 2 == 0 ? "broken\n" : "\n";
    if (record.size() > 8) {
      const std::int64_t ahead = newest == 0 ? 0 : time - newest;
      if (ahead > 2 * 86'400 && ++row < 64) {
        input.future.push_back(fmt::format(
            R"({{"source":"memory","line":{},"byte_offset":{},"record":{},"reason":"future")", line,
            offset, sequence));
      } else {
        row = 0;
        if (ahead * kNanosPerSecond > std::max(input.leap.ns, 86'400 * kNanosPerSecond)) {
          input.leap = {ahead * kNanosPerSecond, RecordPosition{sequence}};
        }
        newest = std::max(newest, time);
      }
    }
    sequence += record != "\n";
    line += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n'));
    offset += record.size();
    input.records.push_back(std::move(record));
  }
  return input;
}

Config limited(unsigned threads, std::size_t block_size = 512 << 10) {
  Config config;
  config.threads = threads;
  config.block_size = block_size;
  config.digest = true;
  config.max_jump = 2 * 86'400 * kNanosPerSecond;
  config.mapping_toml =
      "format='csv'\nstream='id'\ndataset_constant='D'\ntime='t'\ntime_unit='s'\nfields=['v']\n";
  return config;
}

ObservedRun replay(const std::string& text, const Config& config, std::size_t piece = 0) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(text, piece));
  return observe(config, kRequests, std::move(sources));
}

TEST(GateLaw, RejectsTheRecordsThatAreTooFarAhead) {
  const Input input = random_input(1, 6000);
  ASSERT_GT(input.future.size(), 500u);
  const ObservedRun run = replay(input.text(), limited(2));
  std::vector<std::string> future;
  for (const std::string& reject : run.rejects) {
    if (reject.find(R"("reason":"future")") == std::string::npos) continue;
    EXPECT_NE(reject.find(" ahead of stream time"), std::string::npos) << reject;
    future.push_back(reject.substr(0, reject.find(R"(,"detail":)")));
  }
  EXPECT_EQ(future, input.future);
  EXPECT_EQ(run.summary.rejected.at("future"), input.future.size());
  EXPECT_EQ(run.summary.leap.ns, input.leap.ns);
  EXPECT_EQ(run.summary.leap.record, input.leap.record);
}

TEST(GateLaw, HoldsAtEveryNumberOfThreadsAndBlockSize) {
  const Input input = random_input(2, 6000);
  const ObservedRun expected = replay(input.text(), limited(1));
  ASSERT_GT(expected.answers.size(), 50u);
  for (unsigned threads = 1; threads <= 8; ++threads) {
    for (const std::size_t block :
         {std::size_t{4} << 10, std::size_t{5001}, std::size_t{64} << 10}) {
      const ObservedRun run = replay(input.text(), limited(threads, block), threads % 3 * 700);
      EXPECT_EQ(run.answers, expected.answers) << threads << " threads, block " << block;
      EXPECT_EQ(run.rejects, expected.rejects);
      EXPECT_EQ(run.fingerprint(), expected.fingerprint());
      EXPECT_EQ(run.summary.leap.ns, expected.summary.leap.ns);
      EXPECT_EQ(run.summary.leap.record, expected.summary.leap.record);
    }
  }
}

TEST(GateLaw, HoldsForRecordsPushedOneByOne) {
  const Input input = random_input(3, 3000);
  const ObservedRun expected = replay(input.text(), limited(2));
  for (const unsigned threads : {1u, 3u}) {
    auto engine = Engine::create(limited(threads));
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    std::vector<std::string> answers;
    std::uint64_t future = 0;
    engine->on_answer([&](const Answer& answer) { answers.push_back(answer.to_json()); });
    engine->on_reject([&](const Reject& reject) { future += reject.reason == "future"; });
    ASSERT_TRUE(engine->request(kRequests).ok());
    ASSERT_TRUE(engine->start().ok());
    for (std::size_t at = 0; at < input.records.size();) {
      at += engine->push(std::string_view(input.records[at])) == Push::kAccepted;
    }
    const auto summary = engine->finish();
    ASSERT_TRUE(summary.ok()) << summary.status().message();
    EXPECT_TRUE(summary->conserved());
    EXPECT_EQ(answers, expected.answers);
    EXPECT_EQ(future, input.future.size());
    EXPECT_EQ(summary->digest, expected.summary.digest);
  }
}

// The control: without a limit the same input comes out otherwise.
TEST(GateLaw, SeesThatWithoutALimitOneRecordMovesStreamTime) {
  const Input input = random_input(1, 6000);
  Config config = limited(2);
  config.max_jump = 0;
  const ObservedRun run = replay(input.text(), config);
  EXPECT_FALSE(run.summary.rejected.contains("future"));
  EXPECT_GT(run.summary.leap.ns, 30 * 86'400 * kNanosPerSecond);
  EXPECT_GT(run.summary.refused.size(), 0u);
}

}  // namespace
}  // namespace weir::tests
