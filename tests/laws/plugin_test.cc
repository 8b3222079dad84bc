// Plug-ins in a running engine: loaded without a restart, the same at every number of threads, and
// one that fails loses its synopsis alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_records.h"

namespace weir::tests {
namespace {

using testing::HasSubstr;

Config config_of(unsigned threads, std::size_t block = 8 << 10) {
  Config config;
  config.layout = "saams";
  config.threads = threads;
  config.block_size = block;
  config.plugin_directory = WEIR_TEST_PLUGINS;
  return config;
}

// A tally that fails at value 700 of S0, another that never does, and a count beside them.
const char* const kRequests = R"(
{"op":"plugin","path":"fails_at_value.so"}
{"op":"build","synopsis":"FailsAtValue","dataset":"Stocks","stream":"S0","field":"price","params":{"at":700}}
{"op":"build","synopsis":"FailsAtValue","dataset":"Stocks","stream":"S1","field":"price","params":{"at":1000000}}
{"op":"build","synopsis":"FailsAtValue","dataset":"Stocks","field":"price","params":{"at":700},"parallelism":3}
{"op":"build","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S0","field":"price","params":{"rsd":0.1}}
{"op":"query","synopsis":"FailsAtValue","dataset":"Stocks","stream":"S0","field":"price","at":{"record":100},"requestID":"before"}
{"op":"query","synopsis":"FailsAtValue","dataset":"Stocks","stream":"S0","field":"price","requestID":"failed"}
{"op":"query","synopsis":"FailsAtValue","dataset":"Stocks","stream":"S1","field":"price","requestID":"goes on"}
{"op":"query","synopsis":"FailsAtValue","dataset":"Stocks","field":"price","requestID":"parts"}
{"op":"query","synopsis":"HyperLogLog","dataset":"Stocks","stream":"S0","field":"price","requestID":"beside"}
)";

std::string answer_to(const ObservedRun& run, const std::string& id) {
  for (const std::string& answer : run.answers) {
    if (answer.find("\"requestID\":\"" + id + "\"") != std::string::npos) return answer;
  }
  return "none";
}

TEST(Plugins, ThatFailLoseOneSynopsisAndTheRunGoesOn) {
  const std::string lines = as_lines(random_records(21, 8000));
  ObservedRun expected;
  for (const unsigned threads : {1u, 2u, 4u, 8u}) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::make_unique<MemorySource>(lines));
    const ObservedRun run =
        observe(config_of(threads, threads == 4 ? 100'000 : 8192), kRequests, std::move(sources));
    EXPECT_THAT(answer_to(run, "before"), HasSubstr(R"("kind":"ad-hoc")"));
    EXPECT_THAT(answer_to(run, "failed"),
                testing::AllOf(HasSubstr(R"("kind":"error")"), HasSubstr("FailsAtValue"),
                               HasSubstr("code 7")));
    EXPECT_THAT(answer_to(run, "parts"), HasSubstr(R"("kind":"error")"));
    EXPECT_THAT(answer_to(run, "goes on"), HasSubstr(R"("kind":"ad-hoc")"));
    EXPECT_THAT(answer_to(run, "beside"), HasSubstr(R"("kind":"ad-hoc")"));
    ASSERT_EQ(run.summary.faults.size(), 2u);
    EXPECT_THAT(run.summary.faults[1], HasSubstr("Stocks/S0/price FailsAtValue: "));
    if (threads == 1) expected = run;
    EXPECT_EQ(run.answers, expected.answers);
    EXPECT_EQ(run.fingerprint(), expected.fingerprint());
    EXPECT_EQ(run.summary.faults, expected.summary.faults);
  }
}

TEST(Plugins, AreLoadedWhileTheEngineRuns) {
  auto engine = Engine::create(config_of(2));
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  ASSERT_TRUE(engine->start().ok());
  const auto push = [&](std::uint64_t seed) {
    const std::string lines = as_lines(random_records(seed, 2000));
    while (engine->push(lines) != Push::kAccepted) std::this_thread::yield();
  };
  push(22);
  ASSERT_TRUE(engine
                  ->request(R"([{"op":"plugin","path":"fails_at_value.so"},
{"op":"build","synopsis":"FailsAtValue","dataset":"Stocks","field":"price","params":{"at":1000000}}])")
                  .ok());
  push(23);
  ASSERT_TRUE(engine
                  ->request(R"({"op":"query","synopsis":"FailsAtValue","dataset":"Stocks",)"
                            R"("field":"price","at":{"end":true}})")
                  .ok());
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_TRUE(summary->conserved());
  std::vector<Answer> answers;
  for (Answer answer; engine->poll(answer);) answers.push_back(answer);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].kind, Answer::Kind::kAck);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kAck);
  EXPECT_EQ(answers[2].kind, Answer::Kind::kAdHoc) << answers[2].reason;
  EXPECT_GT(answers[2].n, 100u);
}

TEST(Plugins, ThatAreNotThereOrOutsideAreRefused) {
  const auto reason = [](const std::string& path, const std::string& directory) {
    Config config = config_of(1);
    config.plugin_directory = directory;
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::make_unique<MemorySource>(as_lines(random_records(24, 50))));
    const ObservedRun run =
        observe(config, R"({"op":"plugin","path":")" + path + "\"}", std::move(sources));
    return run.answers.empty() ? std::string("none") : run.answers[0];
  };
  EXPECT_THAT(reason("fails_at_value.so", ""), HasSubstr("no plug-in directory is set"));
  EXPECT_THAT(reason("none.so", WEIR_TEST_PLUGINS), HasSubstr(R"("kind":"error")"));
  EXPECT_THAT(reason("../plugins/fails_at_value.so", WEIR_TEST_PLUGINS), HasSubstr(".."));
  EXPECT_THAT(reason("/lib/x.so", WEIR_TEST_PLUGINS), HasSubstr(R"("kind":"error")"));
}

}  // namespace
}  // namespace weir::tests
