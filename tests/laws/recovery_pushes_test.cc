// Recovery equivalence of what cannot be read again: pushed bytes and tuples, and requests that
// come while records do. What the journal holds of them is repeated, and the sender goes on behind
// it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "tests/support/random_rescales.h"
#include "tests/support/random_scenario.h"
#include "tests/support/recovery.h"

namespace weir::tests {
namespace {

// Requests that are given together, behind so many lines and the records that are in them.
struct Unit {
  std::size_t lines = 0;
  std::uint64_t records = 0, offset = 0;
  std::string text;
};

struct LiveJob {
  Config config;
  std::string requests;  // at the start
  std::size_t records = 0;
  std::string lines;
  std::vector<Unit> units;
};

std::string random_tree(Random& random) {
  std::array<std::string, 3> members;
  for (int stream = 0; stream < 7; ++stream) {
    members[random() % 3] += fmt::format(R"(,{{"identifier":"S{}"}})", stream);
  }
  std::string text = R"({"identifier":"R","children":[{"identifier":"G0","children":[)";
  text += members[0].substr(members[0].empty() ? 0 : 1) + R"(]},{"identifier":"G1","children":[)";
  text += members[1].substr(members[1].empty() ? 0 : 1) + "]}";
  return text + (random() % 2 == 0 ? members[2] : "") + "]}";
}

std::string other_change(Random& random, std::size_t id, std::size_t records) {
  std::string at;
  if (random() % 2 == 0) at = fmt::format(R"("at":{{"record":{}}},)", random() % records);
  if (random() % 3 == 0) {
    return std::array{
        R"({"op":"plugin","path":"fails_at_value.so"})",
        R"({"op":"build","synopsis":"FailsAtValue","dataset":"D","stream":"S1","field":"price","params":{"at":50}})",
        R"({"op":"build","synopsis":"FailsAtValue","dataset":"D","field":"price","params":{"at":1000000},"parallelism":3})",
        R"({"op":"query","synopsis":"FailsAtValue","dataset":"D","stream":"S1","field":"price","continuous":true})",
        R"({"op":"query","synopsis":"FailsAtValue","dataset":"D","field":"price"})"}[random() % 5];
  }
  if (random() % 2 == 0) {
    return fmt::format(R"({{"requestID":{},{}"workers":{},"ingest":{}}})", kRescale, at,
                       1 + random() % 4, random() % 3 == 0 ? 1 : 0);
  }
  return fmt::format(R"({{"requestID":"t{}",{}"registry":{}}})", id, at, random_tree(random));
}

LiveJob live_job(std::uint64_t seed) {
  Random random(seed + 100);
  const RandomScenario scenario(seed, 300 + seed * 37 % 900);
  LiveJob live;
  live.config.layout = "saams";
  live.config.journal = true;
  live.config.plugin_directory = WEIR_TEST_PLUGINS;
  live.config.emit = scenario.emit();
  live.config.max_jump = scenario.max_jump();
  live.config.groups.mode = std::array{GroupOptions::Mode::kChangelog, GroupOptions::Mode::kLatest,
                                       GroupOptions::Mode::kTumbling}[random() % 3];
  live.config.groups.emit = {10 * kNanosPerSecond, 0};
  live.config.groups.fields = {"price"};
  if (random() % 3 == 0) live.config.hierarchies.push_back({random_tree(random), "registry", {}});
  live.records = scenario.records().size();
  std::vector<std::string> asked;
  const std::string requests = with_own_files(scenario.requests());
  for (std::size_t from = 0, to = 0; from < requests.size(); from = to + 1) {
    to = requests.find('\n', from);
    const std::string request = requests.substr(from, to - from) + "\n";
    if (random() % 2 == 0) {
      live.requests += request;
    } else {
      asked.push_back(request);
    }
    if (random() % 4 == 0) asked.push_back(other_change(random, from, live.records) + "\n");
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    places.push_back(i > 0 && random() % 4 == 0 ? places.back() : random() % (live.records + 1));
  }
  std::sort(places.begin(), places.end());
  std::uint64_t records = 0;
  std::size_t line = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (; line < places[i]; ++line) {
      const ModelRecord& record = scenario.records()[line];
      records += record.blank() ? 0 : 1;
      live.lines += record.text + "\n";
    }
    std::string text = asked[i];
    // Most go alone; some have others with them.
    while (i + 1 < asked.size() && places[i + 1] == places[i] && random() % 2 == 0) {
      text += asked[++i];
    }
    text += fmt::format(R"({{"requestID":{}{}","op":"list"}})", kLive, live.units.size());
    live.units.push_back({line, records, live.lines.size(), std::move(text)});
  }
  for (; line < live.records; ++line) live.lines += scenario.records()[line].text + "\n";
  return live;
}

