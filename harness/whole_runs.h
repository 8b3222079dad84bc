// Whole runs: what experiments have in common that run programs over workloads, again and again:
// their options, the order of the runs, and what is said of them.
//
// The runs of one repetition follow each other, in an order that changes from one repetition to the
// next, so that what drifts in the machine falls on all alike; ratios and differences are taken
// inside a repetition.
// Thread safety: thread-compatible.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/measured.h"
#include "harness/spread.h"
#include "weir/status.h"

namespace weir::harness {

struct RunOptions {
  unsigned repetitions = 5;
  std::uint64_t seed = 1;
  std::string data;  // folder for generated files
  std::string out = "-";
  Quiet quiet;

  explicit RunOptions(unsigned repetitions_ = 5);
  void add_options(CLI::App& app);
};

// What is run again and again, and what came of it.
struct Configuration {
  std::string title;  // for people
  std::string kin;    // configurations of one kin must give the same answer
  std::uint64_t records = 0;
  std::vector<Measured> runs{};

  Spread rate() const;                           // records a second
  Spread figure(const std::string& name) const;  // REQUIRES: all runs have it
  // ns of one repetition: by the system's own clock, and of the processors, where the start and the
  // end of the process are included and what others do is felt less.
  double ns(std::size_t repetition) const { return 1e9 / runs[repetition].records_per_second; }
  double cpu_ns(std::size_t repetition) const {
    return 1e9 * runs[repetition].cpu_seconds / static_cast<double>(records);
  }
  std::uint64_t peak_bytes() const;
  std::string runs_json() const;
};

// Of two configurations, repetition by repetition. REQUIRES: as many runs of both, at least one.
Spread rate_over(const Configuration& of, const Configuration& under);
Spread ns_beyond(const Configuration& of, const Configuration& none);
Spread cpu_ns_beyond(const Configuration& of, const Configuration& none);
Spread cpu_ns_of(const Configuration& of);

// Runs each once a repetition; `measure` is given its number.
Status interleave(const std::vector<Configuration*>& all, const RunOptions& options,
                  const std::function<Result<Measured>(std::size_t)>& measure);
// Law 1, once more. Figures of runs that disagree are worth nothing.
Status check_answers(const std::vector<Configuration*>& all);
// 0, or 1 and a message.
int exit_status(const Status& status);

template <class Cell>
std::vector<Configuration*> configurations(std::vector<Cell>& cells) {
  std::vector<Configuration*> all;
  for (Cell& cell : cells) all.push_back(&cell);
  return all;
}

}  // namespace weir::harness
