// What a request means, through the public API.

#include "weir/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"

namespace weir::tests {
namespace {

using testing::HasSubstr;

std::string record(int second, const char* stream, double price) {
  return fmt::format(
      R"({{"streamID":"{}","dataSetKey":"D","date":"01/02/2019","time":"00:{:02}:{:02}","price":{}}})"
      "\n",
      stream, second / 60, second % 60, price);
}

std::string ten_records() {
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += record(i, i % 2 == 0 ? "A" : "B", i);
  return lines;
}

std::vector<Answer> answers_of(const std::string& requests, const std::string& lines,
                               Config config = {}) {
  config.layout = "saams";
  if (config.threads == 0) config.threads = 2;
  auto engine = Engine::create(config);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  std::vector<Answer> answers;
  engine->on_answer([&](const Answer& answer) { answers.push_back(answer); });
  engine->add_source(std::make_unique<MemorySource>(lines));
  const Status status = engine->request(requests);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(engine->start().ok());
  const auto summary = engine->finish();
  EXPECT_TRUE(summary.ok()) << summary.status().message();
  if (summary.ok()) {
    EXPECT_TRUE(summary->conserved());
  }
  return answers;
}

constexpr const char* kBuild =
    R"({"op":"build","synopsis":"HyperLogLog","dataset":"D","stream":"A","field":"price","params":{"rsd":0.02}})"
    "\n";
constexpr const char* kQuery =
    R"({"op":"query","synopsis":"HyperLogLog","dataset":"D","stream":"A","field":"price")";

TEST(Engine, AnswersAnAdHocQueryOnceAtItsRecord) {
  const auto answers =
      answers_of(kBuild + std::string(kQuery) + R"(,"at":{"record":5}})", ten_records());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].kind, Answer::Kind::kAck);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kAdHoc);
  EXPECT_EQ(answers[1].n, 3u);
  EXPECT_EQ(raw(answers[1].seq), 5u);
  EXPECT_EQ(raw(answers[1].epoch), 1u);
}

TEST(Engine, PutsATimePositionJustBeforeTheRecordThatReachesIt) {
  const auto answers = answers_of(
      kBuild + std::string(kQuery) + R"(,"at":{"time":"2019-01-02T00:00:06Z"}})", ten_records());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(raw(answers[1].seq), 6u);
  EXPECT_EQ(answers[1].n, 3u);
}

TEST(Engine, LetsASynopsisSeeExactlyTheTuplesAfterItsBuild) {
  std::string build = kBuild;
  build.replace(build.find("}}"), 2, R"(},"at":{"record":3}})");
  const auto answers = answers_of(build + kQuery + "}", ten_records());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].n, 3u);  // A at 4, 6, 8
}

TEST(Engine, AcknowledgesABuildThatStandsAndRefusesOtherParameters) {
  std::string other = kBuild;
  other.replace(other.find("0.02"), 4, "0.05");
  const auto answers = answers_of(kBuild + std::string(kBuild) + other, ten_records());
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kAck);
  EXPECT_EQ(answers[2].kind, Answer::Kind::kError);
  EXPECT_THAT(answers[2].reason, HasSubstr("delete it first"));
}

TEST(Engine, AnswersAQueryWithoutItsSynopsisWithWhatStands) {
  const auto answers = answers_of(
      std::string(kBuild) +
          R"({"op":"query","synopsis":"CountMin","dataset":"D","stream":"A","field":"price","query":1})",
      ten_records());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kError);
  EXPECT_THAT(answers[1].reason, HasSubstr("HyperLogLog on price"));
}

TEST(Engine, AnswersContinuousQueriesEveryPeriodUntilTheDelete) {
  Config config;
  config.emit = {2 * kNanosPerSecond, 0};
  const std::string requests =
      kBuild + std::string(kQuery) + R"(,"continuous":true})" + "\n" +
      R"({"op":"delete","synopsis":"HyperLogLog","dataset":"D","stream":"A","field":"price","at":{"record":7}})";
  const auto answers = answers_of(requests, ten_records(), config);
  std::vector<std::uint64_t> at;
  for (const Answer& answer : answers) {
    if (answer.kind == Answer::Kind::kContinuous) at.push_back(raw(answer.seq));
  }
  EXPECT_EQ(at, (std::vector<std::uint64_t>{2, 4, 6}));
  EXPECT_EQ(answers.back().kind, Answer::Kind::kAck);
}

