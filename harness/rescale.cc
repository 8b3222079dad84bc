// Rescale: the number of workers changes while records flow from memory at full rate: 1 to 2 to 4,
// and all the way up and down, at random places; beside the same run with one worker throughout.
// Asks how slow the slowest 100 ms were, in comparison to the steady rate before the first change.
//
// The digest of the final state and all answers (each stream is asked ten times along the way, and
// at the end) must be those of the run that was not rescaled, else nothing is recorded.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness/engine_run.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/memory_source.h"
#include "harness/samples.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

constexpr double kWindow = 100;   // ms
constexpr double kAround = 300;   // ms behind a change that are looked at
constexpr double kSettled = 200;  // ms at the start that are not

struct Options : RunOptions {
  std::uint64_t records = 9'300'000;
  unsigned times = 10;
  std::uint64_t streams = 100;
  Options() : RunOptions(10) {}
};

struct Cell : Configuration {
  std::vector<unsigned> workers;  // one after the other; the first from the start
};

struct Change {
  std::uint64_t record = 0;
  unsigned workers = 0;
};

class Rescale {
 public:
  explicit Rescale(Options options) : options_(std::move(options)) {}

  Status run() {
    if (Status status = prepare(); !status.ok()) return status;
    const std::vector<Configuration*> all = configurations(cells_);
    const Status status =
        interleave(all, options_, [&](std::size_t i) { return measure(cells_[i]); });
    if (!status.ok()) return status;
    if (Status bad = check_answers(all); !bad.ok()) return bad;
    return append_lines(options_.out, lines());
  }

 private:
  Status prepare();
  Result<Measured> measure(const Cell& cell) const;
  std::vector<Change> changes_of(const Cell& cell) const;
  std::uint64_t total() const { return options_.records * options_.times; }
  std::vector<std::string> lines() const;

  const Options options_;
  Workload workload_;
  std::string bytes_, requests_;
  std::vector<Cell> cells_;
};

std::string title_of(const std::vector<unsigned>& workers) {
  std::string title;
  for (const unsigned each : workers) title += fmt::format("{}{}", title.empty() ? "" : "-", each);
  return title;
}

Status Rescale::prepare() {
  auto made = make_workload(program_folder() + "/weir", options_.data, options_.records,
                            options_.streams, options_.seed);
  if (!made.ok()) return made.status();
  std::vector<Asked> asked = paper_synopses();
  for (Asked& each : asked) {
    if (each.query.empty()) each.query = each.synopsis == "CountMin" ? "100.5" : "null";
    each.continuous = true;
  }
  workload_ = made->with(asked, fmt::format("{}/requests-{}-{}-{}-rescale.ndjson", options_.data,
                                            options_.records, options_.streams, options_.seed));
  auto bytes = bytes_of(workload_.file);
  if (!bytes.ok()) return bytes.status();
  bytes_ = *std::move(bytes);
  auto requests = bytes_of(workload_.requests);
  if (!requests.ok()) return requests.status();
  requests_ = *std::move(requests);
  for (const std::vector<unsigned>& workers :
       {std::vector<unsigned>{1}, {1, 2, 4}, {1, 2, 3, 4, 2, 1}}) {
    cells_.push_back({{title_of(workers), "all", total()}, workers});
  }
  return {};
}

// Each somewhere in its part of the run; the first quarter is the steady state before. The places
// differ from one repetition to the next, and are the same for the same seed.
std::vector<Change> Rescale::changes_of(const Cell& cell) const {
  const std::uint64_t parts = cell.workers.size() - 1;
  if (parts == 0) return {};
  std::mt19937_64 random(options_.seed * 1000 + 10 * cell.runs.size() + parts);
  const std::uint64_t part = (total() - total() / 4) / parts;
  std::vector<Change> changes;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t within = part / 10 + random() % (part * 6 / 10);
    changes.push_back({total() / 4 + i * part + within, cell.workers[i + 1]});
  }
  return changes;
}

