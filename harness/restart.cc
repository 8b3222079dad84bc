// Restart: a hierarchy of 32 768 sensors and 300 synopses, all ten on each of thirty sensors. A run
// to the end leaves snapshots; then processes, each fresh, go on from the newest of them. Says how
// long it is from the start of the process, and from Engine::create, to the first record that is
// applied behind the snapshot.
//
// Each goes on to the end: the digest must be that of the run that was not interrupted.
#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/child.h"
#include "harness/engine_run.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/memory_source.h"
#include "harness/octal_tree.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

using Clock = std::chrono::steady_clock;

struct Options : RunOptions {
  std::uint64_t records = 4'000'000;
  std::uint64_t sensors = 32'768;
  std::uint64_t streams = 30;
  unsigned threads = 2;
  // What a child is told.
  std::string states, requests, input;
  bool child() const { return !states.empty(); }
  Options() : RunOptions(10) {}
};

Config config_of(const Options& options, const std::string& states) {
  constexpr std::int64_t kTenSeconds = 10'000'000'000;
  Config config;
  config.threads = options.threads;
  config.layout = "titan";
  config.digest = true;
  config.state_directory = states;
  GroupOptions groups;
  groups.mode = GroupOptions::Mode::kTumbling;
  groups.emit.ns = groups.grace = kTenSeconds;
  config.hierarchies.push_back({OctalTree(options.sensors).registry(), "registry", groups});
  return config;
}

// Since the machine was started, as in another process.
double ms_of(Clock::time_point time) {
  return std::chrono::duration<double, std::milli>(time.time_since_epoch()).count();
}

// The child: goes on from a snapshot, and prints what came of it.
Status go_on(const Options& options) {
  auto requests = bytes_of(options.requests);
  if (!requests.ok()) return requests.status();
  auto sources = open_sources({options.input});
  if (!sources.ok()) return sources.status();
  Config config = config_of(options, options.states);
  config.resume = true;
  const Clock::time_point created = Clock::now();
  auto engine = Engine::create(std::move(config));
  if (!engine.ok()) return engine.status();
  for (auto& source : *sources) engine->add_source(std::move(source));
  std::uint64_t answers = 0;
  engine->on_answer([&](const Answer&) { ++answers; });
  if (Status status = engine->request(*requests); !status.ok()) return status;
  const Clock::time_point begun = Clock::now();
  if (Status status = engine->start(); !status.ok()) return status;
  const std::uint64_t from = engine->resumed() ? raw(engine->resumed()->records) : 0;
  Progress progress = engine->progress();
  while (progress.records <= from && !progress.done) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    progress = engine->progress();
  }
  const Clock::time_point first = Clock::now();
  auto summary = engine->finish();
  if (!summary.ok()) return summary.status();
  JsonLine line;
  line.add("records", summary->records).add("seconds", summary->seconds);
  line.add("digest", summary->digest).add("results", summary->results).add("from", from);
  line.add("created", ms_of(created)).add("begun", ms_of(begun)).add("first", ms_of(first));
  fmt::print("{}\n", line.add("applied", progress.records).str());
  return {};
}

class Restart {
 public:
  explicit Restart(Options options) : options_(std::move(options)) {}

  Status run() {
    if (Status status = prepare(); !status.ok()) return status;
    const std::vector<Configuration*> all = {&cell_};
    const Status status = interleave(all, options_, [&](std::size_t) { return measure(); });
    if (!status.ok()) return status;
    return append_lines(options_.out, {line()});
  }

 private:
  Status prepare();
  Result<Measured> measure() const;
  std::string line() const;

  const Options options_;
  const std::string kept_ = options_.data + "/restart-kept";
  Workload workload_;
  Configuration cell_;
  std::string digest_;
  std::uint64_t state_bytes_ = 0, snapshot_bytes_ = 0;
};

