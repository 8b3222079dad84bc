// ObservedRun: one whole run of an engine through the public API, and everything it showed.
#pragma once

#include <gtest/gtest.h>
#include <xxhash.h>

#include <memory>
#include <string>
#include <vector>

#include "weir/engine.h"

namespace weir::tests {

struct ObservedRun {
  Summary summary;
  std::vector<std::string> answers;
  std::vector<std::string> rejects;
  std::vector<std::string> results;  // of groups
  // Running hash over every answer in the order it came: what a final state forgets, it remembers.
  std::uint64_t answers_hash = 0;

  // What must be the same at every number of threads, block size and chunking.
  std::string fingerprint() const {
    std::string print =
        summary.digest + " epoch " + std::to_string(raw(summary.epoch)) + " hash " +
        std::to_string(answers_hash) + " records " + std::to_string(summary.records) + " tuples " +
        std::to_string(summary.tuples) + " applied " + std::to_string(summary.applied) + " late " +
        std::to_string(summary.late) + " unrouted " + std::to_string(summary.unrouted) +
        " streams " + std::to_string(summary.streams) + " datasets " +
        std::to_string(summary.datasets) + " state " + std::to_string(summary.state_bytes);
    for (const auto& [root, h] : summary.hierarchies) {
      print += " " + root + " " + std::to_string(h.applied) + "," + std::to_string(h.late) + "," +
               std::to_string(h.unrouted) + "," + std::to_string(h.results) + "," +
               std::to_string(h.silent);
    }
    for (const auto& [reason, n] : summary.rejected) print += " " + reason + std::to_string(n);
    for (const auto& [build, refused] : summary.refused) {
      print += " " + build + " refused " + std::to_string(refused.late) + "," +
               std::to_string(refused.without_time) + "," + std::to_string(refused.without_weight);
    }
    for (const auto& build : summary.builds_without_tuples) print += " unseen:" + build;
    return print;
  }
};

inline ObservedRun observe(Config config, const std::string& requests,
                           std::vector<std::unique_ptr<Source>> sources) {
  ObservedRun observed;
  config.digest = true;
  auto engine = Engine::create(config);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  if (!engine.ok()) return observed;
  engine->on_answer([&](const Answer& answer) {
    observed.answers.push_back(answer.to_json());
    observed.answers_hash = XXH3_64bits_withSeed(
        observed.answers.back().data(), observed.answers.back().size(), observed.answers_hash);
  });
  engine->on_result([&](const GroupResult& result) {
    observed.results.emplace_back();
    result.append_json(observed.results.back());
  });
  engine->on_reject([&](const Reject& reject) { observed.rejects.push_back(reject.to_json()); });
  for (auto& source : sources) engine->add_source(std::move(source));
  if (!requests.empty()) {
    const Status status = engine->request(requests);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const Status started = engine->start();
  EXPECT_TRUE(started.ok()) << started.message();
  auto summary = engine->finish();
  EXPECT_TRUE(summary.ok()) << summary.status().message();
  if (!summary.ok()) return observed;
  observed.summary = *std::move(summary);
  EXPECT_TRUE(observed.summary.conserved()) << observed.summary.to_json();
  return observed;
}

}  // namespace weir::tests
