// Throughput of the whole job: one generated file, three synopses a stream, at several numbers of
// threads and streams, with the straw man and DuckDB beside it.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/child.h"
#include "harness/duckdb.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/measured.h"
#include "harness/spread.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

struct Options : RunOptions {
  std::uint64_t records = 9'300'000;
  std::vector<unsigned> threads = {1, 2};
  std::vector<std::uint64_t> streams = {100};
  std::vector<std::string> systems = {"weir", "straw-man", "duckdb"};
  DuckDb duckdb;
};

struct Cell : Configuration {
  const Workload* workload = nullptr;
  std::string system;
  unsigned threads = 1;
};

class Throughput {
 public:
  explicit Throughput(Options options) : options_(std::move(options)) {}

  Status run() {
    if (Status status = prepare(); !status.ok()) return status;
    const std::vector<Configuration*> all = configurations(cells_);
    const Status status =
        interleave(all, options_, [&](std::size_t i) { return measure(cells_[i]); });
    if (!status.ok()) return status;
    report();
    if (Status bad = check_answers(all); !bad.ok()) return bad;
    return append_lines(options_.out, lines());
  }

 private:
  Status prepare();
  Result<Measured> measure(const Cell& cell) const;
  const Cell* find(const Workload* workload, const std::string& system, unsigned threads) const;
  // (name, spread) of one configuration's rate over another's, repetition by repetition.
  std::vector<std::pair<std::string, Spread>> ratios() const;
  void report() const;
  std::vector<std::string> lines() const;

  Options options_;
  const std::string folder_ = program_folder();
  std::vector<std::unique_ptr<Workload>> workloads_;
  std::vector<Cell> cells_;
};

Status Throughput::prepare() {
  for (const std::uint64_t streams : options_.streams) {
    fmt::print(stderr, "workload: {} records of {} streams\n", options_.records, streams);
    auto made =
        make_workload(folder_ + "/weir", options_.data, options_.records, streams, options_.seed);
    if (!made.ok()) return made.status();
    workloads_.push_back(std::make_unique<Workload>(*std::move(made)));
  }
  if (std::erase(options_.systems, "duckdb") > 0 && options_.duckdb.found(options_.data)) {
    options_.systems.push_back("duckdb");
  }
  for (const auto& workload : workloads_) {
    for (const std::string& system : options_.systems) {
      for (const unsigned threads : options_.threads) {
        cells_.push_back(
            {{fmt::format("{:<9} {} threads, {} streams", system, threads, workload->streams),
              fmt::format("{} {}", system, workload->streams), workload->records},
             workload.get(),
             system,
             threads});
      }
    }
  }
  if (cells_.empty()) return {Code::kInvalid, "nothing is left to run"};
  return {};
}

Result<Measured> Throughput::measure(const Cell& cell) const {
  const Workload& workload = *cell.workload;
  if (cell.system == "weir") return WeirRun{workload, options_.data, cell.threads}.measure();
  if (cell.system == "duckdb") {
    return options_.duckdb.measure(workload.file, cell.threads, "stocks", options_.data);
  }
  auto run = run_child({folder_ + "/weir-straw-man", workload.file, std::to_string(cell.threads)},
                       options_.data + "/straw-man.log");
  if (!run.ok()) return run.status();
  return Measured::of(*run, cell.system, run->output);
}

const Cell* Throughput::find(const Workload* workload, const std::string& system,
                             unsigned threads) const {
  for (const Cell& cell : cells_) {
    if (cell.workload == workload && cell.system == system && cell.threads == threads) return &cell;
  }
  return nullptr;
}

std::vector<std::pair<std::string, Spread>> Throughput::ratios() const {
  std::vector<std::pair<std::string, Spread>> all;
  const auto add = [&](const Cell& over, const Cell* under, const std::string& name) {
    if (under == nullptr) return;
    all.emplace_back(name, rate_over(over, *under));
  };
  for (const Cell& cell : cells_) {
    const std::string where =
        fmt::format("{} threads, {} streams", cell.threads, cell.workload->streams);
    if (cell.system == "weir") {
      for (const char* peer : {"straw-man", "duckdb"}) {
        add(cell, find(cell.workload, peer, cell.threads),
            fmt::format("weir / {}, {}", peer, where));
      }
    }
    if (cell.threads > 1) {
      add(cell, find(cell.workload, cell.system, 1),
          fmt::format("{}, {} / 1 thread", cell.system, where));
    }
  }
  return all;
}

void Throughput::report() const {
  fmt::print(stderr, "\n{:<10} {:>7} {:>8} {:>28} {:>12} {:>10}\n", "system", "threads", "streams",
             "M records/s (min to max)", "ns a record", "peak MiB");
  for (const Cell& cell : cells_) {
    const Spread rate = cell.rate();
    fmt::print(
        stderr, "{:<10} {:>7} {:>8} {:>28} {:>12.1f} {:>10.0f}\n", cell.system, cell.threads,
        cell.workload->streams,
        fmt::format("{:.2f} ({:.2f} to {:.2f})", rate.median / 1e6, rate.min / 1e6, rate.max / 1e6),
        1e9 / rate.median, static_cast<double>(cell.peak_bytes()) / (1 << 20));
  }
  for (const auto& [name, ratio] : ratios()) {
    fmt::print(stderr, "{:<44} {:.2f} ({:.2f} to {:.2f})\n", name, ratio.median, ratio.min,
               ratio.max);
  }
}

std::vector<std::string> Throughput::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  const std::string origin = shared.str();
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    JsonLine line;
    line.add("experiment", "throughput").add("system", cell.system).add("threads", cell.threads);
    if (const std::string& version = cell.runs.front().version; !version.empty()) {
      line.add("version", version);
    }
    line.raw("records_per_second", cell.rate().to_json()).raw("workload", cell.workload->to_json());
    line.raw("repetitions", cell.runs_json())
        .add("answer", cell.runs.front().answer)
        .raw("origin", origin);
    lines.push_back(line.str());
  }
  for (const auto& [name, ratio] : ratios()) {
    JsonLine line;
    line.add("experiment", "throughput").add("ratio", name).raw("of_paired_runs", ratio.to_json());
    lines.push_back(line.add("repetitions", options_.repetitions).raw("origin", origin).str());
  }
  return lines;
}

}  // namespace

std::function<int()> add_throughput(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "records of the workload")->capture_default_str();
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  app.add_option("--streams", options->streams, "numbers of streams, e.g. 100,10000")
      ->delimiter(',');
  app.add_option("--systems", options->systems, "of weir, straw-man, duckdb")
      ->delimiter(',')
      ->check(CLI::IsMember({"weir", "straw-man", "duckdb"}));
  options->duckdb.add_options(app);
  options->add_options(app);
  return [options] { return exit_status(Throughput(*options).run()); };
}

}  // namespace weir::harness
