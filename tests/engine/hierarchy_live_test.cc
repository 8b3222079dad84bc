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

}  // namespace
}  // namespace weir::tests
