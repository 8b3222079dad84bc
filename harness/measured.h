// Measured: one run of one system over one workload, and how it is taken on a machine that is
// shared: a run that others disturbed may be measured again, and how much they did is recorded.
//
// Thread safety: immutable values.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/child.h"
#include "harness/workload.h"
#include "weir/status.h"

namespace weir::harness {

struct Measured {
  double seconds = 0;  // as the system itself says: from its first read to its last result
  double records_per_second = 0;
  double process_seconds = 0, cpu_seconds = 0;
  double feeder_cpu_seconds = 0;  // of the program that wrote into its standard input, if any
  std::uint64_t peak_bytes = 0;
  double others = 0;           // share of all cores that other programs used meanwhile
  unsigned discarded = 0;      // runs before this one that others disturbed
  std::string answer{};        // checksum of what it found, or what of it can be compared
  std::string version{};       // if it says
  std::uint64_t results = 0;   // of groups that were published
  std::uint64_t unrouted = 0;  // records that nobody wanted
  // From one read of its input to the next, in seconds, and in those of the processors; where it
  // was watched.
  double longest_pause = 0, longest_work = 0;
  std::map<std::string, double> figures{};  // what else one experiment measures, by its name
  std::string details{};                    // JSON of more of it; empty = none

  std::string to_json() const;

  // What a system printed: a JSON object with `records` and `seconds`, maybe `digest`, `checksum`,
  // `results`, `unrouted` and `version`.
  static Result<Measured> of(const ChildRun& run, const std::string& system,
                             const std::string& json);
};

// When is a run good enough? One that was taken while others used at most `others` of the cores.
// Until then it is repeated, for as long as `patience` says; the run kept is the least disturbed.
// This looks at the machine only, never at the figures.
struct Quiet {
  double others = 0.05;
  double patience = 0;  // seconds for each run

  void add_options(CLI::App& app);
  Result<Measured> measure(const std::function<Result<Measured>()>& run) const;
};

// `weir replay` of a workload. `input` is what it is given as INPUT; where `feeder` is not empty,
// that program writes into its standard input. Files it needs go to the folder `data`.
struct WeirRun {
  const Workload& workload;
  std::string data;
  unsigned threads = 1;
  std::string input{};  // empty = the workload's file
  std::vector<std::string> feeder{};
  std::vector<std::string> arguments{};  // further ones

  Result<Measured> measure() const;
};

}  // namespace weir::harness
