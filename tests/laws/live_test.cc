// Requests to a running engine, from several threads, while others push, interrupt and end it:
// whatever the interleaving, each gets exactly one answer, and every record is counted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "tests/support/engine_model.h"
#include "tests/support/live_engine.h"
#include "tests/support/random_scenario.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

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
        Answer answer;
        EXPECT_FALSE(engine->poll(answer));  // the callback has them
        const Progress progress = engine->progress();
        EXPECT_LE(progress.records, records);
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
