// Recovery equivalence, in one process: a job that ends at random places and goes on from what it
// left, again and again, shows what one that never ended shows: answers, results, rejects, counts
// and state, each once.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "tests/support/every_kind_requests.h"
#include "tests/support/gzip.h"
#include "tests/support/hierarchy_run.h"
#include "tests/support/random_hierarchies.h"
#include "tests/support/random_records.h"
#include "tests/support/random_rescales.h"
#include "tests/support/random_scenario.h"
#include "tests/support/recovery.h"

namespace weir::tests {
namespace {

// A job: what decides its answers. Threads and blocks differ from piece to piece.
struct Job {
  Config config;
  std::string requests;
  std::size_t records = 0;  // about so many
  std::uint64_t bytes = 0;
  // Of one piece. The call comes once so many bytes were read.
  std::function<std::vector<std::unique_ptr<Source>>(std::uint64_t, std::function<void()>)> sources;
};

Status start_on_sources(const Job& job, Engine& engine, std::uint64_t stop_after) {
  std::function<void()> stop;
  if (stop_after > 0) stop = [&engine] { engine.interrupt(); };
  for (auto& source : job.sources(stop_after, std::move(stop))) {
    engine.add_source(std::move(source));
  }
  if (!job.requests.empty()) {
    if (Status s = engine.request(job.requests); !s.ok()) return s;
  }
  return engine.start();
}

void compare(const Job& job, std::uint64_t seed, Seen& seen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed * 31 + 7);
  Shown uncut;
  const TemporaryFolder states;
  {
    Config config = job.config;
    vary(random, config);
    config.state_directory = states.path();
    run_piece(
        config, [&](Engine& engine, const auto&) { return start_on_sources(job, engine, 0); },
        uncut);
  }
  empty(states.path());
  Shown shown;
  std::string story;
  const std::size_t pieces = 2 + random() % 3;
  for (std::size_t piece = 0; piece < pieces && shown.error.empty(); ++piece) {
    const bool last = piece + 1 == pieces;
    Config config = job.config;
    vary(random, config);
    config.state_directory = states.path();
    config.resume = piece > 0;
    if (!last || random() % 2 == 0) {
      config.snapshot_every = {0, 1 + random() % (job.records / 4 + 1)};
    }
    if (piece > 0 && random() % 3 == 0) {
      if (const auto kept = snapshots_in(states.path()); !kept.empty()) {
        std::filesystem::remove(kept.back());
        ++seen.from_older;
      }
    }
    const std::uint64_t stop = last ? 0 : 1 + random() % (job.bytes * 5 / 4);
    run_piece(
        config,
        [&](Engine& engine, const std::optional<Resumed>& resumed) {
          if (piece > 0) ++(resumed.has_value() ? seen.resumed : seen.from_nothing);
          return start_on_sources(job, engine, stop);
        },
        shown);
    const Resumed from = shown.resumed.value_or(Resumed{});
    story += fmt::format("  piece from record {}, {} threads {}+{}, block {}, stopped at byte {}\n",
                         raw(from.records), config.threads, config.ingest_threads,
                         config.shard_threads, config.block_size, stop);
  }
  // A run may be wrong; then it is so each time.
  if (!uncut.error.empty() || !shown.error.empty()) {
    EXPECT_EQ(shown.error, uncut.error) << story;
    return;
  }
  seen.applied += uncut.run.summary.applied;
  seen.rejected += uncut.run.summary.rejected_total();
  const std::string found = difference(uncut.run, shown.run);
  EXPECT_EQ(found, "") << story << job.requests.substr(0, 20'000);
}

std::vector<std::unique_ptr<Source>> one_source(const std::string& bytes, std::uint32_t seed,
                                                std::uint64_t after, std::function<void()> then) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<RepeatableSource>(
      std::make_unique<MemorySource>(bytes, std::array{0, 50, 5000}[seed % 3], seed), after,
      std::move(then)));
  return sources;
}