TEST(Engine, AnswersContinuousQueriesEverySoManyRecords) {
  Config config;
  config.emit = {0, 5};
  const auto answers =
      answers_of(kBuild + std::string(kQuery) + R"(,"continuous":true})", ten_records(), config);
  std::vector<std::uint64_t> at;
  for (const Answer& answer : answers) {
    if (answer.kind == Answer::Kind::kContinuous) at.push_back(raw(answer.seq));
  }
  EXPECT_EQ(at, (std::vector<std::uint64_t>{5, 10}));
}

TEST(Engine, NeverPutsAContinuousQueryBeforeItsBuild) {
  std::string build = kBuild;
  build.replace(build.find("}}"), 2, R"(},"at":{"record":3}})");
  Config config;
  config.emit = {0, 5};
  const auto answers = answers_of(kQuery + std::string(R"(,"continuous":true})") + "\n" + build,
                                  ten_records(), config);
  for (const Answer& answer : answers)
    EXPECT_NE(answer.kind, Answer::Kind::kError) << answer.reason;
  EXPECT_EQ(answers.size(), 3u);
}

TEST(Engine, AnswersABuildThatComesAfterItsQueryAndTheQueryWithAnError) {
  // SEMANTICS E: a query before its build blocks the build for ever.
  std::string build = kBuild;
  build.replace(build.find("}}"), 2, R"(},"at":{"record":3}})");
  const auto answers = answers_of(
      kQuery + std::string(R"(,"at":{"record":1}})") + "\n" + build + kQuery + "}", ten_records());
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].kind, Answer::Kind::kError);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kAck);
  EXPECT_EQ(answers[2].kind, Answer::Kind::kAdHoc);
  EXPECT_EQ(answers[2].n, 3u);
}

TEST(Engine, KeepsEveryQueryOfOneSynopsisAndAnswersEachOnceHoweverManyPartsItHas) {
  // SEMANTICS E: one query replaces another; ad-hoc queries are answered twice, continuous ones up
  // to noOfP times.
  constexpr const char* kParts =
      R"({"op":"build","synopsis":"CountMin","dataset":"D","field":"price","params":{"epsilon":0.1,"confidence":0.9},"parallelism":4})"
      "\n";
  const auto query = [](int id, const char* rest) {
    return fmt::format(
        R"({{"op":"query","synopsis":"CountMin","dataset":"D","field":"price","query":{},"requestID":{}{}}})"
        "\n",
        id, id, rest);
  };
  Config config;
  config.threads = 4;
  config.emit = {0, 5};
  const auto answers =
      answers_of(kParts + query(1, R"(,"continuous":true)") + query(2, R"(,"continuous":true)") +
                     query(3, "") + query(4, ""),
                 ten_records(), config);
  std::vector<std::string> got;
  for (const Answer& answer : answers) {
    ASSERT_NE(answer.kind, Answer::Kind::kError) << answer.reason;
    if (answer.kind == Answer::Kind::kAck) continue;
    got.push_back(fmt::format("{}@{}", answer.request_id, raw(answer.seq)));
    EXPECT_EQ(answer.n, raw(answer.seq));
  }
  EXPECT_THAT(got, testing::UnorderedElementsAre("1@5", "2@5", "1@10", "2@10", "3@10", "4@10"));
}

TEST(Engine, CountsTuplesHoweverFarInTimeTheyAreFromTheBuild) {
  // SEMANTICS E: tuples more than an hour from the build are lost.
  std::string lines;
  for (const int second : {0, 3'500, 3'599, 3, 3'000}) lines += record(second, "A", second);
  lines += R"({"streamID":"A","dataSetKey":"D","date":"06/02/2021","time":"12:00:00","price":7777})"
           "\n";
  const auto answers = answers_of(kBuild + std::string(kQuery) + "}", lines);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].n, 6u);
}

TEST(Engine, SaysThatAPositionWasNeverReached) {
  const auto answers =
      answers_of(kBuild + std::string(kQuery) + R"(,"at":{"record":500}})", ten_records());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kError);
  EXPECT_THAT(answers[1].reason, HasSubstr("ended after 10 records"));
}

TEST(Engine, CountsTuplesThatNoSynopsisTookAsUnrouted) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(ten_records() + "not json\n\n"));
  Config config;
  config.layout = "saams";
  const ObservedRun run = observe(config, kBuild, std::move(sources));
  EXPECT_EQ(run.summary.records, 11u);
  EXPECT_EQ(run.summary.tuples, 10u);
  EXPECT_EQ(run.summary.applied, 5u);
  EXPECT_EQ(run.summary.unrouted, 5u);
  EXPECT_EQ(run.summary.rejected.at("json"), 1u);
  EXPECT_EQ(run.summary.streams, 2u);
  EXPECT_EQ(run.summary.datasets, 1u);
  ASSERT_EQ(run.rejects.size(), 1u);
  EXPECT_THAT(run.rejects[0], HasSubstr("\"line\":11"));
}

