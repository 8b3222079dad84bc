// The engine under fire: requests, pushes, interrupts and ends from many threads at once. Whatever
// the interleaving, nothing is lost uncounted, and every request gets exactly one answer.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "tests/support/engine_model.h"
#include "tests/support/random_scenario.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

using Random = std::mt19937_64;

std::string line_of(std::uint64_t i, const std::string& stream = "A") {
  return fmt::format(R"({{"streamID":"{}","dataSetKey":"D","timestamp":{},"price":{}}})"
                     "\n",
                     stream, 1546387200000 + 100 * i, i % 50);
}

Config live_config(Random& random) {
  Config config;
  config.layout = "saams";
  config.placement = "none";
  config.block_size = 4096;
  config.ring_entries = 2;
  config.emit = {0, 1 + random() % 500};
  if (random() % 3 == 0) {
    config.ingest_threads = 1 + random() % 2;
    config.shard_threads = 1 + random() % 3;
  } else {
    config.threads = 1 + random() % 4;
  }
  return config;
}

// Until it is taken; false: the engine takes no more.
template <class What>
bool push_all(Engine& engine, const What& what) {
  for (;;) {
    const Push outcome = engine.push(what);
    if (outcome == Push::kAccepted) return true;
    if (outcome != Push::kFull) return false;
    std::this_thread::yield();
  }
}

// A request with its number as requestID, and whether it is a continuous query.
std::pair<std::string, bool> random_request(Random& random, std::size_t id) {
  const char* const kinds[] = {"CountMin", "HyperLogLog", "DFT"};
  const char* const params[] = {R"({"epsilon":0.05,"confidence":0.9,"seed":3})", R"({"rsd":0.1})",
                                R"({"window":8,"slide":4,"coefficients":2})"};
  const std::size_t kind = random() % 3;
  const std::string fields[] = {"price", "nothing", fmt::format("f{}", id)};
  std::string text =
      fmt::format(R"({{"requestID":{},"synopsis":"{}","dataset":"D","field":"{}","stream":"{}")",
                  id, kinds[kind], fields[std::min(random() % 3, random() % 3)],
                  kind < 2 && random() % 3 == 0 ? "" : (random() % 2 == 0 ? "A" : "B"));
  bool continuous = false;
  const std::size_t op = random() % 6;
  if (op < 2) {
    text += fmt::format(R"(,"op":"build","params":{},"parallelism":{})", params[kind],
                        random() % 3 == 0 ? 1 + random() % 6 : 1);
  } else if (op == 2) {
    text += R"(,"op":"delete")";
  } else {
    continuous = op == 5;
    text += fmt::format(R"(,"op":"query","query":7,"continuous":{})", continuous);
  }
  switch (random() % 6) {
    case 0:
      text += fmt::format(R"(,"at":{{"record":{}}})", random() % 4000);
      break;
    case 1:
      text += fmt::format(R"(,"at":{{"time":{}}})", 1546387200 + random() % 400);
      break;
    case 2:
      text += random() % 2 == 0 ? R"(,"at":{"end":true})" : R"(,"at":{"start":true})";
      break;
    default:
      break;
  }
  return {text + "}", continuous};
}

// One engine, one thread that pushes, two that ask, and perhaps an interrupt at some moment.
void run_under_fire(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const bool interrupted = random() % 3 == 0;
  const bool early_end = random() % 3 == 0;  // finish() while others still push and ask
  const std::uint64_t records = 500 + random() % 2500;
  auto engine = Engine::create(live_config(random));
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  std::map<std::string, int> answered;
  std::map<std::string, int> emitted;
  std::uint64_t last_seq = 0;
  bool in_order = true;
  engine->on_answer([&](const Answer& answer) {
    in_order &= raw(answer.seq) >= last_seq;
    last_seq = raw(answer.seq);
    ++(answer.kind == Answer::Kind::kContinuous ? emitted : answered)[answer.request_id];
  });
  ASSERT_TRUE(engine->start().ok());

  std::atomic<std::uint64_t> taken{0};
  std::atomic<bool> ending{false};
  std::thread pusher([&, seed] {
    Random own(seed + 1);
    for (std::uint64_t i = 0; i < records;) {
      std::string chunk;
      const std::uint64_t n = std::min(records - i, 1 + own() % 80);
      for (std::uint64_t k = 0; k < n; ++k) chunk += line_of(i + k, own() % 2 == 0 ? "A" : "B");
      if (!push_all(*engine, std::string_view(chunk))) return;
      i += n;
      taken += n;
    }
  });
  constexpr std::size_t kAsked = 60;
  struct Asked {
    bool accepted = false, continuous = false;
  };
  std::array<std::array<Asked, kAsked>, 2> asked;
  std::vector<std::thread> askers;
  for (std::size_t who = 0; who < asked.size(); ++who) {
    askers.emplace_back([&, who, seed] {
      Random own(seed + 2 + who);
      for (std::size_t i = 0; i < kAsked; ++i) {
        const auto [text, continuous] = random_request(own, who * kAsked + i);
        asked[who][i] = {engine->request(text).ok(), continuous};
        if (own() % 2 == 0) std::this_thread::yield();
      }
    });
  }
  std::optional<std::thread> interrupter;
  if (interrupted) {
    interrupter.emplace([&, seed] {
      for (std::uint64_t left = seed * 7919 % 4000; left > 0; --left) std::this_thread::yield();
      engine->interrupt();
    });
  }
  const auto join = [&] {
    pusher.join();
    for (std::thread& asker : askers) asker.join();
    if (interrupter.has_value()) interrupter->join();
  };
  if (!early_end) join();
  const auto summary = engine->finish();
  if (early_end) join();

  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_TRUE(summary->conserved()) << summary->to_json();
  EXPECT_EQ(summary->rejected_total(), 0u);
  EXPECT_TRUE(in_order);
  if (interrupted) {
    EXPECT_LE(summary->records, taken.load());
  } else {
    EXPECT_EQ(summary->records, taken.load());
  }
  std::size_t expected = 0;
  for (std::size_t who = 0; who < asked.size(); ++who) {
    for (std::size_t i = 0; i < kAsked; ++i) {
      const std::string id = std::to_string(who * kAsked + i);
      const Asked& one = asked[who][i];
      if (!one.continuous) {
        EXPECT_EQ(answered[id], one.accepted ? 1 : 0) << id;
        EXPECT_EQ(emitted[id], 0) << id;
        expected += one.accepted ? 1 : 0;
      } else {  // silent, or one error, or answers
        EXPECT_LE(answered[id], one.accepted ? 1 : 0) << id;
        EXPECT_TRUE(answered[id] == 0 || emitted[id] == 0) << id;
      }
    }
  }
  EXPECT_TRUE(early_end || interrupted || expected > 0);
}

