// The whole job with each of the ten synopses alone on every stream, with all of them, and with
// none, on one thread and more. Says what each costs a record, and checks that the digest of the
// final state and the answers are the same at every number of threads.
//
// What a synopsis costs is taken inside a repetition, in CPU time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/spread.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

constexpr const char* kNone = "none";
constexpr const char* kAll = "all";

struct Options : RunOptions {
  std::uint64_t records = 9'300'000;
  std::uint64_t streams = 100;
  std::vector<unsigned> threads = {1, 2};
  std::vector<std::string> synopses;  // empty = none, each, all
};

struct Cell : Configuration {
  std::string synopsis;
  Workload workload;
  unsigned threads = 1;
};

class Synopses {
 public:
  explicit Synopses(Options options) : options_(std::move(options)) {}

  Status run() {
    if (Status status = prepare(); !status.ok()) return status;
    const std::vector<Configuration*> all = configurations(cells_);
    const Status status = interleave(all, options_, [&](std::size_t i) {
      return WeirRun{cells_[i].workload, options_.data, cells_[i].threads}.measure();
    });
    if (!status.ok()) return status;
    report();
    // Before they are recorded: figures of runs that disagree are worth nothing.
    if (Status bad = check_answers(all); !bad.ok()) return bad;
    return append_lines(options_.out, lines());
  }

 private:
  Status prepare();
  const Cell* find(const std::string& synopsis, unsigned threads) const;
  // A run without synopses; null where there is none, or it is this one.
  const Cell* none_beside(const Cell& cell) const;
  void report() const;
  std::vector<std::string> lines() const;

  Options options_;
  std::vector<Cell> cells_;
};

Status Synopses::prepare() {
  auto made = make_workload(program_folder() + "/weir", options_.data, options_.records,
                            options_.streams, options_.seed);
  if (!made.ok()) return made.status();
  const std::vector<Asked> ten = ten_synopses();
  std::vector<std::pair<std::string, std::vector<Asked>>> sets = {{kNone, {}}};
  for (const Asked& each : ten) sets.push_back({each.synopsis, {each}});
  sets.push_back({kAll, ten});
  for (const auto& [name, asked] : sets) {
    if (!options_.synopses.empty() && std::ranges::count(options_.synopses, name) == 0) continue;
    const Workload workload =
        made->with(asked, fmt::format("{}/requests-{}-{}-{}-{}.ndjson", options_.data,
                                      options_.records, options_.streams, options_.seed, name));
    for (const unsigned threads : options_.threads) {
      cells_.push_back({{fmt::format("{:<22} {} threads", name, threads), name, workload.records},
                        name,
                        workload,
                        threads});
    }
  }
  if (cells_.empty()) return {Code::kInvalid, "nothing is left to run"};
  return {};
}

const Cell* Synopses::find(const std::string& synopsis, unsigned threads) const {
  for (const Cell& cell : cells_) {
    if (cell.synopsis == synopsis && cell.threads == threads) return &cell;
  }
  return nullptr;
}

const Cell* Synopses::none_beside(const Cell& cell) const {
  const Cell* none = find(kNone, cell.threads);
  return none == &cell ? nullptr : none;
}

void Synopses::report() const {
  fmt::print(stderr, "\n{:<22} {:>7} {:>26} {:>12} {:>12} {:>15} {:>10}\n", "synopsis", "threads",
             "M records/s (min to max)", "ns a record", "CPU ns", "beyond none", "peak MiB");
  for (const Cell& cell : cells_) {
    const Spread rate = cell.rate();
    const Cell* none = none_beside(cell);
    fmt::print(
        stderr, "{:<22} {:>7} {:>26} {:>12.1f} {:>12.1f} {:>15} {:>10.0f}\n", cell.synopsis,
        cell.threads,
        fmt::format("{:.2f} ({:.2f} to {:.2f})", rate.median / 1e6, rate.min / 1e6, rate.max / 1e6),
        1e9 / rate.median, cpu_ns_of(cell).median,
        none == nullptr ? "" : fmt::format("{:.1f}", cpu_ns_beyond(cell, *none).median),
        static_cast<double>(cell.peak_bytes()) / (1 << 20));
  }
}

std::vector<std::string> Synopses::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  const std::string origin = shared.str();
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    JsonLine line;
    line.add("experiment", "synopses").add("synopsis", cell.synopsis).add("threads", cell.threads);
    line.raw("records_per_second", cell.rate().to_json());
    line.raw("cpu_ns_a_record", cpu_ns_of(cell).to_json());
    if (const Cell* none = none_beside(cell); none != nullptr) {
      line.raw("cpu_ns_beyond_none", cpu_ns_beyond(cell, *none).to_json());
    }
    if (const Cell* one = find(cell.synopsis, 1); one != nullptr && one != &cell) {
      line.raw("over_one_thread", rate_over(cell, *one).to_json());
    }
    line.raw("workload", cell.workload.to_json()).raw("repetitions", cell.runs_json());
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", origin).str());
  }
  return lines;
}

}  // namespace

std::function<int()> add_synopses(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> names = {kNone, kAll};
  for (const Asked& each : ten_synopses()) names.push_back(each.synopsis);
  app.add_option("--records", options->records, "records of the workload")->capture_default_str();
  app.add_option("--streams", options->streams)->capture_default_str();
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  app.add_option("--synopses", options->synopses,
                 "which, e.g. none,AMS,all; without it none, each of the ten, and all")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  options->add_options(app);
  return [options] { return exit_status(Synopses(*options).run()); };
}

}  // namespace weir::harness
