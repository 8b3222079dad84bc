// Experiment: something that is measured and recorded, a subcommand of `weir-harness run`.
//
// Thread safety: thread-compatible.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace weir::harness {

struct Experiment {
  const char* name;
  const char* what;  // one line for `weir-harness list`
  // Adds the options; what it gives back runs the experiment and returns the exit status.
  std::function<int()> (*add)(CLI::App& app);
};

std::function<int()> add_throughput(CLI::App& app);
std::function<int()> add_inputs(CLI::App& app);
std::function<int()> add_micro(CLI::App& app);
std::function<int()> add_correlation(CLI::App& app);
std::function<int()> add_synopses(CLI::App& app);
std::function<int()> add_hierarchy(CLI::App& app);
std::function<int()> add_changes(CLI::App& app);
std::function<int()> add_rescale(CLI::App& app);
std::function<int()> add_snapshots(CLI::App& app);
std::function<int()> add_journal(CLI::App& app);
std::function<int()> add_restart(CLI::App& app);

}  // namespace weir::harness
