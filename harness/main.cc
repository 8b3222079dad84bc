// weir-harness: runs experiments and records them as JSON lines (see results/README.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "harness/experiment.h"

int main(int argc, char** argv) {
  using weir::harness::Experiment;
  static const Experiment kExperiments[] = {
      {"throughput",
       "records a second of the whole job: threads x streams, beside the straw man and DuckDB",
       weir::harness::add_throughput},
      {"inputs", "rate and peak memory by kind of input (file, pipe, gzip, zstd) and length",
       weir::harness::add_inputs},
      {"micro", "nanoseconds of ring, parsing, look-up, routing and synopses (Google Benchmark)",
       weir::harness::add_micro},
      {"synopses",
       "records a second of the whole job with each of the ten synopses, and with all of them",
       weir::harness::add_synopses},
      {"correlation", "the search for correlated pairs beside comparing all of them",
       weir::harness::add_correlation},
      {"hierarchy",
       "records a second of the whole job with hierarchies: modes x sensors, beside DuckDB",
       weir::harness::add_hierarchy},
      {"changes", "what it costs to replace a registry while records flow",
       weir::harness::add_changes},
      {"rescale", "how evenly records go on while the number of workers changes",
       weir::harness::add_rescale},
      {"snapshots", "what snapshots of 300 synopses cost while records flow",
       weir::harness::add_snapshots},
      {"journal", "what the journal costs, at a pace and at full rate, beside a plain writer",
       weir::harness::add_journal},
      {"restart", "how long it is from starting to the first record behind a snapshot",
       weir::harness::add_restart},
  };

  CLI::App program{"Runs experiments and records each as one JSON line a configuration."};
  program.require_subcommand(1);
  program.footer("example: weir-harness run throughput --threads 1,2 --out results/here.jsonl");
  CLI::App* list = program.add_subcommand("list", "what can be run");
  CLI::App* run = program.add_subcommand("run", "run one experiment");
  run->require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::function<int()>>> runs;
  for (const Experiment& experiment : kExperiments) {
    CLI::App* app = run->add_subcommand(experiment.name, experiment.what);
    runs.emplace_back(app, experiment.add(*app));
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  }
  if (list->parsed()) {
    for (const Experiment& experiment : kExperiments) {
      fmt::print("{:<12} {}\n", experiment.name, experiment.what);
    }
    return 0;
  }
  for (const auto& [app, go] : runs) {
    if (app->parsed()) return go();
  }
  return 2;
}
