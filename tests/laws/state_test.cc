// Saving and loading at cuts of a running engine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synopses/state_file.h"
#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_records.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using testing::HasSubstr;

ObservedRun run(const std::string& lines, const std::string& requests, const std::string& states,
                unsigned threads = 2, std::size_t block = 8 << 10) {
  Config config;
  config.layout = "saams";
  config.threads = threads;
  config.block_size = block;
  config.state_directory = states;
  config.emit = {0, 1000};
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(lines));
  return observe(config, requests, std::move(sources));
}

std::string last_query(const ObservedRun& observed) {
  for (auto at = observed.answers.rbegin(); at != observed.answers.rend(); ++at) {
    if (at->find("ad-hoc") != std::string::npos) {
      const std::size_t n = at->find("\"n\":");
      return at->substr(n, at->find(",\"epoch\"") - n);
    }
  }
  return "none";
}

const char* const kBuilds[] = {
    R"("synopsis":"CountMin","stream":"S0","params":{"epsilon":0.05,"confidence":0.9},"parallelism":3)",
    R"("synopsis":"HyperLogLog","stream":"","params":{"rsd":0.1})",
    R"("synopsis":"BloomFilter","stream":"S0","params":{"expected":100,"fpp":0.1})",
    R"("synopsis":"DFT","stream":"S0","params":{"window":50,"slide":10,"coefficients":3})",
    R"("synopsis":"DFT","stream":"S0","params":{"interval":5,"basic":10,"window":60,"coefficients":3})",
    R"("synopsis":"LossyCounting","stream":"S0","params":{"epsilon":0.05},"weight":"volume")",
    R"("synopsis":"StickySampling","stream":"","params":{"support":0.2,"epsilon":0.1,"delta":0.1})",
    R"("synopsis":"AMS","stream":"S0","params":{"depth":3,"buckets":32},"window":{"size":"5m","slide":"1m","grace":"20s"})",
    R"("synopsis":"GKQuantiles","stream":"S0","params":{"epsilon":0.05})",
    R"("synopsis":"LSH","stream":"S0","params":{"window":20,"bits":40,"workers":1})",
    R"("synopsis":"WindowSketchQuantiles","stream":"S0","params":{"epsilon":0.05,"window":100})",
};

std::string request(const std::string& op, const std::string& build, const std::string& more = "") {
  std::string text = R"({"op":")" + op + R"(","dataset":"Stocks","field":"price",)" + build + more;
  if (op != "build") {
    // Only what names the synopsis.
    const std::size_t params = build.find(R"(,"params")");
    text = R"({"op":")" + op + R"(","dataset":"Stocks","field":"price",)" +
           build.substr(0, params) + more;
  }
  return text + "}\n";
}

// What was saved at the end of one run and is loaded by the next goes on as if it never had been.
TEST(StateFiles, SavedLoadedAndContinuedEqualsNeverSaved) {
  const std::vector<std::string> records = random_records(11, 6000);
  const std::vector<std::string> first(records.begin(), records.begin() + 3500);
  const std::vector<std::string> second(records.begin() + 3500, records.end());
  for (const char* build : kBuilds) {
    SCOPED_TRACE(build);
    // Parts and interval grids by record number would differ between one run and two; 3500 is no
    // multiple of the stride of parts, so whole synopses are compared.
    TemporaryFolder states;
    const std::string save = request("save", build, R"(,"path":"a/state.syn")");
    const ObservedRun whole = run(as_lines(records), request("build", build) + save, states.path());
    ASSERT_EQ(whole.answers.size(), 2u);
    EXPECT_THAT(whole.answers[1], HasSubstr(R"("kind":"ack")"));
    const std::string expected = states.read("a/state.syn");
    ASSERT_FALSE(expected.empty());
    run(as_lines(first), request("build", build) + save, states.path(), 3);
    EXPECT_NE(states.read("a/state.syn"), expected);
    const std::string load = request("load", build, R"(,"path":"a/state.syn")");
    const ObservedRun rest = run(as_lines(second), load + save, states.path(), 1);
    EXPECT_THAT(rest.answers[0], HasSubstr(R"("kind":"ack")"));
    const std::string continued = states.read("a/state.syn");
    const bool in_parts = std::string(build).find("parallelism") != std::string::npos;
    const bool whole_stream = std::string(build).find("StickySampling") == std::string::npos;
    if (whole_stream || in_parts) {
      EXPECT_EQ(continued, expected);
    } else {
      EXPECT_EQ((*synopses::load(continued))->n(), (*synopses::load(expected))->n());
    }
  }
}

