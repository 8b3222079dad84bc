// Hierarchies: the whole job (parse and aggregate) over sensors in groups of eight: every mode, at
// several numbers of sensors and threads, beside the same records without a hierarchy (the
// difference is what hierarchies cost a record) and DuckDB's GROUP BY on the same file.
//
// On one thread the difference is what the one owner of all hierarchies (docs/adr/0005) spends on a
// record; from it follows how many cores that owner can keep up with. Starting is part of it: a
// registry is compiled when the first record comes. CPU time has more in it: reading the registry,
// and the digest of the final state; but other programs hardly disturb it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness/duckdb.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/spread.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

constexpr const char* kNone = "none";

struct Mode {
  const char* name;
  std::vector<std::string> arguments;
};

// Results are counted only, but for the last, which writes each as JSON.
const std::vector<Mode>& modes() {
  static const std::vector<Mode> kModes = {
      {kNone, {}},
      {"latest", {"--mode", "latest", "--emit", "10s"}},
      {"tumbling", {"--mode", "tumbling", "--emit", "10s", "--grace", "10s"}},
      {"sliding",
       {"--mode", "sliding", "--window", "60s", "--advance", "10s", "--emit", "10s", "--grace",
        "10s"}},
      {"changelog", {"--mode", "changelog"}},
      {"changelog-written", {"--mode", "changelog", "--results", "/dev/null"}},
  };
  return kModes;
}

std::vector<std::string> names_of_modes() {
  std::vector<std::string> names;
  for (const Mode& mode : modes()) names.emplace_back(mode.name);
  return names;
}

const std::vector<std::string>& queries() {  // of duckdb_peer.mjs
  static const std::vector<std::string> kQueries = {"sensors", "windows", "newest"};
  return kQueries;
}

struct Options : RunOptions {
  Options() : RunOptions(3) {}

  std::vector<std::uint64_t> sensors = {64, 512, 4096, 32'768, 1'000'000};
  std::uint64_t records = 4'000'000;
  std::uint64_t seconds = 24;
  std::vector<unsigned> threads = {1, 2};
  std::vector<std::string> modes = names_of_modes();
  std::vector<std::string> queries = harness::queries();
  DuckDb duckdb;
};

struct Cell : Configuration {
  const Workload* workload = nullptr;
  std::string system;  // weir | duckdb
  std::string job;     // mode or query
  unsigned threads = 1;
};

class Hierarchies {
 public:
  explicit Hierarchies(Options options) : options_(std::move(options)) {}

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
  void add_cells(const Workload& workload, const std::string& system,
                 const std::vector<std::string>& jobs);
  Result<Measured> measure(const Cell& cell) const;
  // The same workload and threads; null where there is none.
  const Cell* beside(const Cell& cell, const std::string& system, const std::string& job) const;
  const Cell* on_one_thread(const Cell& cell) const;
  void report() const;
  std::vector<std::string> lines() const;
  void add_comparisons(const Cell& cell, JsonLine& line) const;