Job scenario_job(std::uint64_t seed) {
  const RandomScenario scenario(seed, 300 + seed * 37 % 1200);
  Job job;
  job.config.layout = "saams";
  job.config.emit = scenario.emit();
  job.config.max_jump = scenario.max_jump();
  job.records = scenario.records().size();
  job.requests = with_own_files(scenario.requests()) + random_rescales(seed, job.records);
  const std::string lines = scenario.lines();
  job.bytes = lines.size();
  job.sources = [lines, seed](std::uint64_t after, std::function<void()> then) {
    return one_source(lines, static_cast<std::uint32_t>(seed), after, std::move(then));
  };
  return job;
}

void expect_all(const Seen& seen) {
  EXPECT_GT(seen.resumed, 0);
  EXPECT_GT(seen.from_older, 0);
  EXPECT_GT(seen.from_nothing, 0);
  EXPECT_GT(seen.applied, 1000u);
  EXPECT_GT(seen.rejected, 10u);
}

TEST(Recovery, OfRandomScenariosShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    compare(scenario_job(seed), seed, seen);
  }
  if (!HasFailure()) expect_all(seen);
}

TEST(LongRecovery, OfManyRandomScenariosShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 4000 && !HasFailure(); ++seed) {
    compare(scenario_job(seed), seed, seen);
  }
}

// All kinds in the hands of one law, over records with everything that an input may hold; plain,
// and as files of several sources, some compressed.
Job every_kind_job(std::uint64_t seed) {
  Job job;
  job.config.layout = "saams";
  job.records = 11'000;
  job.requests = kEveryKindRequests + random_rescales(seed, job.records);
  const std::string lines = as_lines(random_records(seed, job.records));
  job.bytes = lines.size();
  const std::size_t half = lines.find('\n', lines.size() / 2) + 1;
  const std::string first = lines.substr(0, half), second = lines.substr(half);
  job.sources = [first, second, seed](std::uint64_t after, const std::function<void()>& then) {
    std::vector<std::unique_ptr<Source>> sources;
    const std::size_t piece = std::array{0, 5000}[seed % 2];
    const std::uint64_t in_first = std::min<std::uint64_t>(after, first.size());
    sources.push_back(std::make_unique<RepeatableSource>(
        std::make_unique<MemorySource>(first, piece, 1, "first"), in_first,
        after <= first.size() ? then : std::function<void()>()));
    sources.push_back(std::make_unique<RepeatableSource>(
        decompressed(std::make_unique<MemorySource>(gzip(second), piece, 1, "second.gz")),
        after - in_first, after > first.size() ? then : std::function<void()>()));
    return sources;
  };
  return job;
}

TEST(Recovery, OfEveryKindOfSynopsisShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 6 && !HasFailure(); ++seed) {
    compare(every_kind_job(seed), seed, seen);
  }
}

// CSV with a header in every file, records of several lines, and lines that are none.
Job csv_job(std::uint64_t seed) {
  const RandomScenario scenario(seed, 300 + seed * 37 % 900);
  Job job;
  job.config.mapping_toml =
      "format = \"csv\"\nheader = true\ndataset = \"of\"\nstream = \"from\"\ntime = \"at\"\n"
      "time_unit = \"ms\"\n[fields]\nprice = \"price\"\nvolume = \"volume\"\nnote = \"note\"\n";
  job.config.emit = scenario.emit();
  job.config.max_jump = scenario.max_jump();
  job.records = scenario.records().size();
  job.requests = with_own_files(scenario.requests()) + random_rescales(seed, job.records);
  std::array<std::string, 3> files;
  std::size_t number = 0;
  for (std::string& file : files) {
    file = "from,of,at,price,volume,note\n";
    const std::size_t end = (&file - files.data() + 1) * job.records / files.size();
    for (; number < end; ++number) {
      const ModelRecord& record = scenario.records()[number];
      if (!record.tuple.has_value()) {
        file += number % 2 == 0 ? "a,b\n" : "\n";
        continue;
      }
      file += fmt::format("{},{},{}", record.tuple->stream, record.tuple->dataset,
                          record.tuple->time.ns / 1'000'000);
      for (const char* field : {"price", "volume", "note"}) {
        file += ',';
        const auto value = record.tuple->fields.find(field);
        if (value == record.tuple->fields.end()) continue;
        std::visit(
            [&file](const auto& v) {
              if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
                file += "\"" + v + "\n\"\"x\"";
              } else {
                file += fmt::format("{}", v);
              }
            },
            value->second);
      }
      file += '\n';
    }
    job.bytes += file.size();
  }
  job.sources = [files, seed](std::uint64_t after, const std::function<void()>& then) {
    std::vector<std::unique_ptr<Source>> sources;
    std::uint64_t before = 0;
    for (const std::string& file : files) {
      const bool here = after > before && after <= before + file.size();
      sources.push_back(std::make_unique<RepeatableSource>(
          std::make_unique<MemorySource>(file, std::array{0, 40, 5000}[seed % 3], seed,
                                         fmt::format("{}.csv", sources.size())),
          here ? after - before : 0, here ? then : std::function<void()>()));
      before += file.size();
    }
    return sources;
  };
  return job;
}

