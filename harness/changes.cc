// Changes: a registry is replaced, again and again, at random places of records that flow from
// memory at full rate; beside the same run without changes. The two registries take turns; half of
// the leaf groups have another parent in the other one.
//
// A change's registry is read by Engine::request before records flow, as it is in a service; what
// is left is what the owner of all hierarchies does at the cut. On one thread nothing hides it: the
// pause between two reads of the input is a block's work, and that of the changes in it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/octal_tree.h"
#include "harness/spread.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"
#include "weir/engine.h"

namespace weir::harness {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Options : RunOptions {
  std::uint64_t records = 4'000'000;
  std::uint64_t sensors = 32'768;
  unsigned changes = 20;
  std::vector<unsigned> threads = {1, 2};
  std::vector<std::string> modes = {"latest", "tumbling"};
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Bytes in memory. Watches how long it is from one read of them to the next, behind the first
// tenth: starting is not what is looked for, and changes come after it.
class WatchedSource final : public Source {
 public:
  WatchedSource(std::string_view bytes, Measured& into)
      : bytes_(bytes), watched_(bytes.size() - bytes.size() / 10), into_(into) {}

  ReadResult read(std::span<char> into) override {
    const Clock::time_point now = Clock::now();
    const double cpu = cpu_seconds();
    if (bytes_.size() < watched_) {
      const double pause = std::chrono::duration<double>(now - last_).count();
      into_.longest_pause = std::max(into_.longest_pause, pause);
      into_.longest_work = std::max(into_.longest_work, cpu - last_cpu_);
    }
    last_ = now;
    last_cpu_ = cpu;
    const std::size_t size = std::min(into.size(), bytes_.size());
    if (size == 0) return {};
    std::memcpy(into.data(), bytes_.data(), size);
    bytes_.remove_prefix(size);
    return {ReadResult::State::kData, size, {}};
  }
  const std::string& name() const override { return name_; }

 private:
  std::string_view bytes_;
  const std::size_t watched_;  // the last so many bytes
  Measured& into_;
  Clock::time_point last_;
  double last_cpu_ = 0;
  const std::string name_ = "memory";
};

struct Cell : Configuration {
  std::string mode;
  unsigned threads = 1;
  bool changes = false;
};

GroupOptions options_of(const std::string& mode) {
  constexpr std::int64_t kTenSeconds = 10'000'000'000;
  GroupOptions options;
  options.emit.ns = kTenSeconds;
  if (mode == "tumbling") {
    options.mode = GroupOptions::Mode::kTumbling;
    options.grace = kTenSeconds;
  }
  return options;
}

class Changes {
 public:
  explicit Changes(Options options) : options_(std::move(options)), tree_(options_.sensors) {}

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
  const Cell& unchanged(const Cell& cell) const;
  std::vector<std::string> lines() const;

