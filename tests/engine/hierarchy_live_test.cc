// Hierarchies that change while a host pushes, through the public API.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/memory_source.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

constexpr std::string_view kPlant = R"({"identifier":"R","children":[{"identifier":"a"}]})";

// {"at":…,"registry":…} of a group with these sensors.
std::string change(std::string_view at, std::string_view root, std::string_view sensors) {
  std::string children;
  for (const char sensor : sensors) {
    children += fmt::format(R"({}{{"identifier":"{}"}})", children.empty() ? "" : ",", sensor);
  }
  return fmt::format(R"({{{}"registry":{{"identifier":"{}","children":[{}]}}}})", at, root,
                     children);
}

Engine engine_of(const Config& config) {
  auto engine = Engine::create(config);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return std::move(*engine);
}

// Records `from` to `to` of sensor a, one a second, each with its number; waits until they are
// applied.
void push_until_applied(Engine& engine, int from, int to) {
  for (int i = from; i < to; ++i) {
    const std::array values = {FieldValue::of("v", double(i))};
    const Tuple tuple{"D", "a", Time{i * kNanosPerSecond}, values};
    while (engine.push(std::span(&tuple, 1)) == Push::kFull) std::this_thread::yield();
  }
  while (engine.progress().records < static_cast<std::uint64_t>(to)) std::this_thread::yield();
}

Answer wait_for_answer(Engine& engine) {
  Answer answer;
  while (!engine.poll(answer)) std::this_thread::yield();
  return answer;
}

TEST(HierarchyLive, ABoundaryInRecordsOutlivesAChangeThatComesWithNoRecordBehindIt) {
  Config config;
  config.threads = 1;
  config.groups.emit = {0, 10};
  config.groups.fields = {"v"};
  config.hierarchies.push_back({std::string(kPlant), "registry", std::nullopt});
  Engine engine = engine_of(config);
  std::vector<std::string> results;
  engine.on_result([&](const GroupResult& result) {
    results.push_back(fmt::format("{} {} at {}", result.identifier, result.sum, raw(result.seq)));
  });
  ASSERT_TRUE(engine.start().ok());
  push_until_applied(engine, 0, 10);
  ASSERT_TRUE(engine.request(change("", "Q", "b")).ok());
  EXPECT_EQ(wait_for_answer(engine).kind, Answer::Kind::kAck);
  push_until_applied(engine, 10, 15);
  ASSERT_TRUE(engine.finish().ok());
  EXPECT_EQ(results, (std::vector<std::string>{"Q 0 at 10", "R 9 at 10", "R 14 at 15"}));
}

// R has a field of its own; which of the two numbers others would have is nobody's question.
TEST(HierarchyLive, AKnownHierarchyChangesWithoutAFieldForThoseThatComeLater) {
  Config config;
  config.layout = "titan";
  GroupOptions own;
  own.mode = GroupOptions::Mode::kChangelog;
  own.fields = {"v"};
  config.hierarchies.push_back({std::string(kPlant), "registry", own});
  Engine before_start = engine_of(config);
  before_start.add_source(std::make_unique<MemorySource>(
      "{\"identifier\":\"a\",\"timestamp\":1574000000000,\"v\":1,\"w\":2}\n"
      "{\"identifier\":\"b\",\"timestamp\":1574000001000,\"v\":3,\"w\":4}\n"));
  ASSERT_TRUE(before_start.request(change(R"("at":{"record":1},)", "R", "ab")).ok());
  ASSERT_TRUE(before_start.start().ok());
  const auto summary = before_start.finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->results, 3u);
  EXPECT_EQ(wait_for_answer(before_start).kind, Answer::Kind::kAck);

  Engine live = engine_of(config);
  ASSERT_TRUE(live.start().ok());
  push_until_applied(live, 0, 1);
  ASSERT_TRUE(live.request(change("", "R", "ab")).ok());
  ASSERT_TRUE(live.request(change("", "Q", "b")).ok());
  EXPECT_EQ(wait_for_answer(live).kind, Answer::Kind::kAck);
  EXPECT_EQ(wait_for_answer(live).kind, Answer::Kind::kError);  // Q's field is nobody's knowledge
  ASSERT_TRUE(live.finish().ok());
}

