// Many streams, requests and cuts at once. Nothing here is timed; what grows faster than its input
// shows as a run that does not end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/memory_source.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

constexpr std::size_t kStreams = 20'000;

std::string request(std::size_t kind, std::size_t stream, const std::string& rest) {
  const char* const kinds[] = {"CountMin", "HyperLogLog", "DFT"};
  return fmt::format(R"({{"synopsis":"{}","dataset":"D","stream":"S{}",{}}})"
                     "\n",
                     kinds[kind], stream, rest);
}

std::string build(std::size_t kind, std::size_t stream, unsigned parts = 1) {
  const char* const params[] = {R"({"epsilon":0.05,"confidence":0.9,"seed":1})", R"({"rsd":0.2})",
                                R"({"window":20,"slide":10,"coefficients":2})"};
  return request(kind, stream,
                 fmt::format(R"("op":"build","field":"price","parallelism":{},"params":{})", parts,
                             params[kind]));
}

std::string lines(std::size_t records) {
  std::string lines;
  for (std::size_t i = 0; i < records; ++i) {
    lines += fmt::format(R"({{"streamID":"S{}","dataSetKey":"D","timestamp":{},"price":{}}})"
                         "\n",
                         i * 7919 % kStreams, 1546387200000 + i, i % 100);
  }
  return lines;
}

struct Seen {
  std::array<std::size_t, 4> kinds{};  // by Answer::Kind
  Summary summary;
};

Seen run(Engine& engine, std::size_t records) {
  Seen seen;
  engine.on_answer([&](const Answer& a) { ++seen.kinds[static_cast<std::size_t>(a.kind)]; });
  engine.add_source(std::make_unique<MemorySource>(lines(records)));
  EXPECT_TRUE(engine.start().ok());
  auto summary = engine.finish();
  EXPECT_TRUE(summary.ok());
  if (summary.ok()) seen.summary = *std::move(summary);
  EXPECT_TRUE(seen.summary.conserved());
  EXPECT_EQ(seen.summary.records, records);
  return seen;
}

Engine engine_with(unsigned threads, std::size_t block_size = 512 << 10) {
  Config config;
  config.threads = threads;
  config.block_size = block_size;
  config.layout = "saams";
  config.emit = {0, 300'000};
  return *Engine::create(config);
}

// Three builds a stream in one text, and beside each a request of `what`.
Seen run_with(const std::string& what, std::size_t records) {
  std::string requests;
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      requests += build(kind, stream);
      if (!what.empty()) requests += request(kind, stream, what);
    }
  }
  Engine engine = engine_with(2);
  EXPECT_TRUE(engine.request(requests).ok());
  return run(engine, records);
}

TEST(LongScale, TakesSixtyThousandBuilds) {
  const Seen seen = run_with("", 1'000'000);
  EXPECT_EQ(seen.kinds, (std::array<std::size_t, 4>{3 * kStreams, 0, 0, 0}));
  EXPECT_EQ(seen.summary.applied, 1'000'000u);
  EXPECT_EQ(seen.summary.streams, kStreams);
}

TEST(LongScale, AnswersAsManyWrongQueries) {
  const Seen seen = run_with(R"("op":"query","field":"pric","query":1)", 100'000);
  EXPECT_EQ(seen.kinds, (std::array<std::size_t, 4>{3 * kStreams, 3 * kStreams, 0, 0}));
}

TEST(LongScale, AnswersAsManyContinuousQueries) {
  const Seen seen =
      run_with(R"("op":"query","field":"price","query":1,"continuous":true)", 1'000'000);
  EXPECT_EQ(seen.kinds, (std::array<std::size_t, 4>{3 * kStreams, 0, 0, 9 * kStreams}));
}

TEST(LongScale, TakesAsManyDeletesOfSynopsesWithQueries) {
  std::string requests;
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    requests += build(0, stream);
    requests += request(0, stream, R"("op":"query","field":"price","query":1,"continuous":true)");
    requests += request(0, stream, R"("op":"delete","field":"price")");
  }
  Engine engine = engine_with(2);
  ASSERT_TRUE(engine.request(requests).ok());
  const Seen seen = run(engine, 100'000);
  EXPECT_EQ(seen.kinds, (std::array<std::size_t, 4>{2 * kStreams, 0, 0, 0}));
  EXPECT_EQ(seen.summary.state_bytes, 0u);
}

TEST(LongScale, TakesAsManyRequestsOneByOneInParts) {
  Engine engine = engine_with(2);
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    ASSERT_TRUE(engine.request(build(0, stream, 4)).ok());
  }
  const Seen seen = run(engine, 200'000);
  EXPECT_EQ(seen.kinds[0], kStreams);
  EXPECT_EQ(seen.summary.applied, 200'000u);
}

TEST(LongScale, AnswersAtSixtyThousandCuts) {
  std::string requests;
  for (std::size_t i = 0; i < 3 * kStreams; ++i) {
    if (i % 3 == 0) requests += build(0, i / 3);
    requests += request(
        0, i / 3,
        fmt::format(R"("op":"query","field":"price","query":1,"at":{{"record":{}}})", i * 8));
  }
  Engine engine = engine_with(2);
  ASSERT_TRUE(engine.request(requests).ok());
  const Seen seen = run(engine, 500'000);
  EXPECT_EQ(seen.kinds, (std::array<std::size_t, 4>{kStreams, 0, 3 * kStreams, 0}));
}

// A thousand threads on however few cores, each with its batch in every entry of the ring.
TEST(LongScale, RunsOnAThousandThreads) {
  Engine engine = engine_with(1024);
  std::string requests;
  for (std::size_t stream = 0; stream < 100; ++stream) requests += build(1, stream);
  ASSERT_TRUE(engine.request(requests).ok());
  EXPECT_EQ(run(engine, 300'000).kinds[0], 100u);
}

TEST(LongScale, RunsOnTheLargestBlocks) {
  Engine engine = engine_with(8, 8 << 20);
  ASSERT_TRUE(engine.request(build(1, 1)).ok());
  EXPECT_EQ(run(engine, 1'000'000).summary.applied, 50u);
}

}  // namespace
}  // namespace weir::tests
