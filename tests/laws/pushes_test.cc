// Pushes from several threads, and ends of every kind: nothing is lost uncounted, and nobody waits
// for what does not come.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/live_engine.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

TEST(PushedEngine, LosesNothingThatSeveralThreadsPushAtOnce) {
  for (const bool tuples : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Random random(seed);
      auto engine = Engine::create(live_config(random));
      ASSERT_TRUE(engine.ok());
      ASSERT_TRUE(
          engine
              ->request(R"({"op":"build","synopsis":"CountMin","dataset":"D","field":"price",)"
                        R"("params":{"epsilon":0.01,"confidence":0.9,"seed":1}})")
              .ok());
      ASSERT_TRUE(engine->start().ok());
      constexpr std::uint64_t kThreads = 4, kEach = 1500;
      std::vector<std::thread> pushers;
      for (std::uint64_t who = 0; who < kThreads; ++who) {
        pushers.emplace_back([&, who] {
          const std::string stream = "S" + std::to_string(who);
          for (std::uint64_t i = 0; i < kEach; ++i) {
            if (tuples) {
              const FieldValue price = FieldValue::of("price", static_cast<double>(i % 7));
              const Tuple tuple{"D", stream, kNoTime, {&price, 1}};
              push_all(*engine, std::span(&tuple, 1));
            } else {
              push_all(*engine, std::string_view(line_of(i, stream)));
            }
          }
        });
      }
      for (std::thread& pusher : pushers) pusher.join();
      const auto summary = engine->finish();
      ASSERT_TRUE(summary.ok());
      EXPECT_EQ(summary->records, kThreads * kEach);
      EXPECT_EQ(summary->applied, kThreads * kEach);
      EXPECT_EQ(summary->streams, kThreads);
      EXPECT_TRUE(summary->conserved());
    }
  }
}

// A host may well push from one thread now and from another then (a strand of an executor).
TEST(PushedEngine, KeepsTheOrderOfPushesThatComeOneAfterTheOtherFromDifferentThreads) {
  Config config;
  config.layout = "saams";
  config.threads = 2;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(engine->start().ok());
  std::string lines;
  for (std::uint64_t i = 0; i < 2000; ++i) lines += line_of(i);
  constexpr std::size_t kThreads = 4, kPiece = 333;  // pieces cut records in two
  std::atomic<std::size_t> turn{0};
  std::vector<std::thread> pushers;
  for (std::size_t who = 0; who < kThreads; ++who) {
    pushers.emplace_back([&, who] {
      for (;;) {
        const std::size_t now = turn.load();
        if (now * kPiece >= lines.size()) return;
        if (now % kThreads != who) {
          std::this_thread::yield();
          continue;
        }
        push_all(*engine, std::string_view(lines).substr(now * kPiece, kPiece));
        turn.store(now + 1);
      }
    });
  }
  for (std::thread& pusher : pushers) pusher.join();
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->tuples, 2000u);
  EXPECT_EQ(summary->rejected_total(), 0u);
}

TEST(PushedEngine, TakesNothingAfterItsEnd) {
  for (const bool interrupted : {false, true}) {
    Config config;
    config.layout = "saams";
    config.threads = 2;
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine.ok());
    EXPECT_EQ(engine->push(line_of(0)), Push::kClosed);
    EXPECT_FALSE(engine->finish().ok());
    ASSERT_TRUE(engine->start().ok());
    EXPECT_FALSE(engine->start().ok());
    EXPECT_TRUE(push_all(*engine, std::string_view(line_of(0))));
    if (interrupted) engine->interrupt();
    ASSERT_TRUE(engine->finish().ok());
    EXPECT_EQ(engine->push(line_of(1)), Push::kClosed);
    EXPECT_EQ(engine->push(std::string_view()), Push::kClosed);
    EXPECT_FALSE(engine->request(R"({"op":"list"})").ok());
    const auto again = engine->finish();
    ASSERT_FALSE(again.ok());
    EXPECT_NE(again.status().message().find("already"), std::string::npos);
    engine->interrupt();
    EXPECT_TRUE(engine->progress().done);
  }
}