  const Options options_;
  const OctalTree tree_;
  Workload workload_;
  std::string bytes_;    // of the workload
  std::string changes_;  // requests
  std::vector<Cell> cells_;
};

Status Changes::prepare() {
  auto made = make_sensors(program_folder() + "/weir", options_.data, options_.records,
                           options_.sensors, options_.seed);
  if (!made.ok()) return made.status();
  workload_ = *std::move(made);
  std::ifstream file(workload_.file, std::ios::binary);
  bytes_.resize(workload_.bytes);
  file.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  if (!file) return {Code::kIo, workload_.file + ": cannot be read"};

  // Behind the first tenth, by which every sensor should have a value.
  std::mt19937_64 random(options_.seed);
  std::set<std::uint64_t> places;
  while (places.size() < options_.changes) {
    places.insert(options_.records / 10 + random() % (options_.records * 9 / 10));
  }
  const std::string registries[] = {tree_.registry(), tree_.registry(true)};
  std::size_t turn = 0;
  for (const std::uint64_t place : places) {
    changes_ +=
        fmt::format(R"({{"at":{{"record":{}}},"registry":{}}})", place, registries[++turn % 2]) +
        "\n";
  }
  for (const std::string& mode : options_.modes) {
    for (const unsigned threads : options_.threads) {
      for (const bool changes : {false, true}) {
        const std::string what = fmt::format("{} {}", mode, changes ? "with changes" : "without");
        cells_.push_back({{fmt::format("{:<22} {} threads", what, threads), what, options_.records},
                          mode,
                          threads,
                          changes});
      }
    }
  }
  return {};
}

Result<Measured> Changes::measure(const Cell& cell) const {
  Measured measured;
  std::uint64_t results = 0;
  unsigned made = 0;
  std::string refused;
  Config config;
  config.threads = cell.threads;
  config.layout = "titan";
  config.digest = true;
  config.hierarchies.push_back({tree_.registry(), workload_.registry, options_of(cell.mode)});
  auto engine = Engine::create(std::move(config));
  if (!engine.ok()) return engine.status();
  engine->add_source(std::make_unique<WatchedSource>(bytes_, measured));
  engine->on_result([&](const GroupResult&) { ++results; });
  engine->on_answer([&](const Answer& answer) {
    if (answer.kind == Answer::Kind::kAck) ++made;
    if (answer.kind == Answer::Kind::kError) refused = answer.reason;
  });
  if (cell.changes) {
    if (Status status = engine->request(changes_); !status.ok()) return status;
  }
  const Clock::time_point start = Clock::now();
  const double cpu = cpu_seconds();
  if (Status status = engine->start(); !status.ok()) return status;
  auto summary = engine->finish();
  measured.process_seconds = seconds_since(start);
  measured.cpu_seconds = cpu_seconds() - cpu;
  if (!summary.ok()) return summary.status();
  if (made != (cell.changes ? options_.changes : 0)) {
    return Status(Code::kIo, fmt::format("{} changes were made: {}", made, refused));
  }
  if (summary->unrouted > 0) return Status(Code::kIo, "records are of no sensor in the registry");
  measured.seconds = summary->seconds;
  measured.records_per_second = summary->records_per_second();
  measured.results = results;
  measured.answer =
      fmt::format("records {} digest {} results {}", summary->records, summary->digest, results);
  return measured;
}

const Cell& Changes::unchanged(const Cell& cell) const {
  return *std::ranges::find_if(cells_, [&](const Cell& other) {
    return other.mode == cell.mode && other.threads == cell.threads && !other.changes;
  });
}

std::vector<std::string> Changes::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    std::vector<double> pauses, work, each, each_cpu;
    for (std::size_t i = 0; i < cell.runs.size(); ++i) {
      const Measured& run = cell.runs[i];
      const Measured& other = unchanged(cell).runs[i];
      pauses.push_back(1e3 * run.longest_pause);
      work.push_back(1e3 * run.longest_work);
      each.push_back(1e3 * (run.seconds - other.seconds) / options_.changes);
      each_cpu.push_back(1e3 * (run.cpu_seconds - other.cpu_seconds) / options_.changes);
    }
    const Spread pause = Spread::of(pauses), cost = Spread::of(each_cpu);
    JsonLine line;
    line.add("experiment", "changes").add("mode", cell.mode).add("sensors", options_.sensors);
    line.add("threads", cell.threads).add("changes", cell.changes ? options_.changes : 0);
    line.raw("records_per_second", cell.rate().to_json());
    line.raw("longest_pause_ms", pause.to_json());
    line.raw("longest_work_ms", Spread::of(work).to_json());
    if (cell.changes) {
      line.raw("ms_a_change", Spread::of(each).to_json());
      line.raw("cpu_ms_a_change", cost.to_json());
    }
    line.raw("workload", workload_.to_json()).raw("repetitions", cell.runs_json());
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", shared.str()).str());
    fmt::print(stderr, "{}: longest pause {:.2f} ms, of CPU time {:.2f}{}\n", cell.title,
               pause.median, Spread::of(work).median,
               cell.changes ? fmt::format("; a change {:.2f} ms of CPU time ({:.2f} to {:.2f})",
                                          cost.median, cost.min, cost.max)
                            : "");
  }
  return lines;
}

}  // namespace

std::function<int()> add_changes(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "of the workload")
      ->capture_default_str()
      ->check(CLI::Range(1000, 100'000'000));
  app.add_option("--sensors", options->sensors)
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--changes", options->changes, "of the registry, in each run")
      ->capture_default_str()
      ->check(CLI::Range(1, 500));
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  app.add_option("--modes", options->modes, "of latest, tumbling")
      ->delimiter(',')
      ->check(CLI::IsMember({"latest", "tumbling"}));
  options->add_options(app);
  return [options] { return exit_status(Changes(*options).run()); };
}

}  // namespace weir::harness