// Pushes and asks from where the engine stands. Ends early once `stop` bytes have been pushed in
// all; 0: never.
Status push_and_ask(const LiveJob& live, Engine& engine, const std::optional<Resumed>& resumed,
                    std::uint64_t stop, Random& random, const Shown& shown) {
  if (!live.requests.empty()) {
    if (Status s = engine.request(live.requests); !s.ok()) return s;
  }
  if (Status s = engine.start(); !s.ok()) return s;
  const Resumed from = resumed.value_or(Resumed{});
  const std::size_t extras = shown.known_extras;
  const std::size_t known = from.changes - extras;
  // A new request comes at once, while what is known already is still to be repeated.
  if (resumed.has_value() && random() % 2 == 0) {
    const std::string id = fmt::format("{}{}\"", kExtra, extras);
    if (Status s = engine.request(fmt::format(R"({{"requestID":{},"op":"list"}})", id)); !s.ok()) {
      return s;
    }
    while (shown.known_extras == extras && !engine.progress().done) std::this_thread::yield();
  }
  std::uint64_t at = from.offset;
  const auto push_to = [&](std::uint64_t end) {
    while (at < end) {
      const std::uint64_t most = std::min<std::uint64_t>(end - at, 1 + random() % 3000);
      const std::uint64_t n = stop > at ? std::min(most, stop - at) : most;
      if (n == 0) break;
      const Push push = engine.push(std::string_view(live.lines).substr(at, n));
      if (push == Push::kClosed) return false;
      if (push == Push::kFull) {
        std::this_thread::yield();
        continue;
      }
      at += n;
      if (at == stop) {
        engine.interrupt();
        return false;
      }
    }
    return true;
  };
  for (std::size_t i = known; i < live.units.size(); ++i) {
    const Unit& unit = live.units[i];
    if (unit.offset < at) return {Code::kInvalid, "a live change was lost"};
    if (!push_to(unit.offset)) return {};
    while (engine.progress().records < unit.records && !engine.progress().done) {
      std::this_thread::yield();
    }
    if (Status s = engine.request(unit.text); !s.ok()) return engine.progress().done ? Status() : s;
    if (stop > 0 && random() % 20 == 0) {
      engine.interrupt();
      return {};
    }
    while (shown.live <= i && !engine.progress().done) std::this_thread::yield();
  }
  push_to(live.lines.size());
  return {};
}

void compare_live(std::uint64_t seed, Seen& seen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const LiveJob live = live_job(seed);
  Random random(seed * 37 + 11);
  const auto drive = [&](std::uint64_t stop, Shown& shown) {
    return [&live, &random, &shown, stop](Engine& engine, const std::optional<Resumed>& resumed) {
      return push_and_ask(live, engine, resumed, stop, random, shown);
    };
  };
  Shown uncut, shown;
  const TemporaryFolder states;
  {
    Config config = live.config;
    vary(random, config);
    config.journal = false;
    config.state_directory = states.path();
    run_piece(config, drive(0, uncut), uncut);
  }
  empty(states.path());
  std::string story;
  const std::size_t pieces = 2 + random() % 3;
  for (std::size_t piece = 0; piece < pieces && shown.error.empty(); ++piece) {
    const bool last = piece + 1 == pieces;
    Config config = live.config;
    vary(random, config);
    config.state_directory = states.path();
    config.resume = piece > 0;
    if (random() % 4 != 0) config.snapshot_every = {0, 1 + random() % (live.records / 4 + 1)};
    const std::uint64_t stop = last ? 0 : 1 + random() % (live.lines.size() * 5 / 4);
    run_piece(config, drive(stop, shown), shown);
    const Resumed from = shown.resumed.value_or(Resumed{});
    if (piece > 0) ++(raw(from.records) > 0 ? seen.resumed : seen.from_nothing);
    story += fmt::format(
        "  piece from record {}, byte {}, {} changes; threads {} {}+{}, block {}, stopped at {}\n",
        raw(from.records), from.offset, from.changes, config.threads, config.ingest_threads,
        config.shard_threads, config.block_size, stop);
  }
  const auto units = [&live] {
    std::string text;
    for (const Unit& unit : live.units) {
      text += fmt::format("-- at record {}, byte {}\n{}\n", unit.records, unit.offset, unit.text);
    }
    return text;
  };
  EXPECT_EQ(uncut.error, "");
  EXPECT_EQ(shown.error, "") << story;
  if (!uncut.error.empty() || !shown.error.empty()) return;
  std::erase_if(shown.run.answers, [](const std::string& answer) {
    return answer.find("\"requestID\":" + std::string(kExtra)) != std::string::npos;
  });
  const std::string found = difference(uncut.run, shown.run);
  EXPECT_EQ(found, "") << story << live.requests << units();
}

