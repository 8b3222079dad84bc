// What a run may not go on from, and what it may: one run to a directory, the settings that decide
// answers, and the inputs that were there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/durable_job.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using testing::HasSubstr;

const DurableJob kJob{.pushed = false};

// A run over files that was broken off: it left snapshots, and records behind them.
struct BrokenOff {
  BrokenOff() {
    config = kJob.config(folder.at("states"));
    inputs = {folder.write("a.ndjson", kJob.lines_from(0, 100)),
              folder.write("b.ndjson", kJob.lines_from(100, 2900))};
    const Status status = run(config, inputs, [](Engine& engine) {
      while (engine.progress().records < kJob.records && !engine.progress().done) {
        std::this_thread::yield();
      }
    });
    EXPECT_TRUE(status.ok()) << status.message();
    config.resume = true;
  }
  static Status run(const Config& config, const std::vector<std::string>& inputs,
                    const std::function<void(Engine&)>& meanwhile = {},
                    const std::string& requests = kJob.requests()) {
    auto engine = Engine::create(config);
    if (!engine.ok()) return engine.status();
    auto sources = open_sources(inputs);
    if (!sources.ok()) return sources.status();
    for (auto& source : *sources) engine->add_source(std::move(source));
    if (Status s = engine->request(requests); !s.ok()) return s;
    if (Status s = engine->start(); !s.ok()) return s;
    if (meanwhile) meanwhile(*engine);
    auto summary = engine->finish();
    if (!summary.ok()) return summary.status();
    if (!summary->source_error.empty()) return {Code::kIo, summary->source_error};
    EXPECT_EQ(summary->records, kJob.records);
    return {};
  }
  Status resumed() const { return run(config, inputs); }

  TemporaryFolder folder;
  Config config;
  std::vector<std::string> inputs;
};

TEST(DurableRefusals, ADirectoryBelongsToOneRunAtATime) {
  const TemporaryFolder folder;
  const Config config = kJob.config(folder.path());
  {
    const auto first = Engine::create(config);
    ASSERT_TRUE(first.ok());
    EXPECT_THAT(Engine::create(config).status().message(), HasSubstr("in use by another run"));
  }
  EXPECT_TRUE(Engine::create(config).ok()) << "the first left nothing";
}

TEST(DurableRefusals, ARunThatDoesNotResumeDestroysNothing) {
  BrokenOff left;
  left.config.resume = false;
  const Status status = left.resumed();
  EXPECT_EQ(status.code(), Code::kConfig);
  EXPECT_THAT(status.message(), HasSubstr("add --resume"));
  left.config.resume = true;
  EXPECT_TRUE(left.resumed().ok());
}

TEST(DurableRefusals, NameWhatDiffersFromTheRunThatIsResumed) {
  const BrokenOff left;
  const auto refused = [&](const Config& config, const std::vector<std::string>& inputs,
                           const std::string& requests) {
    const Status status = BrokenOff::run(config, inputs, {}, requests);
    EXPECT_EQ(status.code(), Code::kConfig) << status.message();
    return status.message();
  };
  const std::string same = kJob.requests();
  EXPECT_THAT(refused(left.config, left.inputs, same + kJob.build("AMS", "S3", R"("params":{})")),
              HasSubstr("--requests differ"));
  EXPECT_THAT(refused(left.config, {left.inputs[1], left.inputs[0]}, same),
              HasSubstr("the inputs differ"));
  EXPECT_THAT(refused(left.config, {left.inputs[0]}, same), HasSubstr("the inputs differ"));
  Config other = left.config;
  other.emit = {0, 301};
  EXPECT_THAT(refused(other, left.inputs, same), HasSubstr("--emit differs"));
  other = left.config;
  other.layout = "auto";
  EXPECT_THAT(refused(other, left.inputs, same), HasSubstr("--layout differs"));
  other = left.config;
  other.hierarchies[0].registry += "S4,b\n";
  EXPECT_THAT(refused(other, left.inputs, same), HasSubstr("--registry differs"));
  other = left.config;
  other.groups.fields = {"volume"};
  EXPECT_THAT(refused(other, left.inputs, same), HasSubstr("options of hierarchies"));
}

TEST(DurableRefusals, LeaveThreadsAndBlocksToWhoeverResumes) {
  BrokenOff left;
  left.config.threads = 3;
  left.config.block_size = 16384;
  left.config.snapshot_every = {0, 777};
  const Status status = left.resumed();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(DurableRefusals, SayThatAnInputHasBecomeShorterOrIsGone) {
  const BrokenOff left;
  left.folder.write("b.ndjson", kJob.lines_from(100, 100));
  EXPECT_THAT(left.resumed().message(), HasSubstr("b.ndjson"));
  std::filesystem::remove(left.inputs[1]);
  EXPECT_THAT(left.resumed().message(), HasSubstr("b.ndjson"));
  left.folder.write("b.ndjson", kJob.lines_from(100, 2900));
  const Status status = left.resumed();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(DurableRefusals, SayThatAnInputIsAnotherNow) {
  const BrokenOff left;
  std::string other = kJob.lines_from(100, 2900);
  std::replace(other.begin(), other.end(), '7', '8');
  left.folder.write("b.ndjson", other);
  EXPECT_THAT(left.resumed().message(), HasSubstr("b.ndjson: other bytes stand before byte"));
  left.folder.write("b.ndjson", kJob.lines_from(100, 2900));
  const Status status = left.resumed();
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace weir::tests