TEST(StateFiles, ALoadReplacesWhatStandsAndItsContinuousQueriesGoOn) {
  TemporaryFolder states;
  const std::string lines = as_lines(random_records(12, 6000));
  const std::string build = kBuilds[8];
  const std::string requests = request("build", build) +
                               request("query", build, R"(,"query":0.5,"continuous":true)") +
                               request("save", build, R"(,"path":"gk","at":{"record":2000})") +
                               request("load", build, R"(,"path":"gk","at":{"record":5000})") +
                               request("query", build, R"(,"query":0.5,"at":{"record":2000})") +
                               request("query", build, R"(,"query":0.5,"at":{"record":5000})");
  const ObservedRun observed = run(lines, requests, states.path());
  std::vector<std::string> asked;
  int continuous = 0;
  for (const std::string& answer : observed.answers) {
    EXPECT_EQ(answer.find(R"("kind":"error")"), std::string::npos) << answer;
    if (answer.find("ad-hoc") != std::string::npos) {
      const std::size_t n = answer.find("\"n\":");
      asked.push_back(answer.substr(n, answer.find(",\"epoch\"") - n));
    }
    continuous += answer.find("continuous") != std::string::npos ? 1 : 0;
  }
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0], asked[1]) << "loaded at 5000 is as it was at 2000";
  EXPECT_EQ(continuous, static_cast<int>(observed.summary.records / 1000));
}

// A later save of the same file stands, and a load waits for it however its path is written.
TEST(StateFiles, SavesAndLoadsOfOneFileKeepTheirOrderAtEveryNumberOfThreads) {
  const std::string lines = as_lines(random_records(13, 6000));
  std::string requests;
  for (const char* stream : {"S0", "S1", "S2", "S3"}) {
    requests +=
        R"({"op":"build","synopsis":"CountMin","dataset":"Stocks","field":"price","stream":")" +
        std::string(stream) + R"(","params":{"epsilon":0.1,"confidence":0.9}})" + "\n";
  }
  std::uint64_t record = 3000;
  for (const char* stream : {"S0", "S1", "S2", "S3"}) {
    requests +=
        R"({"op":"save","synopsis":"CountMin","dataset":"Stocks","field":"price","stream":")" +
        std::string(stream) + R"(","path":"x","at":{"record":)" + std::to_string(record++) + "}}\n";
  }
  requests +=
      R"({"op":"load","synopsis":"CountMin","dataset":"Stocks","field":"price","stream":"S5",)"
      R"("path":"./x","at":{"record":3004}})"
      "\n"
      R"({"op":"query","synopsis":"CountMin","dataset":"Stocks","field":"price","stream":"S5",)"
      R"("query":105.5,"at":{"record":3004}})"
      "\n";
  std::string expected;
  for (const unsigned threads : {1u, 2u, 4u, 4u, 8u, 8u}) {
    TemporaryFolder states;
    const ObservedRun observed = run(lines, requests, states.path(), threads, 4096);
    const std::string said = last_query(observed) + observed.fingerprint();
    if (expected.empty()) expected = said;
    EXPECT_EQ(said, expected) << threads;
    for (const std::string& answer : observed.answers) {
      EXPECT_EQ(answer.find(R"("kind":"error")"), std::string::npos) << answer;
    }
  }
}