TEST(Recovery, OfFilesOfCsvShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    compare(csv_job(seed), seed, seen);
  }
  if (!HasFailure()) expect_all(seen);
}

TEST(LongRecovery, OfManyFilesOfCsvShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 3000 && !HasFailure(); ++seed) {
    compare(csv_job(seed), seed, seen);
  }
}

// Plain files of the file system, which several threads read at once.
TEST(Recovery, OfPlainFilesShowsWhatTheUncutRunShows) {
  const TemporaryFolder folder;
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    Job job = scenario_job(seed);
    std::string lines;
    for (const std::string& record : random_records(seed, 1500)) lines += record + "\n";
    const std::string path = folder.write("records", lines);
    job.bytes = lines.size();
    job.sources = [path](std::uint64_t after, const std::function<void()>& then) {
      std::vector<std::unique_ptr<Source>> sources;
      auto opened = open_sources({path});
      EXPECT_TRUE(opened.ok());
      sources.push_back(
          std::make_unique<RepeatableSource>(std::move(opened->front()), after, then));
      return sources;
    };
    compare(job, seed, seen);
  }
}

Job hierarchy_job(std::uint64_t seed) {
  const std::string layout = seed % 3 == 0 ? "saams" : "titan";
  const RandomHierarchies random(seed, layout, false);
  const OracleScenario& scenario = random.scenario();
  Job job;
  job.config.layout = layout;
  job.config.groups = scenario.defaults;
  job.config.max_jump = scenario.max_jump;
  job.config.emit = scenario.emit;
  for (const OracleScenario::Standing& standing : scenario.standing) {
    job.config.hierarchies.push_back({standing.registry.json(), "registry", standing.options});
  }
  job.records = scenario.records.size();
  job.requests = changes_of(scenario) + random_rescales(seed, job.records);
  // Synopses of results, whatever the fields of this run are.
  for (const char* field : {"sum", "a.average", "valueInW.count"}) {
    for (const char* stream : {"", "R0"}) {
      const std::string of =
          fmt::format(R"("dataset":"groups","stream":"{}","field":"{}")", stream, field);
      job.requests += fmt::format(
          R"({{"op":"build","synopsis":"GKQuantiles",{0},"params":{{"epsilon":0.05}}}}
{{"op":"query","synopsis":"GKQuantiles",{0},"query":0.5,"continuous":true}}
{{"op":"build","synopsis":"DFT",{0},"params":{{"window":8,"slide":4,"coefficients":2}}}}
{{"op":"query","synopsis":"DFT",{0},"at":{{"end":true}}}}
{{"op":"build","synopsis":"HyperLogLog",{0},"params":{{"rsd":0.1}},"window":{{"size":"10s"}}}}
{{"op":"query","synopsis":"HyperLogLog",{0},"continuous":true}}
)",
          of);
    }
  }
  const std::string lines = lines_of(scenario, layout);
  job.bytes = lines.size();
  job.sources = [lines, seed](std::uint64_t after, std::function<void()> then) {
    return one_source(lines, static_cast<std::uint32_t>(seed), after, std::move(then));
  };
  return job;
}

TEST(Recovery, OfRandomHierarchiesShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 120 && !HasFailure(); ++seed) {
    compare(hierarchy_job(seed), seed, seen);
  }
  if (!HasFailure()) expect_all(seen);
}

TEST(LongRecovery, OfManyRandomHierarchiesShowsWhatTheUncutRunShows) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 5000 && !HasFailure(); ++seed) {
    compare(hierarchy_job(seed), seed, seen);
  }
}

}  // namespace
}  // namespace weir::tests