TEST(Engine, TakesTuplesFromTheHostAndRequestsWhileItRuns) {
  Config config;
  config.threads = 2;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  ASSERT_TRUE(engine->request(kBuild).ok());
  ASSERT_TRUE(engine->start().ok());
  for (int i = 0; i < 1000; ++i) {
    const FieldValue field = FieldValue::of("price", i * 0.5);
    const Tuple tuple{"D", "A", Time{i * kNanosPerSecond}, {&field, 1}};
    ASSERT_EQ(engine->push(std::span(&tuple, 1)), Push::kAccepted);
  }
  ASSERT_TRUE(engine->request(kQuery + std::string("}")).ok());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const FieldValue bad = FieldValue::of("price", nan);
  const Tuple tuple{"D", "A", kNoTime, {&bad, 1}};
  EXPECT_EQ(engine->push(std::span(&tuple, 1)), Push::kInvalid);
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->applied, 1000u);
  Answer answer;
  ASSERT_TRUE(engine->poll(answer));
  EXPECT_EQ(answer.kind, Answer::Kind::kAck);
  ASSERT_TRUE(engine->poll(answer));
  EXPECT_EQ(answer.kind, Answer::Kind::kAdHoc) << answer.reason;
  EXPECT_FALSE(engine->poll(answer));
  EXPECT_EQ(engine->push("late\n"), Push::kClosed);
}

// A request that finds half a record in the input must not take that for one.
TEST(Engine, KeepsARecordWholeWhenARequestComesInItsMiddle) {
  Config config;
  config.layout = "saams";
  config.threads = 1;
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  ASSERT_TRUE(engine->request(kBuild).ok());
  ASSERT_TRUE(engine->start().ok());
  const std::string line = record(1, "A", 1.5);
  for (int i = 0; i < 50; ++i) {
    // All but its newline, which would be taken for a record of its own, too.
    ASSERT_EQ(engine->push(line.substr(0, line.size() - 1)), Push::kAccepted);
    ASSERT_TRUE(engine->request(R"({"op":"list"})").ok());
    for (Answer answer; !engine->poll(answer) || answer.estimate.empty();) {
      std::this_thread::yield();
    }
    ASSERT_EQ(engine->push("\n"), Push::kAccepted);
  }
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->records, 50u);
  EXPECT_EQ(summary->applied, 50u);
}

TEST(Engine, PutsAContinuousQueryWithoutAPositionRightBehindItsBuild) {
  std::string build = kBuild;
  build.replace(build.find("}}"), 2, R"(},"at":{"record":3}})");
  const std::string gone =
      R"({"op":"delete","synopsis":"HyperLogLog","dataset":"D","stream":"A","field":"price","at":{"record":3}})"
      "\n";
  const auto answers = answers_of(build + gone + kQuery + R"(,"continuous":true})", ten_records());
  ASSERT_EQ(answers.size(), 2u);  // the query came before the delete
  EXPECT_EQ(answers[0].kind, Answer::Kind::kAck);
  EXPECT_EQ(answers[1].kind, Answer::Kind::kAck);
}

TEST(Engine, StopsWhereItStandsWhenInterrupted) {
  Config config;
  config.layout = "saams";
  auto engine = Engine::create(config);
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(engine->start().ok());
  ASSERT_EQ(engine->push(ten_records()), Push::kAccepted);
  engine->interrupt();
  const auto summary = engine->finish();
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(summary->conserved());
}

TEST(Engine, EndsCleanlyWithoutFinish) {
  auto engine = Engine::create({});
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(engine->start().ok());
}

TEST(Engine, RefusesAnEmptyInputAndOneOfNoKnownLayout) {
  for (const auto& [bytes, says] :
       {std::pair{"", "no records"}, std::pair{"hello\nworld\n", "--layout"}}) {
    auto engine = Engine::create({});
    ASSERT_TRUE(engine.ok());
    engine->add_source(std::make_unique<MemorySource>(bytes));
    ASSERT_TRUE(engine->start().ok());
    const auto summary = engine->finish();
    ASSERT_FALSE(summary.ok());
    EXPECT_THAT(summary.status().message(), HasSubstr(says));
  }
}

}  // namespace
}  // namespace weir::tests