Status Restart::prepare() {
  auto made = make_sensors(program_folder() + "/weir", options_.data, options_.records,
                           options_.sensors, options_.seed);
  if (!made.ok()) return made.status();
  workload_ = made->with(ten_synopses(),
                         fmt::format("{}/requests-sensors-{}-{}-{}.ndjson", options_.data,
                                     options_.records, options_.sensors, options_.seed),
                         options_.streams);
  if (Status status = empty_folder(kept_); !status.ok()) return status;
  auto requests = bytes_of(workload_.requests);
  if (!requests.ok()) return requests.status();
  auto sources = open_sources({workload_.file});
  if (!sources.ok()) return sources.status();
  EngineRun run;
  run.config = config_of(options_, kept_);
  // The newest is then somewhere in the last third, with much to come behind it.
  run.config.snapshot_every.records = options_.records * 2 / 5;
  run.source = std::move(sources->front());
  run.requests.push_back(*requests);
  auto outcome = run.run();
  if (!outcome.ok()) return outcome.status();
  if (outcome->summary.snapshots == 0) return {Code::kIo, "no snapshot was taken"};
  digest_ = outcome->summary.digest;
  state_bytes_ = outcome->summary.state_bytes;
  snapshot_bytes_ = largest_file(kept_);
  cell_ = {"restart", "restart", outcome->summary.records};
  return {};
}

Result<Measured> Restart::measure() const {
  const std::string states = options_.data + "/restart";
  if (Status status = empty_folder(states); !status.ok()) return status;
  std::error_code error;
  std::filesystem::copy(
      kept_, states,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing,
      error);
  if (error) return Status(Code::kIo, states + ": " + error.message());
  const Clock::time_point began = Clock::now();
  auto run =
      run_child({program_folder() + "/weir-harness", "run", "restart", "--sensors",
                 std::to_string(options_.sensors), "--threads", std::to_string(options_.threads),
                 "--states", states, "--requests", workload_.requests, "--input", workload_.file},
                options_.data + "/restart.log");
  if (!run.ok()) return run.status();
  auto measured = Measured::of(*run, "the child", run->output);
  if (!measured.ok()) return measured.status();
  simdjson::dom::parser parser;
  simdjson::dom::element object;
  double created = 0, begun = 0, first = 0, from = 0, applied = 0;
  std::string_view digest;
  if (parser.parse(run->output).get(object) != 0 || object["created"].get(created) != 0 ||
      object["begun"].get(begun) != 0 || object["first"].get(first) != 0 ||
      object["from"].get(from) != 0 || object["applied"].get(applied) != 0 ||
      object["digest"].get(digest) != 0) {
    return Status(Code::kIo, "the child said something else than a result: " + run->output);
  }
  if (from <= 0 || applied <= from) return Status(Code::kIo, "nothing was gone on with");
  if (digest != digest_) return Status(Code::kIo, "the state is another than without a restart");
  measured->records_per_second =
      (measured->records_per_second * measured->seconds - from) / measured->seconds;
  measured->figures = {{"from_record", from},
                       {"ms_process_to_first", first - ms_of(began)},
                       {"ms_create_to_first", first - created},
                       {"ms_create", begun - created},
                       {"ms_start_to_first", first - begun}};
  return measured;
}

std::string Restart::line() const {
  JsonLine line, shared;
  add_fingerprint(shared);
  line.add("experiment", "restart").add("sensors", options_.sensors);
  line.add("threads", options_.threads).add("state_bytes", state_bytes_);
  line.add("snapshot_bytes", snapshot_bytes_);
  for (const char* name : {"from_record", "ms_process_to_first", "ms_create_to_first", "ms_create",
                           "ms_start_to_first"}) {
    line.raw(name, cell_.figure(name).to_json());
  }
  line.raw("workload", workload_.to_json()).raw("repetitions", cell_.runs_json());
  const Spread all = cell_.figure("ms_process_to_first"), own = cell_.figure("ms_create_to_first");
  fmt::print(stderr,
             "to the first record: {:.0f} ms ({:.0f} to {:.0f}) from the start of the process, "
             "{:.0f} ms ({:.0f} to {:.0f}) from Engine::create\n",
             all.median, all.min, all.max, own.median, own.min, own.max);
  return line.add("answer", cell_.runs.front().answer).raw("origin", shared.str()).str();
}

}  // namespace

std::function<int()> add_restart(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "of the workload")
      ->capture_default_str()
      ->check(CLI::Range(1000, 100'000'000));
  app.add_option("--sensors", options->sensors)
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--streams", options->streams, "each with ten synopses")->capture_default_str();
  app.add_option("--threads", options->threads)->capture_default_str();
  for (const auto& [name, text] :
       {std::pair{"--states", &options->states}, std::pair{"--requests", &options->requests},
        std::pair{"--input", &options->input}}) {
    app.add_option(name, *text)->group("");  // of the processes that it starts
  }
  options->add_options(app);
  return [options] {
    return exit_status(options->child() ? go_on(*options) : Restart(*options).run());
  };
}

}  // namespace weir::harness