// Nobody may wait for room that nobody will make.
TEST(PushedEngine, TakesNothingAfterRecordsOfNoKnownLayout) {
  Config config;
  config.threads = 2;
  config.block_size = 4096;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(engine->start().ok());
  while (push_all(*engine, std::string_view("hello, this is no record\n"))) {
  }
  EXPECT_EQ(engine->push("hello\n"), Push::kClosed);
  const auto summary = engine->finish();
  ASSERT_FALSE(summary.ok());
  EXPECT_NE(summary.status().message().find("layout"), std::string::npos);
}

TEST(PushedEngine, TakesARecordThatIsLongerThanAllThatMayWait) {
  Config config;
  config.layout = "saams";
  config.threads = 2;
  config.block_size = 4096;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(engine->start().ok());
  const std::string record =
      R"({"streamID":"A","dataSetKey":"D","timestamp":1546387200000,"text":")" +
      std::string(200'000, 'x') + "\"}\n";
  for (std::size_t at = 0; at < record.size(); at += 1000) {
    push_all(*engine, std::string_view(record).substr(at, 1000));
  }
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->tuples, 1u);
}

// A source that breaks: what came before it counts, and requests are answered all the same.
TEST(PushedEngine, AnswersAndCountsWhenASourceBreaks) {
  class Broken final : public Source {
   public:
    explicit Broken(std::string bytes) : bytes_(std::move(bytes)) {}
    ReadResult read(std::span<char> into) override {
      if (bytes_.empty()) return {ReadResult::State::kError, 0, Status(Code::kIo, "broken: gone")};
      const std::size_t n = bytes_.copy(into.data(), std::min<std::size_t>(into.size(), 777));
      bytes_.erase(0, n);
      return {ReadResult::State::kData, n, {}};
    }
    const std::string& name() const override { return name_; }

   private:
    std::string bytes_;
    std::string name_ = "broken";
  };
  for (const std::uint64_t records : {0, 1000}) {
    Config config;
    config.layout = "saams";
    config.threads = 2;
    config.block_size = 4096;
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine.ok());
    std::string lines;
    for (std::uint64_t i = 0; i < records; ++i) lines += line_of(i);
    engine->add_source(std::make_unique<Broken>(lines + R"({"streamID":"A")"));
    ASSERT_TRUE(engine->request(R"([{"op":"list"},{"op":"list","at":{"record":77}}])").ok());
    ASSERT_TRUE(engine->start().ok());
    const auto summary = engine->finish();
    ASSERT_EQ(summary.ok(), records > 0);
    if (summary.ok()) {
      EXPECT_EQ(summary->tuples, records);
      EXPECT_NE(summary->source_error.find("broken: gone"), std::string::npos);
      EXPECT_TRUE(summary->conserved());
    }
    std::size_t answers = 0;
    for (Answer answer; engine->poll(answer);) ++answers;
    EXPECT_EQ(answers, 2u);
  }
}

TEST(PushedEngine, EndsOnceHoweverManyThreadsEndIt) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    auto engine = Engine::create(live_config(random));
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(engine->start().ok());
    std::atomic<std::uint64_t> taken{0}, records{0};
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    for (int who = 0; who < 3; ++who) {
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; push_all(*engine, std::string_view(line_of(i))); ++i) ++taken;
      });
    }
    for (int who = 0; who < 2; ++who) {
      threads.emplace_back([&] {
        while (taken.load() < seed * 10) std::this_thread::yield();
        const auto summary = engine->finish();
        if (!summary.ok()) return;
        ++ended;
        records = summary->records;
        EXPECT_TRUE(summary->conserved());
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ended.load(), 1);
    EXPECT_EQ(records.load(), taken.load());
  }
}

TEST(PushedEngine, MayBeDestroyedWhateverItIsDoing) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    auto engine = Engine::create(live_config(random));
    ASSERT_TRUE(engine.ok());
    if (seed % 4 == 0) engine->interrupt();
    if (seed % 5 != 0) {
      ASSERT_TRUE(engine->start().ok());
    }
    for (std::uint64_t i = 0; i < seed * 3; ++i) {
      (void)engine->request(random_request(random, i).first);
      std::string lines;
      for (std::uint64_t k = 0; k < 20; ++k) lines += line_of(20 * i + k);
      (void)engine->push(lines);
    }
    if (seed % 3 == 0) engine->interrupt();
    Engine moved = *std::move(engine);  // with its threads
    Answer answer;
    moved.poll(answer);
  }
}

}  // namespace
}  // namespace weir::tests
