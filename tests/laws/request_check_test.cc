// What `weir validate` finds in requests is what a run answers with an error, whatever the input.
#include "replay/request_check.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_scenario.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

// The requests that a run answers with an error, and those that are found before it.
struct Found {
  std::set<std::string> by_run;
  std::vector<std::pair<std::string, std::string>> before;  // with the message
};

Found find(std::uint64_t seed, std::size_t records) {
  RandomScenario scenario(seed, records);
  const TemporaryFolder folder;
  Config config;
  config.threads = 1;
  config.emit = scenario.emit();
  config.state_directory = folder.path();
  Found found;
  auto engine = Engine::create(config);
  EXPECT_TRUE(engine.ok());
  engine->on_answer([&](const Answer& answer) {
    if (answer.kind == Answer::Kind::kError) found.by_run.insert(answer.request_id);
  });
  engine->add_source(std::make_unique<MemorySource>(scenario.lines(), 0, 1));
  EXPECT_TRUE(engine->request(scenario.requests()).ok());
  EXPECT_TRUE(engine->start().ok());
  if (!engine->finish().ok()) return found;  // no record could be read

  engine::Kinds kinds;
  auto file = replay::read_requests(scenario.requests(), "r", kinds);
  EXPECT_TRUE(file.ok());
  file->emit = scenario.emit();
  for (const replay::RequestError& error : replay::check_requests({&*file, 1})) {
    const std::size_t number = std::stoul(error.text.substr(std::string("r: request ").size()));
    found.before.emplace_back(file->requests[number - 1].request_id, error.text);
  }
  return found;
}

void expect_no_false_alarm(std::uint64_t seeds) {
  std::size_t found_before = 0, found_by_run = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Found found = find(seed, 1 + seed % 97);
    found_by_run += found.by_run.size();
    for (const auto& [id, message] : found.before) {
      ++found_before;
      EXPECT_TRUE(found.by_run.contains(id)) << "seed " << seed << ", " << id << ": " << message;
    }
  }
  // Most of the others depend on where times and records are.
  EXPECT_GT(found_before, found_by_run / 3);
}

TEST(RequestCheck, RaisesNoFalseAlarm) { expect_no_false_alarm(300); }
TEST(LongRequestCheck, RaisesNoFalseAlarm) { expect_no_false_alarm(20'000); }

}  // namespace
}  // namespace weir::tests