TEST(Recovery, OfPushesAndLiveRequestsShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) compare_live(seed, seen);
  if (HasFailure()) return;
  EXPECT_GT(seen.resumed, 0);
  EXPECT_GT(seen.from_nothing, 0);
}

TEST(LongRecovery, OfManyPushesAndLiveRequestsShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 4000 && !HasFailure(); ++seed) compare_live(seed, seen);
}

TEST(Recovery, RepeatsLiveRequestsWithoutWaitingForARecord) {
  const TemporaryFolder states;
  Shown shown;
  for (const std::uint64_t records : {0, 10, 10}) {
    Config config;
    config.layout = "saams";
    config.threads = 2;
    config.state_directory = states.path();
    config.journal = true;
    config.resume = true;
    run_piece(
        config,
        [&](Engine& engine, const std::optional<Resumed>& resumed) -> Status {
          if (Status s = engine.start(); !s.ok()) return s;
          const std::uint64_t known = resumed.value_or(Resumed{}).changes;
          // A hang here is a live request that waits for a record.
          while (shown.live < known) std::this_thread::yield();
          std::string lines;
          for (std::uint64_t i = engine.progress().records; i < records; ++i) lines += "{}\n";
          if (!lines.empty()) (void)engine.push(std::string_view(lines));
          while (engine.progress().records < records) std::this_thread::yield();
          if (Status s =
                  engine.request(fmt::format(R"({{"requestID":{}{}","op":"list"}})", kLive, known));
              !s.ok()) {
            return s;
          }
          while (shown.live <= known) std::this_thread::yield();
          engine.interrupt();
          return {};
        },
        shown);
    EXPECT_EQ(shown.error, "");
  }
  EXPECT_EQ(shown.run.answers.size(), 3u);
}

// ---- tuples: a sender counts them, and the journal may end inside of one

Push push_tuples(Engine& engine, const std::vector<ModelRecord>& records, std::size_t from,
                 std::size_t to) {
  std::vector<std::vector<FieldValue>> fields(to - from);
  std::vector<Tuple> tuples;
  for (std::size_t i = from; i < to; ++i) {
    const ModelTuple& tuple = *records[i].tuple;
    for (const auto& [name, value] : tuple.fields) {
      std::visit(
          [&](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
              fields[i - from].push_back(FieldValue::of(name, std::string_view(v)));
            } else {
              fields[i - from].push_back(FieldValue::of(name, v));
            }
          },
          value);
    }
    tuples.push_back({tuple.dataset, tuple.stream, tuple.time, fields[i - from]});
  }
  return engine.push(tuples);
}

void compare_tuples(std::uint64_t seed, Seen& seen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const RandomScenario scenario(seed, 300 + seed * 37 % 1200, true);
  const auto& records = scenario.records();
  const std::string requests = with_own_files(scenario.requests());
  Random random(seed * 41 + 13);
  const auto drive = [&](std::size_t stop) {
    return [&, stop](Engine& engine, const std::optional<Resumed>& resumed) -> Status {
      if (Status s = engine.request(requests); !s.ok()) return s;
      if (Status s = engine.start(); !s.ok()) return s;
      for (std::size_t at = resumed.value_or(Resumed{}).offset; at < records.size();) {
        const std::size_t to = std::min<std::size_t>(records.size(), at + 1 + random() % 50);
        const Push push = push_tuples(engine, records, at, to);
        if (push == Push::kInvalid) return {Code::kInvalid, "a tuple was refused"};
        if (push == Push::kClosed) return {};
        if (push == Push::kFull) {
          std::this_thread::yield();
          continue;
        }
        at = to;
        if (stop > 0 && at >= stop) {
          engine.interrupt();
          return {};
        }
      }
      return {};
    };
  };
  Config common;
  common.emit = scenario.emit();
  common.max_jump = scenario.max_jump();
  const TemporaryFolder states;
  common.state_directory = states.path();
  Shown uncut, shown;
  vary(random, common);
  run_piece(common, drive(0), uncut);
  empty(states.path());
  const std::size_t pieces = 2 + random() % 4;
  for (std::size_t piece = 0; piece < pieces && shown.error.empty(); ++piece) {
    Config config = common;
    vary(random, config);
    config.journal = true;
    config.resume = piece > 0;
    if (random() % 3 != 0) config.snapshot_every = {0, 1 + random() % (records.size() / 4 + 1)};
    run_piece(config, drive(piece + 1 == pieces ? 0 : 1 + random() % records.size()), shown);
    const Resumed from = shown.resumed.value_or(Resumed{});
    if (piece > 0) ++(raw(from.records) > 0 ? seen.resumed : seen.from_nothing);
  }
  EXPECT_EQ(uncut.error, "");
  EXPECT_EQ(shown.error, "");
  if (!uncut.error.empty() || !shown.error.empty()) return;
  EXPECT_EQ(difference(uncut.run, shown.run), "");
}