// Averages are 1, 1.5 and 2.
TEST(HierarchyLive, ResultsWhoseWeightIsNoneAreCountedAsSuch) {
  Config config;
  config.layout = "titan";
  config.groups.mode = GroupOptions::Mode::kChangelog;
  config.groups.fields = {"v"};
  config.hierarchies.push_back(
      {R"({"identifier":"R","children":[{"identifier":"a"},{"identifier":"b"}]})", "registry",
       std::nullopt});
  Engine engine = engine_of(config);
  engine.add_source(std::make_unique<MemorySource>(
      "{\"identifier\":\"a\",\"timestamp\":1574000000000,\"v\":1}\n"
      "{\"identifier\":\"b\",\"timestamp\":1574000001000,\"v\":2}\n"
      "{\"identifier\":\"a\",\"timestamp\":1574000002000,\"v\":2}\n"));
  ASSERT_TRUE(engine
                  .request(R"({"op":"build","synopsis":"CountMin","dataset":"groups",)"
                           R"("stream":"R","field":"count","weight":"average",)"
                           R"("params":{"epsilon":0.01,"confidence":0.99}})")
                  .ok());
  ASSERT_TRUE(engine.start().ok());
  const auto summary = engine.finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  ASSERT_EQ(summary->refused.size(), 1u);
  EXPECT_EQ(summary->refused.begin()->first, "groups/R/count CountMin");
  EXPECT_EQ(summary->refused.begin()->second.without_weight, 1u);
  EXPECT_TRUE(summary->conserved());
}

// A build between two records makes a plan, too.
TEST(HierarchyLive, ResultsHaveTheEpochOfTheAnswersBesideThem) {
  Config config;
  config.layout = "titan";
  config.groups.mode = GroupOptions::Mode::kChangelog;
  config.groups.fields = {"v"};
  config.hierarchies.push_back({std::string(kPlant), "registry", std::nullopt});
  Engine engine = engine_of(config);
  std::vector<std::uint64_t> epochs;
  engine.on_result([&](const GroupResult& result) { epochs.push_back(raw(result.epoch)); });
  engine.add_source(std::make_unique<MemorySource>(
      "{\"identifier\":\"a\",\"timestamp\":1574000000000,\"v\":1}\n"
      "{\"identifier\":\"a\",\"timestamp\":1574000001000,\"v\":2}\n"));
  ASSERT_TRUE(engine
                  .request(R"({"op":"build","at":{"record":1},"synopsis":"GKQuantiles",)"
                           R"("dataset":"D","field":"v","params":{"epsilon":0.01}})")
                  .ok());
  ASSERT_TRUE(engine.start().ok());
  ASSERT_TRUE(engine.finish().ok());
  EXPECT_EQ(raw(wait_for_answer(engine).epoch), 2u);
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{1, 2}));
}

TEST(HierarchyLive, ARegistryThatNoTreeCanBeMadeOfIsRefused) {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) {
    lines += fmt::format("s{0},all\ns{0},too\nall,g{0}\ntoo,g{0}\ng{0},R\n", i);
  }
  Config config;
  config.groups.fields = {"v"};
  config.hierarchies.push_back({lines, "plant.csv", std::nullopt});
  const auto engine = Engine::create(config);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().message().rfind("plant.csv: R: groups above and below", 0), 0u)
      << engine.status().message();
}

// The same number of sensors fits the hierarchy that stands, whose own options have few windows,
// and is too much for those of hierarchies that come later.
TEST(HierarchyLive, ARegistryThatComesLaterIsHeldAgainstTheOptionsItWillHave) {
  Config config;
  config.threads = 1;
  config.groups.mode = GroupOptions::Mode::kSliding;
  config.groups.window = 10'000 * kNanosPerSecond;
  config.groups.advance = 2 * kNanosPerSecond;
  config.groups.fields = {"v"};
  GroupOptions own;
  own.fields = {"v"};
  config.hierarchies.push_back({std::string(kPlant), "registry", own});
  std::string children;
  for (int i = 0; i < 30'000; ++i) {
    children += fmt::format(R"({}{{"identifier":"s{}"}})", i == 0 ? "" : ",", i);
  }
  const auto large = [&](std::string_view root) {
    return fmt::format(R"({{"registry":{{"identifier":"{}","children":[{}]}}}})", root, children);
  };
  Engine engine = engine_of(config);
  ASSERT_TRUE(engine.start().ok());
  ASSERT_TRUE(engine.request(large("R")).ok());
  ASSERT_TRUE(engine.request(large("Q")).ok());
  EXPECT_EQ(wait_for_answer(engine).kind, Answer::Kind::kAck);
  const Answer refused = wait_for_answer(engine);
  EXPECT_EQ(refused.kind, Answer::Kind::kError);
  EXPECT_EQ(refused.reason.rfind("registry \"Q\" with 30000 sensors needs up to ", 0), 0u)
      << refused.reason;
  ASSERT_TRUE(engine.finish().ok());
}

}  // namespace
}  // namespace weir::tests
