// Journal: what keeping the bytes of a pipe costs. At a pace of a million records a second: the
// processor time of a run with the journal beside that of one without it. At full rate: how long it
// takes until all is applied and on disk, beside a plain program that writes the same bytes with
// writes of the same sizes and syncs them in the same way.
//
// Records come from memory, by a source that cannot be read again. All take turns, so a slow disk
// is slow for all.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/journal.h"
#include "harness/engine_run.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/memory_source.h"
#include "harness/sequential_writer.h"
#include "harness/whole_runs.h"
#include "harness/workload.h"

namespace weir::harness {
namespace {

struct Options : RunOptions {
  std::uint64_t records = 9'300'000;
  unsigned times = 3;
  std::uint64_t streams = 100;
  double pace = 1e6;
  unsigned threads = 2;
};

struct Cell : Configuration {
  enum class Job { kWithout, kJournal, kPlain };
  Job job = Job::kWithout;
  bool paced = false;
};

class Journals {
 public:
  explicit Journals(Options options) : options_(std::move(options)) {}

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
  Result<Measured> measure_engine(const Cell& cell, std::vector<std::uint32_t>* reads) const;
  Result<Measured> measure_plain(const Cell& cell) const;
  const Cell& find(Cell::Job job, bool paced) const;
  unsigned times(const Cell& cell) const { return cell.paced ? 1 : options_.times; }
  std::string states() const { return options_.data + "/states"; }
  std::vector<std::string> lines() const;

