// Every answer, reject and count of random runs, at random threads, roles, blocks and ways in,
// against a model that looks at one record after the other.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/engine_model.h"
#include "tests/support/memory_source.h"
#include "tests/support/model_gate.h"
#include "tests/support/random_rescales.h"
#include "tests/support/random_scenario.h"
#include "tests/support/temporary_folder.h"
#include "weir/engine.h"

namespace weir::tests {
namespace {

enum class Way { kSource, kBytes, kTuples };

Config random_config(RandomScenario& scenario) {
  Config config;
  config.layout = "saams";
  config.digest = true;
  config.placement = "none";
  config.emit = scenario.emit();
  config.max_jump = scenario.max_jump();
  config.block_size = std::size_t{4096} << std::min(scenario.pick(9), scenario.pick(9));
  config.ring_entries = std::array{0, 2, 4, 16}[scenario.pick(4)];
  if (scenario.pick(3) == 0) {
    config.ingest_threads = static_cast<unsigned>(1 + scenario.pick(3));
    config.shard_threads = static_cast<unsigned>(1 + scenario.pick(5));
  } else {
    config.threads = static_cast<unsigned>(1 + scenario.pick(8));
  }
  return config;
}

FieldValue pushed(const std::string& name, const ModelValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return FieldValue::of(name, std::string_view(*text));
  }
  if (const auto* real = std::get_if<double>(&value)) return FieldValue::of(name, *real);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return FieldValue::of(name, *whole);
  return FieldValue::of(name, std::get<std::uint64_t>(value));
}

void push_tuples(Engine& engine, RandomScenario& scenario) {
  const auto& records = scenario.records();
  for (std::size_t at = 0; at < records.size();) {
    const std::size_t n = std::min(records.size() - at, 1 + scenario.pick(50));
    std::vector<std::vector<FieldValue>> fields(n);
    std::vector<Tuple> tuples;
    for (std::size_t i = 0; i < n; ++i) {
      const ModelTuple& tuple = *records[at + i].tuple;
      for (const auto& [name, value] : tuple.fields) fields[i].push_back(pushed(name, value));
      tuples.push_back({tuple.dataset, tuple.stream, tuple.time, fields[i]});
    }
    if (engine.push(tuples) == Push::kAccepted) at += n;
  }
}

void push_bytes(Engine& engine, RandomScenario& scenario) {
  const std::string lines = scenario.lines();
  for (std::size_t at = 0; at < lines.size();) {
    const auto chunk = std::string_view(lines).substr(at, 1 + scenario.pick(3000));
    if (engine.push(chunk) == Push::kAccepted) at += chunk.size();
  }
}

std::string refusals(const Summary& summary) {
  std::string text;
  for (const auto& [build, refused] : summary.refused) {
    text += build + " late " + std::to_string(refused.late) + " without time " +
            std::to_string(refused.without_time) + " without weight " +
            std::to_string(refused.without_weight) + "\n";
  }
  return text;
}

// Changes of several things, so that it is known that runs had some.
struct Changes {
  std::size_t made = 0, refused = 0;
  void count(const std::vector<std::string>& answers) {
    for (const std::string& answer : answers) {
      if (!answer.starts_with(R"({"requestID":"c)")) continue;
      ++(answer.find(R"("estimate":{"added":[)") != std::string::npos ? made : refused);
    }
  }
};

void compare(std::uint64_t seed, std::size_t most_records, Changes& changes) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const Way way = std::array{Way::kSource, Way::kSource, Way::kBytes, Way::kTuples}[seed % 4];
  std::mt19937_64 sizes(seed);
  // Sometimes long enough for parts to take turns.
  const std::size_t records = sizes() % 12 == 0 ? 5000 + sizes() % 9000 : sizes() % most_records;
  RandomScenario scenario(seed, records, way == Way::kTuples);
  EngineModel model(scenario.emit());
  const ModelGate gate(scenario.records(), scenario.max_jump());
  model.run(gate.records, scenario.requests());

  Config config = random_config(scenario);
  TemporaryFolder states;
  config.state_directory = states.path();
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  std::vector<std::string> answers, rejects;
  engine->on_answer([&](const Answer& answer) {
    if (is_rescale(answer)) return;
    answers.push_back(EngineModel::comparable(answer.to_json()));
  });
  engine->on_reject([&](const Reject& reject) {
    rejects.push_back(EngineModel::comparable_reject(reject.to_json()));
  });
  if (way == Way::kSource) {
    const std::size_t piece = std::array{0, 50, 5000}[scenario.pick(3)];
    engine->add_source(
        std::make_unique<MemorySource>(scenario.lines(), piece, static_cast<std::uint32_t>(seed)));
  }
  const Status status = engine->request(scenario.requests() + random_rescales(seed, records));
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << scenario.requests();
  ASSERT_TRUE(engine->start().ok());
  if (way == Way::kBytes) push_bytes(*engine, scenario);
  if (way == Way::kTuples) push_tuples(*engine, scenario);
  const auto finished = engine->finish();
  if (way == Way::kSource && scenario.records().empty()) {
    EXPECT_FALSE(finished.ok());  // a source without records is a mistake
    return;
  }
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  const Summary& summary = *finished;
  for (std::size_t i = 0; i < std::min(answers.size(), model.answers.size()); ++i) {
    ASSERT_EQ(answers[i], model.answers[i]) << "answer " << i << "\n" << scenario.requests();
  }
  ASSERT_EQ(answers.size(), model.answers.size()) << scenario.requests();
  changes.count(answers);
  EXPECT_TRUE(summary.conserved());
  EXPECT_EQ(summary.records, model.summary.records);
  EXPECT_EQ(summary.tuples, model.summary.tuples);
  EXPECT_EQ(summary.rejected, model.summary.rejected);
  EXPECT_EQ(summary.applied, model.summary.applied);
  EXPECT_EQ(summary.late, model.summary.late);
  EXPECT_EQ(summary.leap.ns, gate.leap.ns);
  EXPECT_EQ(summary.leap.record, gate.leap.record);
  EXPECT_EQ(summary.unrouted, model.summary.unrouted);
  EXPECT_EQ(refusals(summary), refusals(model.summary));
  EXPECT_EQ(summary.streams, model.summary.streams);
  EXPECT_EQ(summary.datasets, model.summary.datasets);
  EXPECT_EQ(summary.epoch, model.summary.epoch);
  EXPECT_EQ(summary.state_bytes, model.summary.state_bytes);
  EXPECT_EQ(summary.builds_without_tuples, model.summary.builds_without_tuples);
  EXPECT_EQ(summary.digest, model.summary.digest);
  if (way == Way::kSource) {
    EXPECT_EQ(rejects, model.rejects);
    EXPECT_EQ(summary.bytes, model.summary.bytes);
  }
}

TEST(EngineModel, AgreesWithTheEngineOnRandomRuns) {
  Changes changes;
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) compare(seed, 500, changes);
  EXPECT_GT(changes.made, 100u);
  EXPECT_GT(changes.refused, 100u);
}

TEST(LongEngineModel, AgreesWithTheEngineOnManyRandomRuns) {
  Changes changes;
  for (std::uint64_t seed = 1000; seed < 11000 && !HasFailure(); ++seed)
    compare(seed, 3000, changes);
}

}  // namespace
}  // namespace weir::tests