Result<Measured> Rescale::measure(const Cell& cell) const {
  const std::vector<Change> changes = changes_of(cell);
  EngineRun run;
  run.config.threads = cell.workers.front();
  run.config.layout = "saams";
  run.config.emit = Period{0, total() / 10};
  run.config.digest = true;
  run.source =
      std::make_unique<MemorySource>(bytes_, MemorySource::Options{.times = options_.times});
  run.requests.push_back(requests_);
  for (const Change& change : changes) {
    run.requests.push_back(fmt::format(R"({{"requestID":"workers","at":{{"record":{}}},)"
                                       R"("workers":{}}})",
                                       change.record, change.workers));
  }
  auto outcome = run.run();
  if (!outcome.ok()) return outcome.status();
  const Summary::Rescales& rescales = outcome->summary.rescales;
  if (outcome->rescaled != changes.size() || rescales.count != changes.size()) {
    return Status(Code::kIo,
                  fmt::format("{} of {} changes took place", rescales.count, changes.size()));
  }

  Measured measured = outcome->measured;
  const std::vector<Sample> samples = while_running(outcome->samples, 1, total());
  const double first = reached(samples, changes.empty() ? total() / 4 : changes.front().record);
  const double last = samples.empty() ? 0 : samples.back().ms;
  const double settled = std::min(kSettled, first / 4);
  const double steady = rate(samples, settled, first);
  if (steady <= 0) fmt::print(stderr, "too short to say anything; see --times\n");
  const double worst = least_rate(samples, first - Sampler::kPeriod.count(), last, kWindow);
  measured.figures = {
      {"steady", steady},
      {"worst_100ms", worst},
      {"worst_100ms_before", least_rate(samples, settled, first, kWindow)},
      {"worst_over_steady", steady > 0 ? worst / steady : 0},
      {"median_wait_ms", 1e-6 * static_cast<double>(rescales.median_wait_ns)},
      {"p99_wait_ms", 1e-6 * static_cast<double>(rescales.p99_wait_ns)},
      {"longest_wait_ms", 1e-6 * static_cast<double>(rescales.longest_wait_ns)},
  };
  std::string at;
  for (const Change& change : changes) {
    const double ms = reached(samples, change.record);
    const double until = std::min(ms + kAround, last);
    JsonLine one;
    one.add("record", change.record).add("workers", change.workers).add("ms", ms);
    one.add("worst_100ms", least_rate(samples, ms - kWindow, until, kWindow));
    one.add("rate_before", rate(samples, ms - kAround, ms));
    one.add("rate_behind", rate(samples, ms, until));
    at += (at.empty() ? "" : ",") + one.str();
  }
  measured.details =
      JsonLine().raw("changes", "[" + at + "]").raw("samples", to_json(outcome->samples)).str();
  return measured;
}

std::vector<std::string> Rescale::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    JsonLine line;
    line.add("experiment", "rescale").add("workers", cell.title).add("times", options_.times);
    line.raw("records_per_second", cell.rate().to_json());
    for (const char* name : {"steady", "worst_100ms", "worst_100ms_before", "worst_over_steady",
                             "median_wait_ms", "p99_wait_ms", "longest_wait_ms"}) {
      line.raw(name, cell.figure(name).to_json());
    }
    line.raw("workload", workload_.to_json()).raw("repetitions", cell.runs_json());
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", shared.str()).str());
    const Spread share = cell.figure("worst_over_steady"), wait = cell.figure("longest_wait_ms");
    fmt::print(stderr,
               "{:<12} steady {:.2f} M records/s, worst 100 ms {:.2f} of it ({:.2f} to {:.2f}), "
               "longest wait {:.2f} ms ({:.2f} to {:.2f})\n",
               cell.title, cell.figure("steady").median / 1e6, share.median, share.min, share.max,
               wait.median, wait.min, wait.max);
  }
  return lines;
}

}  // namespace

std::function<int()> add_rescale(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "of the workload")
      ->capture_default_str()
      ->check(CLI::Range(1000, 100'000'000));
  app.add_option("--times", options->times, "that the workload comes, one behind the other")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--streams", options->streams)->capture_default_str();
  options->add_options(app);
  return [options] { return exit_status(Rescale(*options).run()); };
}

}  // namespace weir::harness
