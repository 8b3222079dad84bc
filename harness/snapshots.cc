// Snapshots: all ten synopses on each of thirty streams, records from memory at full rate, with a
// snapshot every second and without any, in turn. Says what of the rate they cost, and how long and
// how much the records around each of them were slower.
//
// The same is looked at around every full second of the runs without snapshots: what is seen there
// is the machine's.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
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

constexpr double kBefore = 100, kBehind = 400;  // ms around a snapshot that are looked at

struct Options : RunOptions {
  std::uint64_t records = 9'300'000;
  unsigned times = 10;
  std::uint64_t streams = 30;
  double every = 1;  // seconds
  std::vector<unsigned> threads = {1, 2};
};

struct Cell : Configuration {
  unsigned threads = 1;
  bool snapshots = false;
};

class Snapshots {
 public:
  explicit Snapshots(Options options) : options_(std::move(options)) {}

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
  void look(const Cell& cell, const EngineOutcome& outcome, Measured& measured) const;
  const Cell& without(const Cell& cell) const;
  std::uint64_t total() const { return options_.records * options_.times; }
  std::vector<std::string> lines() const;

  const Options options_;
  Workload workload_;
  std::string bytes_, requests_;
  std::vector<Cell> cells_;
};

Status Snapshots::prepare() {
  auto made = make_workload(program_folder() + "/weir", options_.data, options_.records,
                            options_.streams, options_.seed);
  if (!made.ok()) return made.status();
  workload_ =
      made->with(ten_synopses(), fmt::format("{}/requests-{}-{}-{}-all.ndjson", options_.data,
                                             options_.records, options_.streams, options_.seed));
  auto bytes = bytes_of(workload_.file);
  if (!bytes.ok()) return bytes.status();
  bytes_ = *std::move(bytes);
  auto requests = bytes_of(workload_.requests);
  if (!requests.ok()) return requests.status();
  requests_ = *std::move(requests);
  for (const unsigned threads : options_.threads) {
    for (const bool snapshots : {false, true}) {
      cells_.push_back(
          {{fmt::format("{} threads, {} snapshots", threads, snapshots ? "with" : "no"), "all",
            total()},
           threads,
           snapshots});
    }
  }
  return {};
}

Result<Measured> Snapshots::measure(const Cell& cell) const {
  const std::string states = options_.data + "/states";
  if (Status status = empty_folder(states); !status.ok()) return status;
  EngineRun run;
  run.config.threads = cell.threads;
  run.config.layout = "saams";
  run.config.digest = true;
  run.config.state_directory = states;
  if (cell.snapshots)
    run.config.snapshot_every.ns = static_cast<std::int64_t>(1e9 * options_.every);
  run.source =
      std::make_unique<MemorySource>(bytes_, MemorySource::Options{.times = options_.times});
  run.requests.push_back(requests_);
  auto outcome = run.run();
  if (!outcome.ok()) return outcome.status();
  if (!outcome->notices.empty()) return Status(Code::kIo, outcome->notices.front());
  Measured measured = outcome->measured;
  measured.figures = {{"snapshots", static_cast<double>(outcome->summary.snapshots)},
                      {"state_bytes", static_cast<double>(outcome->summary.state_bytes)},
                      {"snapshot_bytes", static_cast<double>(largest_file(states))}};
  if (cell.snapshots && (outcome->summary.snapshots == 0 || outcome->marks.empty())) {
    return Status(Code::kInvalid, "no snapshot was taken; let the records come more often");
  }
  look(cell, *outcome, measured);
  return measured;
}

