// The whole job with each of the ten synopses alone on every stream, with all of them, and with
// none, on one thread and more. Says what each costs a record, and checks that the digest of the
// final state and the answers are the same at every number of threads.
//
// The runs of one repetition follow each other in an order that changes from one repetition to the
// next; what a synopsis costs is taken inside a repetition, in CPU time.
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

constexpr const char* kNone = "none";
constexpr const char* kAll = "all";

struct Options {
  std::uint64_t records = 9'300'000;
  std::uint64_t streams = 100;
  std::vector<unsigned> threads = {1, 2};
  std::vector<std::string> synopses;  // empty = none, each, all
  unsigned repetitions = 5;
  std::uint64_t seed = 1;
  std::string data;
  std::string out = "-";
  Quiet quiet;
};

// The paper's parameters where it has some, else those of the update table; each is asked once a
// stream, at the end.
std::vector<Asked> ten_synopses() {
  std::vector<Asked> ten = paper_synopses();
  for (Asked& each : ten) each.query = each.synopsis == "CountMin" ? "100.5" : "null";
  const std::vector<Asked> seven = {
      {"BloomFilter", "BloomFilter(100000,0.01)", R"({"expected":100000,"fpp":0.01})", "100.5"},
      {"LossyCounting", "LossyCounting(0.001)", R"({"epsilon":0.001})",
       R"([0.01,"FrequentItems"])"},
      {"StickySampling", "StickySampling(0.01,0.001,0.01)",
       R"({"support":0.01,"epsilon":0.001,"delta":0.01})", R"([0.01,"FrequentItems"])"},
      {"AMS", "AMS(5,1024)", R"({"depth":5,"buckets":1024})", R"(["F2"])"},
      {"GKQuantiles", "GKQuantiles(0.01)", R"({"epsilon":0.01})", "0.5"},
      {"LSH", "LSH(100,100)", R"({"window":100,"bits":100})", "null"},
      {"WindowSketchQuantiles", "WindowSketchQuantiles(0.01,20000)",
       R"({"epsilon":0.01,"window":20000})", "0.99"},
  };
  ten.insert(ten.end(), seven.begin(), seven.end());
  return ten;
}

// One configuration and its repetitions.
struct Cell {
  std::string synopsis;
  Workload workload;
  unsigned threads = 1;
  std::vector<Measured> runs{};

  // Of all threads, the start and the end of the process included; moved by what others do less
  // than the rate is.
  double cpu_ns(std::size_t repetition) const {
    return 1e9 * runs[repetition].cpu_seconds / static_cast<double>(workload.records);
  }
  Spread cpu_ns() const {
    std::vector<double> each;
    for (std::size_t i = 0; i < runs.size(); ++i) each.push_back(cpu_ns(i));
    return Spread::of(each);
  }
  Spread rate() const {
    std::vector<double> rates;
    for (const Measured& run : runs) rates.push_back(run.records_per_second);
    return Spread::of(rates);
  }
};

class Synopses {
 public:
  explicit Synopses(Options options) : options_(std::move(options)) {}

  Status run() {
    if (Status status = prepare(); !status.ok()) return status;
    std::vector<std::size_t> order(cells_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::mt19937 random(1);
    for (unsigned repetition = 0; repetition < options_.repetitions; ++repetition) {
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        Cell& cell = cells_[i];
        auto measured = options_.quiet.measure([&] {
          return WeirRun{cell.workload, options_.data, cell.threads}.measure();
        });
        if (!measured.ok()) return measured.status();
        fmt::print(stderr,
                   "repetition {} {:<22} {} threads: {:6.2f} M records/s, others {:.0f} %, {} "
                   "discarded\n",
                   repetition + 1, cell.synopsis, cell.threads, measured->records_per_second / 1e6,
                   100 * measured->others, measured->discarded);
        cell.runs.push_back(*measured);
      }
    }
    report();
    // Before they are recorded: figures of runs that disagree are worth nothing.
    if (Status status = check_answers(); !status.ok()) return status;
    return append_lines(options_.out, lines());
  }