TEST(Recovery, OfPushedTuplesShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) compare_tuples(seed, seen);
  if (HasFailure()) return;
  EXPECT_GT(seen.resumed, 0);
  EXPECT_GT(seen.from_nothing, 0);
}

TEST(LongRecovery, OfManyPushedTuplesShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 4000 && !HasFailure(); ++seed) compare_tuples(seed, seen);
}

// ---- pipes, one behind the other: the sender of each goes on where the engine says

void compare_pipes(std::uint64_t seed, Seen& seen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const RandomScenario scenario(seed, 300 + seed * 37 % 900);
  const std::string requests = with_own_files(scenario.requests());
  const std::string lines = scenario.lines();
  std::vector<std::string> pipes;
  for (std::size_t from = 0, to = 0; pipes.size() < 3; from = to) {
    to = pipes.size() == 2 ? lines.size() : lines.find('\n', (pipes.size() + 1) * lines.size() / 3);
    to = std::min(lines.size(), to + 1);
    pipes.push_back(lines.substr(from, to - from));
  }
  Random random(seed * 43 + 17);
  const auto drive = [&](std::uint64_t stop) {
    return [&, stop](Engine& engine, const std::optional<Resumed>& resumed) -> Status {
      const Resumed from = resumed.value_or(Resumed{});
      std::uint64_t left = stop;
      for (std::size_t i = 0; i < pipes.size(); ++i) {
        // Who has nothing to send any more sends rubbish, which nobody reads.
        const std::string bytes = i < from.source    ? "rubbish\n"
                                  : i == from.source ? pipes[i].substr(from.offset)
                                                     : pipes[i];
        const bool here = left > 0 && left <= bytes.size() && i >= from.source;
        engine.add_source(std::make_unique<RepeatableSource>(
            std::make_unique<MemorySource>(bytes, 3000, static_cast<std::uint32_t>(seed),
                                           fmt::format("pipe {}", i)),
            here ? left : 0, here ? [&engine] { engine.interrupt(); } : std::function<void()>(),
            false));
        if (i >= from.source) left = left > bytes.size() ? left - bytes.size() : 0;
      }
      if (Status s = engine.request(requests); !s.ok()) return s;
      return engine.start();
    };
  };
  Config common;
  common.layout = "saams";
  common.emit = scenario.emit();
  common.max_jump = scenario.max_jump();
  const TemporaryFolder states;
  common.state_directory = states.path();
  Shown uncut, shown;
  vary(random, common);
  run_piece(common, drive(0), uncut);
  empty(states.path());
  const std::size_t pieces = 2 + random() % 4;
  for (std::size_t piece = 0; piece < pieces && shown.error.empty(); ++piece) {
    Config config = common;
    vary(random, config);
    config.journal = true;
    config.resume = piece > 0;
    if (random() % 3 != 0) config.snapshot_every = {0, 1 + random() % 300};
    run_piece(config, drive(piece + 1 == pieces ? 0 : 1 + random() % lines.size()), shown);
    const Resumed from = shown.resumed.value_or(Resumed{});
    if (piece > 0) ++(raw(from.records) > 0 ? seen.resumed : seen.from_nothing);
  }
  EXPECT_EQ(uncut.error, "");
  EXPECT_EQ(shown.error, "");
  if (!uncut.error.empty() || !shown.error.empty()) return;
  EXPECT_EQ(difference(uncut.run, shown.run), "");
}

TEST(Recovery, OfPipesShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) compare_pipes(seed, seen);
  if (HasFailure()) return;
  EXPECT_GT(seen.resumed, 0);
  EXPECT_GT(seen.from_nothing, 0);
}

TEST(LongRecovery, OfManyPipesShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 4000 && !HasFailure(); ++seed) compare_pipes(seed, seen);
}

}  // namespace
}  // namespace weir::tests