void Snapshots::look(const Cell& cell, const EngineOutcome& outcome, Measured& measured) const {
  // The start is not like the rest: synopses grow.
  const std::vector<Sample> samples = while_running(outcome.samples, total() / 20, total());
  const double begin = samples.empty() ? 0 : samples.front().ms;
  const double end = samples.empty() ? 0 : samples.back().ms;
  std::vector<double> places = outcome.marks;
  if (!cell.snapshots) {
    for (double ms = 1e3 * options_.every; ms < end; ms += 1e3 * options_.every) {
      places.push_back(ms);
    }
  }
  std::erase_if(places, [&](double ms) { return ms - kBefore < begin || ms + kBehind > end; });
  // The usual rate: of what is not around a snapshot.
  const auto records_in = [&](double from, double to) {
    return rate(samples, from, to) * (to - from) / 1e3;
  };
  double ms = end - begin, records = records_in(begin, end);
  for (const double place : places) {
    ms -= kBefore + kBehind;
    records -= records_in(place - kBefore, place + kBehind);
  }
  const double usual = ms > 0 ? records / ms : 0;  // a ms
  double slowed = 0, stopped = 0, lost = 0;
  std::string each;
  for (const double place : places) {
    const double from = place - kBefore, to = place + kBehind;
    const double slow = longest_below(samples, from, to, 500 * usual);
    const double stop = longest_below(samples, from, to, 1);
    const double behind = usual > 0 ? to - from - records_in(from, to) / usual : 0;
    slowed = std::max(slowed, slow);
    stopped = std::max(stopped, stop);
    lost += behind / static_cast<double>(places.size());
    each += (each.empty() ? "" : ",") + JsonLine()
                                            .add("ms", place)
                                            .add("slowed_ms", slow)
                                            .add("stopped_ms", stop)
                                            .add("lost_ms", behind)
                                            .str();
  }
  measured.figures["usual"] = 1e3 * usual;
  measured.figures["slowed_ms"] = slowed;
  measured.figures["stopped_ms"] = stopped;
  measured.figures["lost_ms"] = lost;
  measured.details =
      JsonLine().raw("places", "[" + each + "]").raw("samples", to_json(outcome.samples)).str();
}

const Cell& Snapshots::without(const Cell& cell) const {
  return *std::ranges::find_if(
      cells_, [&](const Cell& other) { return other.threads == cell.threads && !other.snapshots; });
}

std::vector<std::string> Snapshots::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    JsonLine line;
    line.add("experiment", "snapshots").add("threads", cell.threads);
    line.add("every_seconds", cell.snapshots ? options_.every : 0.0).add("times", options_.times);
    line.raw("records_per_second", cell.rate().to_json());
    for (const char* name :
         {"snapshots", "state_bytes", "snapshot_bytes", "slowed_ms", "stopped_ms", "lost_ms"}) {
      line.raw(name, cell.figure(name).to_json());
    }
    if (cell.snapshots) {
      const Cell& other = without(cell);
      std::vector<double> costs, each;
      for (std::size_t i = 0; i < cell.runs.size(); ++i) {
        const double more = cell.runs[i].seconds - other.runs[i].seconds;
        costs.push_back(1 - cell.runs[i].records_per_second / other.runs[i].records_per_second);
        each.push_back(1e3 * more / cell.runs[i].figures.at("snapshots"));
      }
      const Spread cost = Spread::of(costs), slowed = cell.figure("slowed_ms");
      line.raw("cost", cost.to_json()).raw("ms_a_snapshot", Spread::of(each).to_json());
      line.raw("cpu_ns_beyond_without", cpu_ns_beyond(cell, other).to_json());
      fmt::print(stderr,
                 "{}: cost {:.1f} % ({:.1f} to {:.1f}), slowed for {:.0f} ms at most ({:.0f} to "
                 "{:.0f})\n",
                 cell.title, 100 * cost.median, 100 * cost.min, 100 * cost.max, slowed.median,
                 slowed.min, slowed.max);
    }
    line.raw("workload", workload_.to_json()).raw("repetitions", cell.runs_json());
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", shared.str()).str());
  }
  return lines;
}

}  // namespace

std::function<int()> add_snapshots(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "of the workload")
      ->capture_default_str()
      ->check(CLI::Range(1000, 100'000'000));
  app.add_option("--times", options->times, "that the workload comes, one behind the other")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--streams", options->streams, "each with ten synopses")->capture_default_str();
  app.add_option("--every", options->every, "seconds from one snapshot to the next")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  options->add_options(app);
  return [options] { return exit_status(Snapshots(*options).run()); };
}

}  // namespace weir::harness