 private:
  Status prepare();
  const Cell* find(const std::string& synopsis, unsigned threads) const;
  // CPU ns a record beyond those of a run without synopses, repetition by repetition.
  std::vector<double> added(const Cell& cell) const;
  void report() const;
  std::vector<std::string> lines() const;
  Status check_answers() const;

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
    for (const unsigned threads : options_.threads) cells_.push_back({name, workload, threads});
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

std::vector<double> Synopses::added(const Cell& cell) const {
  const Cell* none = find(kNone, cell.threads);
  std::vector<double> each;
  if (none == nullptr || none == &cell) return each;
  for (std::size_t i = 0; i < cell.runs.size(); ++i)
    each.push_back(cell.cpu_ns(i) - none->cpu_ns(i));
  return each;
}

void Synopses::report() const {
  fmt::print(stderr, "\n{:<22} {:>7} {:>26} {:>12} {:>12} {:>15} {:>10}\n", "synopsis", "threads",
             "M records/s (min to max)", "ns a record", "CPU ns", "beyond none", "peak MiB");
  for (const Cell& cell : cells_) {
    const Spread rate = cell.rate();
    std::uint64_t peak = 0;
    for (const Measured& run : cell.runs) peak = std::max(peak, run.peak_bytes);
    const std::vector<double> beyond = added(cell);
    fmt::print(
        stderr, "{:<22} {:>7} {:>26} {:>12.1f} {:>12.1f} {:>15} {:>10.0f}\n", cell.synopsis,
        cell.threads,
        fmt::format("{:.2f} ({:.2f} to {:.2f})", rate.median / 1e6, rate.min / 1e6, rate.max / 1e6),
        1e9 / rate.median, cell.cpu_ns().median,
        beyond.empty() ? "" : fmt::format("{:.1f}", Spread::of(beyond).median),
        static_cast<double>(peak) / (1 << 20));
  }
}

std::vector<std::string> Synopses::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  const std::string origin = shared.str();
  std::vector<std::string> lines;
  for (const Cell& cell : cells_) {
    std::string runs = "[";
    for (const Measured& run : cell.runs) runs += (runs.size() > 1 ? "," : "") + run.to_json();
    JsonLine line;
    line.add("experiment", "synopses").add("synopsis", cell.synopsis).add("threads", cell.threads);
    line.raw("records_per_second", cell.rate().to_json());
    line.raw("cpu_ns_a_record", cell.cpu_ns().to_json());
    if (const std::vector<double> beyond = added(cell); !beyond.empty()) {
      line.raw("cpu_ns_beyond_none", Spread::of(beyond).to_json());
    }
    if (const Cell* one = find(cell.synopsis, 1); one != nullptr && one != &cell) {
      std::vector<double> ratio;
      for (std::size_t i = 0; i < cell.runs.size(); ++i)
        ratio.push_back(cell.runs[i].records_per_second / one->runs[i].records_per_second);
      line.raw("over_one_thread", Spread::of(ratio).to_json());
    }
    line.raw("workload", cell.workload.to_json()).raw("repetitions", runs + "]");
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", origin).str());
  }
  return lines;
}

// Law 1: all runs over one set of requests say the same, the digest included.
Status Synopses::check_answers() const {
  std::map<std::string, std::string> said;
  for (const Cell& cell : cells_) {
    for (const Measured& run : cell.runs) {
      const auto [first, fresh] = said.try_emplace(cell.synopsis, run.answer);
      if (!fresh && first->second != run.answer) {
        return {Code::kIo, fmt::format("{} gave different answers: '{}' and '{}'", cell.synopsis,
                                       first->second, run.answer)};
      }
    }
  }
  return {};
}

}  // namespace

std::function<int()> add_synopses(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->data = std::filesystem::path(program_folder()).parent_path().string() + "/harness-data";
  std::vector<std::string> names = {kNone, kAll};
  for (const Asked& each : ten_synopses()) names.push_back(each.synopsis);
  app.add_option("--records", options->records, "records of the workload")->capture_default_str();
  app.add_option("--streams", options->streams)->capture_default_str();
  app.add_option("--threads", options->threads, "numbers of threads, e.g. 1,2")->delimiter(',');
  app.add_option("--synopses", options->synopses,
                 "which, e.g. none,AMS,all; without it none, each of the ten, and all")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--repetitions", options->repetitions)
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", options->seed, "of the generator")->capture_default_str();
  app.add_option("--data", options->data, "folder for generated files")->capture_default_str();
  app.add_option("--out", options->out, "file that gets the results; - is standard output")
      ->capture_default_str();
  options->quiet.add_options(app);
  return [options] {
    const Status status = Synopses(*options).run();
    if (!status.ok()) fmt::print(stderr, "weir-harness: {}\n", status.message());
    return status.ok() ? 0 : 1;
  };
}

}  // namespace weir::harness