TEST(StateFiles, SayWhatIsWrong) {
  TemporaryFolder states;
  const std::string lines = as_lines(random_records(14, 1000));
  states.write("junk", "not a synopsis");
  const std::string build = request("build", kBuilds[8]);
  const auto reason = [&](const std::string& asked, const std::string& directory) {
    const ObservedRun observed = run(lines, build + asked, directory);
    for (const std::string& answer : observed.answers) {
      if (answer.find(R"("kind":"error")") != std::string::npos) return answer;
    }
    return std::string("no error");
  };
  const auto load = [](const char* synopsis, const char* path, const char* more = "") {
    return std::string(R"({"op":"load","synopsis":")") + synopsis +
           R"(","dataset":"Stocks","stream":"S0","field":"price","path":")" + path + "\"" + more +
           "}";
  };
  EXPECT_THAT(reason(load("GKQuantiles", "none"), states.path()), HasSubstr("No such file"));
  EXPECT_THAT(reason(load("GKQuantiles", "junk"), states.path()),
              HasSubstr("not a saved synopsis"));
  EXPECT_THAT(reason(load("GKQuantiles", "../junk"), states.path()), HasSubstr(".."));
  EXPECT_THAT(reason(load("GKQuantiles", "/etc/passwd"), states.path()), HasSubstr("inside"));
  EXPECT_THAT(reason(load("GKQuantiles", "junk"), ""), HasSubstr("no state directory is set"));
  const std::string save = request("save", kBuilds[8], R"(,"path":"gk")");
  EXPECT_THAT(reason(save + request("load", kBuilds[8], R"(,"path":"gk","at":{"end":true})"),
                     states.path()),
              HasSubstr("saved at this very position"));
  EXPECT_THAT(reason(save + save, states.path()), HasSubstr("at this very position already"));
  EXPECT_THAT(reason(load("CountMin", "gk"), states.path()),
              HasSubstr("holds a GKQuantiles, but a CountMin is to be loaded"));
  EXPECT_THAT(reason(request("save", kBuilds[1], R"(,"path":"hll")"), states.path()),
              HasSubstr("no HyperLogLog stands"));
}

// 2^63 values would overflow the sum of two partials.
TEST(StateFiles, OfMoreValuesThanCanBeMergedAreRefused) {
  TemporaryFolder states;
  const std::string lines = as_lines(random_records(15, 300));
  run(lines, request("build", kBuilds[1]) + request("save", kBuilds[1], R"(,"path":"h")"),
      states.path());
  std::string bytes = states.read("h");
  const std::uint64_t much = std::uint64_t{1} << 63;
  std::memcpy(bytes.data() + 24, &much, sizeof much);  // n, see docs/formats/synopsis.md
  EXPECT_FALSE(synopses::load(bytes).ok());
}

TEST(StateFiles, BuildsWhosePartsAndPanesWouldNotFitAreRefused) {
  TemporaryFolder states;
  const std::string lines = as_lines(random_records(16, 300));
  const std::string parts =
      R"({"op":"build","synopsis":"AMS","dataset":"Stocks","stream":"S0","field":"price",)"
      R"("params":{"depth":32,"buckets":1048576},"parallelism":64})";
  const std::string panes =
      R"({"op":"build","synopsis":"AMS","dataset":"Stocks","stream":"S0","field":"price",)"
      R"("params":{"depth":16,"buckets":1048576},"window":{"size":"2000s","slide":"1s"}})";
  for (const std::string& build : {parts, panes}) {
    const ObservedRun observed = run(lines, build, states.path());
    ASSERT_EQ(observed.answers.size(), 1u);
    EXPECT_THAT(observed.answers[0], HasSubstr("exceed 1073741824 bytes"));
  }
}

// Streams and fields that hold the separators of names.
TEST(StateFiles, SynopsesOfStreamsWithSlashesStayApart) {
  std::string lines;
  for (int i = 0; i < 400; ++i) {
    lines += R"({"streamID":")" + std::string(i % 2 == 0 ? "A/B" : "B") +
             R"(","dataSetKey":"D","timestamp":15463872000)" + std::to_string(10 + i % 90) +
             R"(,"price":)" + std::to_string(i) + R"(,"price/A":)" + std::to_string(i % 7) + "}\n";
  }
  const std::string requests =
      R"({"op":"build","synopsis":"DFT","dataset":"D","field":"price","params":{"window":8,"slide":4,"coefficients":2}}
{"op":"build","synopsis":"DFT","dataset":"D","field":"price/A","params":{"window":8,"slide":4,"coefficients":2}}
{"op":"query","synopsis":"DFT","dataset":"D","stream":"A/B","field":"price"}
{"op":"query","synopsis":"DFT","dataset":"D","stream":"B","field":"price/A"}
)";
  std::string expected;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ObservedRun observed = run(lines, requests, "", threads);
    EXPECT_EQ(observed.answers.size(), 4u);
    if (expected.empty()) expected = observed.fingerprint();
    EXPECT_EQ(observed.fingerprint(), expected);
  }
}

}  // namespace
}  // namespace weir::tests