TEST(LiveEngine, AnswersEveryRequestOnceAndCountsEveryRecordAtAnyInterleaving) {
  for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) run_under_fire(seed);
}

TEST(LongLiveEngine, AnswersEveryRequestOnceAndCountsEveryRecordAtAnyInterleaving) {
  for (std::uint64_t seed = 1000; seed < 3000 && !HasFailure(); ++seed) run_under_fire(seed);
}

// A live request takes effect somewhere; its answer says where. Placed there beforehand, the same
// requests give the same answers.
void compare_with_placed(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomScenario scenario(seed, 1500);
  Random random(seed);
  Config config = live_config(random);
  config.emit = {0, 1'000'000'000};
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok());
  std::vector<Answer> answers;
  engine->on_answer([&](const Answer& answer) { answers.push_back(answer); });
  ASSERT_TRUE(engine->start().ok());
  std::vector<std::string> asked;
  std::thread asker([&] {
    Random own(seed + 1);
    for (std::size_t i = 0; i < 60; ++i) {
      auto [text, continuous] = random_request(own, i);
      if (const auto at = text.find(R"(,"at")"); at != std::string::npos)
        text = text.substr(0, at) + "}";
      if (const auto flag = text.find("true"); flag != std::string::npos)
        text.replace(flag, 4, "false");
      asked.push_back(text);
      EXPECT_TRUE(engine->request(text).ok());
      for (std::uint64_t wait = own() % 20; wait > 0; --wait) std::this_thread::yield();
    }
  });
  const std::string lines = scenario.lines();
  for (std::size_t at = 0; at < lines.size(); at += 1000) {
    push_all(*engine, std::string_view(lines).substr(at, 1000));
  }
  asker.join();
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(answers.size(), asked.size());
  std::string placed;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::string text = asked[i];
    text.insert(text.size() - 1, fmt::format(R"(,"at":{{"record":{}}})", raw(answers[i].seq)));
    placed += text + "\n";
  }
  EngineModel model(config.emit);
  model.run(scenario.records(), placed);
  ASSERT_EQ(model.answers.size(), answers.size());
  // Several live cuts may lie at one record, where placed requests share one; so epochs differ.
  const auto without_epoch = [](std::string json) {
    const auto from = json.find(R"("epoch":)");
    return json.erase(from, json.find(',', from) - from);
  };
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_EQ(without_epoch(EngineModel::comparable(answers[i].to_json())),
              without_epoch(model.answers[i]));
  }
  EXPECT_EQ(summary->records, model.summary.records);
  EXPECT_EQ(summary->applied, model.summary.applied);
  EXPECT_EQ(summary->rejected, model.summary.rejected);
  EXPECT_EQ(summary->state_bytes, model.summary.state_bytes);
}

TEST(LiveEngine, AnswersAsIfRequestsHadBeenPlacedWhereTheyTookEffect) {
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) compare_with_placed(seed);
}

TEST(LongLiveEngine, AnswersAsIfRequestsHadBeenPlacedWhereTheyTookEffect) {
  for (std::uint64_t seed = 1000; seed < 3000 && !HasFailure(); ++seed) compare_with_placed(seed);
}

TEST(LiveEngine, LosesNothingThatSeveralThreadsPushAtOnce) {
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
TEST(LiveEngine, KeepsTheOrderOfPushesThatComeOneAfterTheOtherFromDifferentThreads) {
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

TEST(LiveEngine, TakesNothingAfterItsEnd) {
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

TEST(LiveEngine, EndsOnceHoweverManyThreadsEndIt) {
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

TEST(LiveEngine, MayBeDestroyedWhateverItIsDoing) {
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

TEST(LiveEngine, TakesAStartThatHasPassedForAnError) {
  Config config;
  config.layout = "saams";
  config.threads = 1;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(engine->start().ok());
  ASSERT_TRUE(push_all(*engine, std::string_view(line_of(0))));
  while (engine->progress().records == 0) std::this_thread::yield();
  ASSERT_TRUE(engine->request(R"({"op":"list","at":{"start":true}})").ok());
  ASSERT_TRUE(engine->request(R"({"op":"list","at":{"record":0}})").ok());
  ASSERT_TRUE(engine->request(R"({"op":"list","at":{"record":1}})").ok());
  ASSERT_TRUE(engine->finish().ok());
  std::vector<Answer::Kind> kinds;
  for (Answer answer; engine->poll(answer);) kinds.push_back(answer.kind);
  EXPECT_EQ(kinds, (std::vector{Answer::Kind::kError, Answer::Kind::kError, Answer::Kind::kAck}));
}

}  // namespace
}  // namespace weir::tests
