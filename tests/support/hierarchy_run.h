// Runs an engine on an OracleScenario through the public API, and says where it and the oracle
// part.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/oracle/hierarchy_oracle.h"
#include "tests/support/memory_source.h"
#include "tests/support/random_rescales.h"
#include "weir/engine.h"

namespace weir::tests {

enum class Way { kSource, kBytes, kTuples };

// How a scenario is run; nothing of it may be seen in the results.
struct RunPlan {
  std::string layout = "titan";  // titan | saams
  Way way = Way::kSource;
  Config config;  // threads, blocks, rings
  std::uint64_t seed = 1;
  bool rescales = false;  // the number of workers changes
};

struct HierarchyRun {
  std::string error;  // of the engine; the rest is nothing then
  std::vector<std::string> results;
  std::vector<OracleAnswer> answers;  // of changes, as they were given
  std::vector<std::string> reasons;   // of those that were refused
  Summary summary;
};

inline std::string iso_of(Time time) {
  const std::int64_t ms = time.ns / 1'000'000;
  const std::int64_t second = ms >= 0 ? ms / 1000 : -((999 - ms) / 1000);
  const auto day =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(second)));
  const std::chrono::year_month_day date(day);
  const std::int64_t of_day = second - day.time_since_epoch().count() * 86400;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), of_day / 3600, of_day / 60 % 60,
                     of_day % 60, ms - second * 1000);
}

inline std::string line_of(const OracleRecord& record, const std::string& layout) {
  std::string line = layout == "titan" ? fmt::format(R"({{"identifier":"{}")", record.stream)
                                       : fmt::format(R"({{"streamID":"{}","dataSetKey":"{}")",
                                                     record.stream, record.dataset);
  line += fmt::format(R"(,"timestamp":{})", record.time.ns / 1'000'000);
  for (const auto& [name, value] : record.fields) {
    line += fmt::format(R"(,"{}":)", name);
    if (const auto* text = std::get_if<std::string>(&value)) {
      line += fmt::format(R"("{}")", *text);
    } else if (const auto* real = std::get_if<double>(&value)) {
      line += fmt::format("{}", *real);
    } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      line += fmt::format("{}", *whole);
    } else {
      line += fmt::format("{}", std::get<std::uint64_t>(value));
    }
  }
  line += "}";
  if (record.broken) line.resize(line.size() - 2);
  return line + "\n";
}

inline std::string change_text(const OracleChange& change, std::size_t id) {
  const std::string at =
      change.record.has_value() ? fmt::format(R"({{"record":{}}})", *change.record)
      : change.time.has_value() ? fmt::format(R"({{"time":"{}"}})", iso_of(*change.time))
                                : std::string(R"({"end":true})");
  return fmt::format(R"({{"requestID":{},"at":{},"registry":{}}})", id, at,
                     change.malformed.empty() ? change.registry.json() : change.malformed) +
         "\n";
}

inline std::string lines_of(const OracleScenario& scenario, const std::string& layout) {
  std::string lines;
  for (const OracleRecord& record : scenario.records) lines += line_of(record, layout);
  return lines;
}

inline std::string changes_of(const OracleScenario& scenario) {
  std::string text;
  for (std::size_t i = 0; i < scenario.changes.size(); ++i) {
    text += change_text(scenario.changes[i], i);
  }
  return text;
}

inline std::string text_of(const GroupResult& r) {
  return OracleResult::text_of(r.identifier, r.hierarchy, r.field, r.time, r.window_start,
                               r.window_end, r.count, r.sum, r.min, r.max, r.members, r.sensors,
                               r.missing, r.final, raw(r.seq));
}

inline void push_scenario(Engine& engine, const OracleScenario& scenario, const RunPlan& plan) {
  std::mt19937_64 random(plan.seed);
  if (plan.way == Way::kBytes) {
    const std::string lines = lines_of(scenario, plan.layout);
    for (std::size_t at = 0; at < lines.size();) {
      const auto chunk = std::string_view(lines).substr(at, 1 + random() % 3000);
      const Push push = engine.push(chunk);
      if (push == Push::kAccepted) at += chunk.size();
      if (push == Push::kClosed) return;
      if (push == Push::kFull) std::this_thread::yield();
    }
    return;
  }
  const auto& records = scenario.records;
  for (std::size_t at = 0; at < records.size();) {
    const std::size_t n = std::min<std::size_t>(records.size() - at, 1 + random() % 50);
    std::vector<std::vector<FieldValue>> fields(n);
    std::vector<Tuple> tuples;
    for (std::size_t i = 0; i < n; ++i) {
      const OracleRecord& record = records[at + i];
      for (const auto& [name, value] : record.fields) {
        std::visit(
            [&](const auto& v) {
              using V = std::decay_t<decltype(v)>;
              if constexpr (std::is_same_v<V, std::string>) {
                fields[i].push_back(FieldValue::of(name, std::string_view(v)));
              } else {
                fields[i].push_back(FieldValue::of(name, v));
              }
            },
            value);
      }
      tuples.push_back({record.dataset, record.stream, record.time, fields[i]});
    }
    const Push push = engine.push(tuples);
    if (push == Push::kAccepted) at += n;
    if (push == Push::kClosed || push == Push::kInvalid) return;
    if (push == Push::kFull) std::this_thread::yield();
  }
}

