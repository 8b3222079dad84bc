// Throughput of the whole job: one generated file, three synopses a stream, at several numbers of
// threads and streams, with the straw man and DuckDB beside it.
//
// The runs of one repetition follow each other, in an order that changes from one repetition to the
// next, so that what drifts in the machine falls on all systems alike; ratios are taken inside a
// repetition.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness/child.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/measured.h"
#include "harness/spread.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

struct Options {
  std::uint64_t records = 9'300'000;
  std::vector<unsigned> threads = {1, 2};
  std::vector<std::uint64_t> streams = {100};
  unsigned repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> systems = {"weir", "straw-man", "duckdb"};
  std::string data;
  std::string out = "-";
  std::string duckdb;  // folder with node_modules/@duckdb
  Quiet quiet;
};

// One configuration and its repetitions.
struct Cell {
  const Workload* workload = nullptr;
  std::string system;
  unsigned threads = 1;
  std::vector<Measured> runs;
};

class Throughput {
 public:
  explicit Throughput(Options options) : options_(std::move(options)) {}

  Status run() {
    if (Status status = prepare(); !status.ok()) return status;
    std::vector<std::size_t> order(cells_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::mt19937 random(1);
    for (unsigned repetition = 0; repetition < options_.repetitions; ++repetition) {
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        const Cell& cell = cells_[i];
        auto measured = options_.quiet.measure([&] { return measure(cell); });
        if (!measured.ok()) return measured.status();
        fmt::print(stderr,
                   "repetition {} {:<9} {} threads, {} streams: {:.2f} M records/s, others {:.0f} %"
                   ", {} discarded\n",
                   repetition + 1, cell.system, cell.threads, cell.workload->streams,
                   measured->records_per_second / 1e6, 100 * measured->others, measured->discarded);
        cells_[i].runs.push_back(*measured);
      }
    }
    report();
    if (Status status = append_lines(options_.out, lines()); !status.ok()) return status;
    return check_answers();
  }

 private:
  Status prepare();
  Status find_duckdb();
  Result<Measured> measure(const Cell& cell) const;
  std::vector<std::string> duckdb_command(const std::string& file, unsigned threads) const;
  const Cell* find(const Workload* workload, const std::string& system, unsigned threads) const;
  // (name, spread) of one configuration's rate over another's, repetition by repetition.
  std::vector<std::pair<std::string, Spread>> ratios() const;
  void report() const;
  std::vector<std::string> lines() const;
  Status check_answers() const;

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
  for (const auto& workload : workloads_) {
    for (const std::string& system : options_.systems) {
      if (system == "duckdb" && !find_duckdb().ok()) {
        fmt::print(stderr,
                   "duckdb is left out: npm install @duckdb/node-api, and say --duckdb DIR\n");
        continue;
      }
      for (const unsigned threads : options_.threads) {
        cells_.push_back({workload.get(), system, threads, {}});
      }
    }
  }
  if (cells_.empty()) return {Code::kInvalid, "nothing is left to run"};
  return {};
}

std::vector<std::string> Throughput::duckdb_command(const std::string& file,
                                                    unsigned threads) const {
  std::vector<std::string> command = {"node", WEIR_SOURCE_DIR "/harness/duckdb_peer.mjs", file,
                                      std::to_string(threads)};
  if (!options_.duckdb.empty()) command.push_back(options_.duckdb);
  return command;
}

Status Throughput::find_duckdb() {
  const std::string one = options_.data + "/one.ndjson";
  if (Status status = append_lines(one, {R"({"streamID":"A","price":1})"}); !status.ok())
    return status;
  return run_child(duckdb_command(one, 1), options_.data + "/duckdb.log").status();
}

Result<Measured> Throughput::measure(const Cell& cell) const {
  const Workload& workload = *cell.workload;
  if (cell.system == "weir") return WeirRun{workload, options_.data, cell.threads}.measure();
  const std::string log = options_.data + "/" + cell.system + ".log";
  auto run =
      cell.system == "duckdb"
          ? run_child(duckdb_command(workload.file, cell.threads), log)
          : run_child({folder_ + "/weir-straw-man", workload.file, std::to_string(cell.threads)},
                      log);
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
    std::vector<double> each;
    for (std::size_t i = 0; i < over.runs.size(); ++i) {
      each.push_back(over.runs[i].records_per_second / under->runs[i].records_per_second);
    }
    all.emplace_back(name, Spread::of(each));
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
    std::vector<double> rates;
    double peak = 0;
    for (const Measured& run : cell.runs) {
      rates.push_back(run.records_per_second / 1e6);
      peak = std::max(peak, static_cast<double>(run.peak_bytes) / (1 << 20));
    }
    const Spread rate = Spread::of(rates);
    fmt::print(stderr, "{:<10} {:>7} {:>8} {:>28} {:>12.1f} {:>10.0f}\n", cell.system, cell.threads,
               cell.workload->streams,
               fmt::format("{:.2f} ({:.2f} to {:.2f})", rate.median, rate.min, rate.max),
               1e3 / rate.median, peak);
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
    std::string runs = "[";
    std::vector<double> rates;
    for (const Measured& run : cell.runs) {
      runs += (runs.size() > 1 ? "," : "") + run.to_json();
      rates.push_back(run.records_per_second);
    }
    JsonLine line;
    line.add("experiment", "throughput").add("system", cell.system).add("threads", cell.threads);
    if (const std::string& version = cell.runs.front().version; !version.empty()) {
      line.add("version", version);
    }
    line.raw("records_per_second", Spread::of(rates).to_json())
        .raw("workload", cell.workload->to_json());
    line.raw("repetitions", runs + "]")
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

// Law 1, once more: all runs of weir over one workload say the same.
Status Throughput::check_answers() const {
  std::map<std::pair<const Workload*, std::string>, std::string> said;
  for (const Cell& cell : cells_) {
    for (const Measured& run : cell.runs) {
      const auto [first, fresh] = said.try_emplace({cell.workload, cell.system}, run.answer);
      if (!fresh && first->second != run.answer) {
        return {Code::kIo, fmt::format("{} gave different answers: '{}' and '{}'", cell.system,
                                       first->second, run.answer)};
      }
    }
  }
  return {};
}

}  // namespace

std::function<int()> add_throughput(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->data = std::filesystem::path(program_folder()).parent_path().string() + "/harness-data";
  app.add_option("--records", options->records, "records of the workload")->capture_default_str();
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  app.add_option("--streams", options->streams, "numbers of streams, e.g. 100,10000")
      ->delimiter(',');
  app.add_option("--repetitions", options->repetitions)
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", options->seed, "of the generator")->capture_default_str();
  app.add_option("--systems", options->systems, "of weir, straw-man, duckdb")
      ->delimiter(',')
      ->check(CLI::IsMember({"weir", "straw-man", "duckdb"}));
  app.add_option("--data", options->data, "folder for generated files")->capture_default_str();
  app.add_option("--duckdb", options->duckdb, "folder with node_modules/@duckdb/node-api");
  app.add_option("--out", options->out, "file that gets the results; - is standard output")
      ->capture_default_str();
  options->quiet.add_options(app);
  return [options] {
    const Status status = Throughput(*options).run();
    if (!status.ok()) fmt::print(stderr, "weir-harness: {}\n", status.message());
    return status.ok() ? 0 : 1;
  };
}

}  // namespace weir::harness