  const Options options_;
  Workload workload_;
  std::string bytes_, requests_;
  std::vector<std::uint32_t> reads_;  // sizes of a run at full rate
  std::vector<Cell> cells_;
};

Status Journals::prepare() {
  auto made = make_workload(program_folder() + "/weir", options_.data, options_.records,
                            options_.streams, options_.seed);
  if (!made.ok()) return made.status();
  workload_ = *std::move(made);
  auto bytes = bytes_of(workload_.file);
  if (!bytes.ok()) return bytes.status();
  bytes_ = *std::move(bytes);
  auto requests = bytes_of(workload_.requests);
  if (!requests.ok()) return requests.status();
  requests_ = *std::move(requests);
  const std::uint64_t all = options_.records * options_.times;
  using enum Cell::Job;
  cells_.push_back({{"paced, without", "paced", options_.records}, kWithout, true});
  cells_.push_back({{"paced, journal", "paced", options_.records}, kJournal, true});
  cells_.push_back({{"full rate, without", "full", all}, kWithout, false});
  cells_.push_back({{"full rate, journal", "full", all}, kJournal, false});
  cells_.push_back({{"full rate, plain writer", "plain", all}, kPlain, false});
  auto first = measure_engine(find(kWithout, false), &reads_);
  return first.ok() ? Status() : first.status();
}

Result<Measured> Journals::measure(const Cell& cell) const {
  if (Status status = empty_folder(states()); !status.ok()) return status;
  auto measured =
      cell.job == Cell::Job::kPlain ? measure_plain(cell) : measure_engine(cell, nullptr);
  // A disk that is nearly full should not meet what is of no use any more.
  if (Status status = empty_folder(states()); !status.ok()) return status;
  return measured;
}

Result<Measured> Journals::measure_engine(const Cell& cell,
                                          std::vector<std::uint32_t>* reads) const {
  EngineRun run;
  run.config.threads = options_.threads;
  run.config.layout = "saams";
  run.config.digest = true;
  if (cell.job == Cell::Job::kJournal) {
    run.config.state_directory = states();
    run.config.journal = true;
  }
  MemorySource::Options source{.times = times(cell), .like_file = false, .reads = reads};
  if (cell.paced) {
    source.bytes_per_second =
        options_.pace * static_cast<double>(bytes_.size()) / static_cast<double>(options_.records);
  }
  run.source = std::make_unique<MemorySource>(bytes_, source);
  run.requests.push_back(requests_);
  auto outcome = run.run();
  if (!outcome.ok()) return outcome.status();
  if (!outcome->notices.empty()) return Status(Code::kIo, outcome->notices.front());
  const std::uint64_t kept = cell.job == Cell::Job::kJournal ? bytes_in(states() + "/journal") : 0;
  if (cell.job == Cell::Job::kJournal && kept < outcome->summary.bytes) {
    return Status(Code::kIo,
                  fmt::format("the journal holds {} bytes of {}", kept, outcome->summary.bytes));
  }
  Measured measured = outcome->measured;
  measured.figures["cores_busy"] = measured.cpu_seconds / measured.process_seconds;
  return measured;
}

Result<Measured> Journals::measure_plain(const Cell& cell) const {
  auto written = write_sequentially(states(), bytes_, times(cell), reads_,
                                    engine::JournalOptions{}.segment_bytes);
  if (!written.ok()) return written.status();
  Measured measured;
  measured.seconds = measured.process_seconds = written->seconds;
  measured.cpu_seconds = written->cpu_seconds;
  measured.records_per_second = static_cast<double>(cell.records) / written->seconds;
  measured.answer = fmt::format("bytes {}", written->bytes);
  measured.figures = {{"cores_busy", written->cpu_seconds / written->seconds},
                      {"writes", static_cast<double>(written->writes)},
                      {"syncs", static_cast<double>(written->syncs)},
                      {"files", static_cast<double>(written->files)}};
  return measured;
}

const Cell& Journals::find(Cell::Job job, bool paced) const {
  return *std::ranges::find_if(
      cells_, [&](const Cell& cell) { return cell.job == job && cell.paced == paced; });
}

std::vector<std::string> Journals::lines() const {
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  const auto paired = [](const Cell& a, const Cell& b, auto each) {
    std::vector<double> values;
    for (std::size_t i = 0; i < a.runs.size(); ++i) values.push_back(each(a.runs[i], b.runs[i]));
    return Spread::of(values);
  };
  using enum Cell::Job;
  for (const Cell& cell : cells_) {
    JsonLine line;
    line.add("experiment", "journal").add("threads", options_.threads);
    line.add("job", cell.job == kPlain ? "plain" : cell.job == kJournal ? "journal" : "without");
    line.add("pace", cell.paced ? options_.pace : 0.0).add("times", times(cell));
    std::vector<double> rates;
    for (const Measured& run : cell.runs) {
      rates.push_back(static_cast<double>(cell.records) / run.process_seconds);
    }
    line.raw("records_per_second", cell.rate().to_json());
    line.raw("kept_per_second", Spread::of(rates).to_json());
    line.raw("cores_busy", cell.figure("cores_busy").to_json());
    if (cell.job == kJournal) {
      const Cell& other = find(kWithout, cell.paced);
      const Spread core = paired(cell, other, [](const Measured& with, const Measured& without) {
        return (with.cpu_seconds - without.cpu_seconds) / with.process_seconds;
      });
      const Spread of_run = paired(cell, other, [](const Measured& with, const Measured& without) {
        return 1 - without.cpu_seconds / with.cpu_seconds;
      });
      line.raw("share_of_a_core", core.to_json()).raw("share_of_run", of_run.to_json());
      fmt::print(
          stderr, "{}: {:.1f} % of a core ({:.1f} to {:.1f}), {:.1f} % of what the run uses\n",
          cell.title, 100 * core.median, 100 * core.min, 100 * core.max, 100 * of_run.median);
    }
    if (cell.job == kJournal && !cell.paced) {
      const Spread over =
          paired(cell, find(kPlain, false), [](const Measured& with, const Measured& plain) {
            return plain.process_seconds / with.process_seconds;
          });
      line.raw("over_plain", over.to_json());
      fmt::print(stderr, "{}: {:.2f} of the plain writer ({:.2f} to {:.2f})\n", cell.title,
                 over.median, over.min, over.max);
    }
    line.raw("workload", workload_.to_json()).raw("repetitions", cell.runs_json());
    lines.push_back(line.add("answer", cell.runs.front().answer).raw("origin", shared.str()).str());
  }
  return lines;
}

}  // namespace

std::function<int()> add_journal(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "of the workload")
      ->capture_default_str()
      ->check(CLI::Range(1000, 100'000'000));
  app.add_option("--times", options->times, "that the workload comes at full rate")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--pace", options->pace, "records a second")
      ->capture_default_str()
      ->check(CLI::Range(1e3, 1e9));
  app.add_option("--streams", options->streams)->capture_default_str();
  app.add_option("--threads", options->threads)->capture_default_str();
  options->add_options(app);
  return [options] { return exit_status(Journals(*options).run()); };
}

}  // namespace weir::harness
