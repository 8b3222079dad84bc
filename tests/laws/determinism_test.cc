// The determinism law: digest and answers are a function of records and requests alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "synopses/registry.h"
#include "tests/support/every_kind_requests.h"
#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_records.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

ObservedRun replay(const std::string& lines, Config config = {}, std::size_t max_piece = 0,
                   std::uint32_t seed = 1) {
  config.layout = "saams";
  const TemporaryFolder states;
  config.state_directory = states.path();
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(lines, max_piece, seed));
  return observe(config, kEveryKindRequests, std::move(sources));
}

Config threads(unsigned n) {
  Config config;
  config.threads = n;
  return config;
}

Config roles(unsigned ingest, unsigned shard) {
  Config config;
  config.ingest_threads = ingest;
  config.shard_threads = shard;
  return config;
}

TEST(Determinism, TheSameAtEveryNumberOfThreadsAndSplitOfRoles) {
  const std::string lines = as_lines(random_records(1, 12000));
  Config reference = threads(1);
  const ObservedRun expected = replay(lines, reference);
  ASSERT_GT(expected.answers.size(), 60u);
  ASSERT_GT(expected.summary.rejected_total(), 100u);
  ASSERT_GT(expected.summary.unrouted, 100u);
  // Every kind has something to say, with and without windows, so the law is about all of them.
  std::map<std::string, int> said;
  for (const std::string& answer : expected.answers) {
    const bool estimate = answer.find(R"("estimate":)") != std::string::npos &&
                          answer.find(R"("estimate":null)") == std::string::npos;
    EXPECT_EQ(estimate && answer.find(R"("kind":"error")") != std::string::npos, false);
    if (!estimate) continue;
    for (const auto& type : synopses::types()) {
      if (answer.find(std::string(R"("synopsis":")") + type.name + "\"") != std::string::npos) {
        ++said[type.name];
      }
    }
    if (answer.find("windowStart") != std::string::npos) ++said["windows"];
    if (answer.find(R"("pairs":[{)") != std::string::npos) ++said["pairs"];
  }
  EXPECT_EQ(said.size(), synopses::types().size() + 2);
  for (Config config : {threads(2), threads(3), threads(4), threads(8), roles(1, 1), roles(1, 3),
                        roles(3, 1), roles(2, 2)}) {
    config.block_size = 16 << 10;
    const ObservedRun run = replay(lines, config);
    EXPECT_EQ(run.answers, expected.answers);
    EXPECT_EQ(run.rejects, expected.rejects);
    EXPECT_EQ(run.fingerprint(), expected.fingerprint());
  }
}

TEST(Determinism, TheSameForEveryBlockSizeAndChunking) {
  const std::string lines = as_lines(random_records(2, 12000));
  const ObservedRun expected = replay(lines, threads(1));
  std::uint32_t seed = 0;
  for (const std::size_t block : {4 << 10, 5001, 64 << 10, 1 << 20, 8 << 20}) {
    for (const std::size_t piece : {0, 100, 9000}) {
      Config config = threads(2);
      config.block_size = block;
      const ObservedRun run = replay(lines, config, piece, ++seed);
      EXPECT_EQ(run.answers, expected.answers) << "block " << block << " piece " << piece;
      EXPECT_EQ(run.rejects, expected.rejects);
      EXPECT_EQ(run.fingerprint(), expected.fingerprint());
    }
  }
}

TEST(Determinism, TheSameWhenPushedByTheHost) {
  const std::string lines = as_lines(random_records(3, 5000));
  const ObservedRun expected = replay(lines, threads(2));
  for (const std::size_t piece : {1000, 70000}) {
    Config config = threads(2);
    config.layout = "saams";
    config.digest = true;
    const TemporaryFolder states;
    config.state_directory = states.path();
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    std::vector<std::string> answers;
    engine->on_answer([&](const Answer& answer) { answers.push_back(answer.to_json()); });
    ASSERT_TRUE(engine->request(kEveryKindRequests).ok());
    ASSERT_TRUE(engine->start().ok());
    for (std::size_t at = 0; at < lines.size();) {
      const auto chunk = std::string_view(lines).substr(at, piece);
      if (engine->push(chunk) == Push::kAccepted) at += chunk.size();
    }
    auto summary = engine->finish();
    ASSERT_TRUE(summary.ok()) << summary.status().message();
    EXPECT_EQ(answers, expected.answers);
    EXPECT_EQ(summary->digest, expected.summary.digest);
  }
}

// A record of the most watched stream that is certainly taken.
bool is_good(const std::string& record) {
  return record.find(R"("S0","dataSetKey":"Stocks")") != std::string::npos &&
         record.find(R"("price":1)") != std::string::npos && record.back() == '}' &&
         record.find(R"("date":"01/)") != std::string::npos &&
         record.find("}}") == std::string::npos;
}

// Controls: what must be seen to differ, or the law above would hold for an engine that does
// nothing.
TEST(Determinism, SeesTwoSwappedRecordsOfAStream) {
  std::vector<std::string> records = random_records(4, 12000);
  const ObservedRun expected = replay(as_lines(records), threads(2));
  const auto first = std::find_if(records.begin() + 3000, records.end(), is_good);
  const auto second = std::find_if(first + 1, records.end(), [&](const std::string& record) {
    return is_good(record) &&
           record.substr(record.find("price")) != first->substr(first->find("price"));
  });
  ASSERT_NE(second, records.end());
  // Only the prices change places, so that times and counts stay.
  std::string a = first->substr(first->find("\"price"));
  std::string b = second->substr(second->find("\"price"));
  first->replace(first->find("\"price"), std::string::npos, b);
  second->replace(second->find("\"price"), std::string::npos, a);
  const ObservedRun run = replay(as_lines(records), threads(2));
  EXPECT_EQ(run.summary.applied, expected.summary.applied);
  EXPECT_NE(run.answers_hash, expected.answers_hash);
}

TEST(Determinism, SeesOneRecordLostAndOneDoubled) {
  std::vector<std::string> records = random_records(5, 12000);
  const ObservedRun expected = replay(as_lines(records), threads(2));
  std::vector<std::string> lost = records;
  const auto victim = std::find_if(lost.begin() + 6000, lost.end(), is_good);
  ASSERT_NE(victim, lost.end());
  std::vector<std::string> doubled = records;
  doubled.insert(doubled.begin() + (victim - lost.begin()), *victim);
  lost.erase(victim);
  for (const auto& changed : {lost, doubled}) {
    const ObservedRun run = replay(as_lines(changed), threads(2));
    EXPECT_NE(run.summary.digest, expected.summary.digest);
    EXPECT_NE(run.answers_hash, expected.answers_hash);
  }
}

}  // namespace
}  // namespace weir::tests
