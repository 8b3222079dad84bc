// Inputs: the whole job from a file, a pipe, gzip and zstd, at several lengths. Says how fast each
// kind is, and that peak memory does not grow with the length.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/child.h"
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
  Options() : RunOptions(3) {}
  std::vector<std::uint64_t> records = {9'300'000, 37'200'000};
  std::uint64_t streams = 100;
  std::vector<std::string> kinds = {"file", "pipe", "gzip", "zstd"};
  unsigned threads = 2;
};

struct Cell {
  const Workload* workload = nullptr;
  std::string kind;
  std::string input{};                // a file, or "-"
  std::vector<std::string> feeder{};  // what writes into the pipe
  std::vector<Measured> runs{};
};

// `tool` writes the compressed file to its standard output when given `-c`.
Result<std::string> compressed(const Workload& workload, const std::string& tool,
                               const std::string& suffix) {
  const std::string file = workload.file + suffix;
  if (std::filesystem::exists(file)) return file;
  const std::string partial = file + ".partial";
  const auto run =
      run_child({"sh", "-c", fmt::format("{} -c -1 -- '{}' >'{}'", tool, workload.file, partial)});
  if (!run.ok()) return run.status();
  std::error_code error;
  std::filesystem::rename(partial, file, error);
  if (error) return Status(Code::kIo, file + ": " + error.message());
  return file;
}

Result<Cell> make_cell(const Workload& workload, const std::string& kind) {
  Cell cell{.workload = &workload, .kind = kind};
  if (kind == "file") {
    cell.input = workload.file;
  } else if (kind == "pipe") {
    cell.input = "-";
    // The same bytes as the file has, made while they are read.
    cell.feeder = {program_folder() + "/weir",
                   "generate",
                   "stocks",
                   "--records",
                   std::to_string(workload.records),
                   "--streams",
                   std::to_string(workload.streams),
                   "--seed",
                   std::to_string(workload.seed)};
  } else {
    auto file = compressed(workload, kind, kind == "gzip" ? ".gz" : ".zst");
    if (!file.ok()) return file.status();
    cell.input = *file;
  }
  return cell;
}

std::string line_of(const Cell& cell, unsigned threads, const std::string& origin) {
  std::string runs = "[";
  std::vector<double> rates, peaks;
  for (const Measured& run : cell.runs) {
    runs += (runs.size() > 1 ? "," : "") + run.to_json();
    rates.push_back(run.records_per_second);
    peaks.push_back(static_cast<double>(run.peak_bytes));
  }
  JsonLine line;
  line.add("experiment", "inputs").add("input", cell.kind).add("threads", threads);
  line.raw("records_per_second", Spread::of(rates).to_json());
  line.raw("peak_bytes", Spread::of(peaks).to_json());
  line.raw("workload", cell.workload->to_json()).raw("repetitions", runs + "]");
  return line.add("answer", cell.runs.front().answer).raw("origin", origin).str();
}

Status check_same_answers(const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    for (const Cell& other : cells) {
      if (other.workload != cell.workload) continue;
      for (const Measured& run : other.runs) {
        if (run.answer != cell.runs.front().answer) {
          return {Code::kIo,
                  fmt::format("{} and {} gave different answers", cell.kind, other.kind)};
        }
      }
    }
  }
  return {};
}

Status run(const Options& options) {
  std::vector<std::unique_ptr<Workload>> workloads;
  std::vector<Cell> cells;
  for (const std::uint64_t records : options.records) {
    fmt::print(stderr, "workload: {} records of {} streams\n", records, options.streams);
    auto made = make_workload(program_folder() + "/weir", options.data, records, options.streams,
                              options.seed);
    if (!made.ok()) return made.status();
    workloads.push_back(std::make_unique<Workload>(*std::move(made)));
    for (const std::string& kind : options.kinds) {
      auto cell = make_cell(*workloads.back(), kind);
      if (!cell.ok()) return cell.status();
      cells.push_back(*std::move(cell));
    }
  }
  for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
    for (Cell& cell : cells) {
      const WeirRun weir{*cell.workload, options.data, options.threads, cell.input, cell.feeder};
      auto measured = options.quiet.measure([&] { return weir.measure(); });
      if (!measured.ok()) return measured.status();
      fmt::print(stderr,
                 "repetition {} {:<5} {:>9} records: {:6.2f} M records/s, peak {:.2f} MiB, others "
                 "{:.0f} %\n",
                 repetition + 1, cell.kind, cell.workload->records,
                 measured->records_per_second / 1e6,
                 static_cast<double>(measured->peak_bytes) / (1 << 20), 100 * measured->others);
      cell.runs.push_back(*measured);
    }
  }
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const Cell& cell : cells) lines.push_back(line_of(cell, options.threads, shared.str()));
  if (Status status = append_lines(options.out, lines); !status.ok()) return status;
  return check_same_answers(cells);
}

}  // namespace

std::function<int()> add_inputs(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--records", options->records, "lengths, e.g. 9300000,37200000")->delimiter(',');
  app.add_option("--streams", options->streams)->capture_default_str();
  app.add_option("--kinds", options->kinds, "of file, pipe, gzip, zstd")
      ->delimiter(',')
      ->check(CLI::IsMember({"file", "pipe", "gzip", "zstd"}));
  app.add_option("--threads", options->threads)->capture_default_str();
  options->add_options(app);
  return [options] { return exit_status(run(*options)); };
}

}  // namespace weir::harness