  Options options_;
  std::vector<std::unique_ptr<Workload>> workloads_;
  std::vector<Cell> cells_;
};

Status Hierarchies::prepare() {
  const bool duckdb = !options_.queries.empty() && options_.duckdb.found(options_.data);
  for (const std::uint64_t sensors : options_.sensors) {
    const std::uint64_t records = std::max(options_.records, options_.seconds * sensors);
    fmt::print(stderr, "workload: {} records of {} sensors\n", records, sensors);
    auto made =
        make_sensors(program_folder() + "/weir", options_.data, records, sensors, options_.seed);
    if (!made.ok()) return made.status();
    workloads_.push_back(std::make_unique<Workload>(*std::move(made)));
    add_cells(*workloads_.back(), "weir", options_.modes);
    if (duckdb) add_cells(*workloads_.back(), "duckdb", options_.queries);
  }
  if (cells_.empty()) return {Code::kInvalid, "nothing is left to run"};
  return {};
}

void Hierarchies::add_cells(const Workload& workload, const std::string& system,
                            const std::vector<std::string>& jobs) {
  for (const std::string& job : jobs) {
    // What is written does not change what is found.
    const std::string kin = job.starts_with("changelog") ? "changelog" : job;
    for (const unsigned threads : options_.threads) {
      Cell cell;
      cell.title = fmt::format("{:>7} sensors, {:<6} {:<17} {} threads", workload.streams, system,
                               job, threads);
      cell.kin = fmt::format("{} {} {}", workload.streams, system, kin);
      cell.records = workload.records;
      cell.workload = &workload;
      cell.system = system;
      cell.job = job;
      cell.threads = threads;
      cells_.push_back(std::move(cell));
    }
  }
}

Result<Measured> Hierarchies::measure(const Cell& cell) const {
  if (cell.system == "duckdb") {
    return options_.duckdb.measure(cell.workload->file, cell.threads, cell.job, options_.data);
  }
  WeirRun run{*cell.workload, options_.data, cell.threads};
  for (const Mode& mode : modes()) {
    if (cell.job == mode.name) run.arguments = mode.arguments;
  }
  if (run.arguments.empty()) return run.measure();
  run.arguments.insert(run.arguments.end(), {"--registry", cell.workload->registry});
  auto measured = run.measure();
  if (measured.ok() && (measured->unrouted > 0 || measured->results == 0)) {
    return Status(Code::kIo, fmt::format("{}: {} of the records are of no sensor in {}", cell.title,
                                         measured->unrouted, cell.workload->registry));
  }
  return measured;
}

const Cell* Hierarchies::beside(const Cell& cell, const std::string& system,
                                const std::string& job) const {
  for (const Cell& other : cells_) {
    if (other.workload == cell.workload && other.threads == cell.threads &&
        other.system == system && other.job == job) {
      return &other;
    }
  }
  return nullptr;
}

const Cell* Hierarchies::on_one_thread(const Cell& cell) const {
  for (const Cell& other : cells_) {
    if (other.workload == cell.workload && other.system == cell.system && other.job == cell.job &&
        other.threads == 1) {
      return &other;
    }
  }
  return nullptr;
}

void Hierarchies::report() const {
  fmt::print(stderr, "\n{:>8} {:<7} {:<18} {:>7} {:>28} {:>8} {:>12} {:>9}\n", "sensors", "system",
             "job", "threads", "M records/s (min to max)", "ns", "beyond none", "peak MiB");
  for (const Cell& cell : cells_) {
    const Spread rate = cell.rate();
    const Cell* none = cell.system == "weir" ? beside(cell, "weir", kNone) : nullptr;
    fmt::print(
        stderr, "{:>8} {:<7} {:<18} {:>7} {:>28} {:>8.1f} {:>12} {:>9.0f}\n",
        cell.workload->streams, cell.system, cell.job, cell.threads,
        fmt::format("{:.2f} ({:.2f} to {:.2f})", rate.median / 1e6, rate.min / 1e6, rate.max / 1e6),
        1e9 / rate.median,
        none == nullptr || none == &cell ? ""
                                         : fmt::format("{:.1f}", ns_beyond(cell, *none).median),
        static_cast<double>(cell.peak_bytes()) / (1 << 20));
  }
}

void Hierarchies::add_comparisons(const Cell& cell, JsonLine& line) const {
  if (const Cell* one = on_one_thread(cell); one != nullptr && one != &cell) {
    line.raw("over_one_thread", rate_over(cell, *one).to_json());
  }
  if (cell.system != "weir") return;
  JsonLine peers;
  for (const std::string& query : queries()) {
    const Cell* peer = beside(cell, "duckdb", query);
    if (peer != nullptr) peers.raw(query, rate_over(cell, *peer).to_json());
  }
  line.raw("over_duckdb", peers.str());
  const Cell* none = beside(cell, "weir", kNone);
  if (none == nullptr || none == &cell) return;
  const Spread lane = ns_beyond(cell, *none);
  line.raw("ns_beyond_none", lane.to_json());
  line.raw("cpu_ns_beyond_none", cpu_ns_beyond(cell, *none).to_json());
  if (cell.threads != 1 || lane.median <= 0) return;
  // What its owner does in a record's time, of all that is done: with as many cores as it takes to
  // do the whole, the owner does nothing else.
  const double total = 1e9 / cell.rate().median;
  line.add("lane_share", lane.median / total).add("cores_of_one_owner", total / lane.median);
}

std::vector<std::string> Hierarchies::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    JsonLine line;
    line.add("experiment", "hierarchy").add("system", cell.system).add("job", cell.job);
    line.add("sensors", cell.workload->streams).add("threads", cell.threads);
    if (const std::string& version = cell.runs.front().version; !version.empty()) {
      line.add("version", version);
    }
    line.raw("records_per_second", cell.rate().to_json());
    line.raw("cpu_ns_a_record", cpu_ns_of(cell).to_json());
    if (const std::uint64_t results = cell.runs.front().results; results > 0) {
      line.add("results_a_record",
               static_cast<double>(results) / static_cast<double>(cell.records));
    }
    add_comparisons(cell, line);
    line.raw("workload", cell.workload->to_json()).raw("repetitions", cell.runs_json());
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", shared.str()).str());
  }
  return lines;
}

}  // namespace

std::function<int()> add_hierarchy(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--sensors", options->sensors, "numbers of sensors, e.g. 64,32768")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--records", options->records, "of each workload, at least")
      ->capture_default_str();
  app.add_option("--seconds", options->seconds,
                 "of event time, at least: so many records of each sensor")
      ->capture_default_str();
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  app.add_option("--modes", options->modes, "which, e.g. none,tumbling; without it all")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_modes()));
  app.add_option("--queries", options->queries, "of DuckDB, of sensors, windows, newest")
      ->delimiter(',')
      ->check(CLI::IsMember(queries()));
  options->duckdb.add_options(app);
  options->add_options(app);
  return [options] { return exit_status(Hierarchies(*options).run()); };
}

}  // namespace weir::harness