inline HierarchyRun run_hierarchies(const OracleScenario& scenario, const RunPlan& plan) {
  HierarchyRun run;
  run.answers.resize(scenario.changes.size());
  run.reasons.resize(scenario.changes.size());
  Config config = plan.config;
  config.layout = plan.layout;
  config.placement = "none";
  config.groups = scenario.defaults;
  config.max_jump = scenario.max_jump;
  config.emit = scenario.emit;
  for (const OracleScenario::Standing& standing : scenario.standing) {
    config.hierarchies.push_back({standing.registry.json(), "registry", standing.options});
  }
  auto engine = Engine::create(config);
  if (!engine.ok()) {
    run.error = "create: " + engine.status().message();
    return run;
  }
  engine->on_result([&](const GroupResult& result) { run.results.push_back(text_of(result)); });
  engine->on_answer([&](const Answer& answer) {
    if (is_rescale(answer)) return;
    const std::size_t id = std::strtoull(answer.request_id.c_str(), nullptr, 10);
    if (answer.request_id.empty() || id >= run.answers.size()) {
      run.error = "an answer to nothing: " + answer.to_json();
      return;
    }
    run.answers[id] = {answer.kind == Answer::Kind::kAck, raw(answer.seq)};
    run.reasons[id] = answer.reason;
  });
  if (plan.way == Way::kSource) {
    engine->add_source(std::make_unique<MemorySource>(lines_of(scenario, plan.layout),
                                                      std::array{0, 50, 5000}[plan.seed % 3],
                                                      static_cast<std::uint32_t>(plan.seed)));
  }
  std::string changes = changes_of(scenario);
  if (plan.rescales) changes += random_rescales(plan.seed, scenario.records.size());
  if (!changes.empty()) {
    const Status status = engine->request(changes);
    if (!status.ok()) run.error = "request: " + status.message();
  }
  const Status started = engine->start();
  if (!started.ok()) {
    run.error = "start: " + started.message();
    return run;
  }
  if (plan.way != Way::kSource) push_scenario(*engine, scenario, plan);
  auto summary = engine->finish();
  if (!summary.ok()) {
    run.error = "finish: " + summary.status().message();
    return run;
  }
  run.summary = *std::move(summary);
  return run;
}

// The first thing in which a run is not what the oracle says; nothing if there is none.
inline std::optional<std::string> difference(const OracleOutcome& expected,
                                             const HierarchyRun& run) {
  if (!run.error.empty()) return run.error;
  const std::size_t most = std::max(expected.results.size(), run.results.size());
  for (std::size_t i = 0; i < most; ++i) {
    const std::string want = i < expected.results.size() ? expected.results[i].text() : "nothing";
    const std::string got = i < run.results.size() ? run.results[i] : "nothing";
    if (want != got) return fmt::format("result {}\n  oracle {}\n  engine {}", i, want, got);
  }
  for (std::size_t i = 0; i < expected.answers.size(); ++i) {
    if (expected.answers[i] == run.answers[i]) continue;
    return fmt::format("change {}: oracle {} at {}, engine {} at {} ({})", i,
                       expected.answers[i].taken ? "ack" : "error", expected.answers[i].seq,
                       run.answers[i].taken ? "ack" : "error", run.answers[i].seq, run.reasons[i]);
  }
  const auto compare = [](const std::string& what, std::uint64_t want,
                          std::uint64_t got) -> std::optional<std::string> {
    if (want == got) return std::nullopt;
    return fmt::format("{}: oracle {}, engine {}", what, want, got);
  };
  const Summary& s = run.summary;
  const auto future = s.rejected.find("future");
  for (const auto& found :
       {compare("tuples", expected.tuples, s.tuples),
        compare("applied", expected.all.applied, s.applied),
        compare("late", expected.all.late, s.late),
        compare("unrouted", expected.all.unrouted, s.unrouted),
        compare("results", expected.all.results, s.results),
        compare("hierarchies", expected.hierarchies.size(), s.hierarchies.size()),
        compare("future", expected.future, future == s.rejected.end() ? 0 : future->second),
        compare("rejected", expected.broken + expected.future, s.rejected_total())}) {
    if (found.has_value()) return found;
  }
  if (!s.conserved()) return "not conserved: " + s.to_json();
  for (const auto& [root, counts] : expected.hierarchies) {
    const auto h = s.hierarchies.find(root);
    if (h == s.hierarchies.end()) return "no summary of " + root;
    const auto& g = h->second;
    const OracleCounts got{g.applied, g.late,   g.unrouted, g.without_time,
                           g.results, g.groups, g.sensors,  g.silent};
    if (got.text() == counts.text()) continue;
    return fmt::format("{}:\n  oracle {}\n  engine {}", root, counts.text(), got.text());
  }
  return std::nullopt;
}

}  // namespace weir::tests
