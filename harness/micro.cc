// Micro-benchmarks recorded: runs weir_bench with interleaved repetitions and writes one line for
// each benchmark.
#include <fmt/format.h>
#include <simdjson.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/child.h"
#include "harness/experiment.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/spread.h"

namespace weir::harness {
namespace {

struct Options {
  std::string filter = ".";
  unsigned repetitions = 5;
  double min_time = 0.1;
  std::string out = "-";
};

// Nanoseconds an item (or a call, where a benchmark counts no items) of each benchmark.
Result<std::vector<std::pair<std::string, std::vector<double>>>> parse(const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::array benchmarks;
  if (parser.parse(json)["benchmarks"].get(benchmarks) != 0) {
    return Status(Code::kIo, "weir_bench gave no results");
  }
  std::vector<std::pair<std::string, std::vector<double>>> all;
  std::map<std::string, std::size_t> places;
  for (const simdjson::dom::element each : benchmarks) {
    std::string_view type, name, unit;
    double time = 0, items = 0;
    if (each["run_type"].get(type) != 0 || type != "iteration") continue;
    if (each["run_name"].get(name) != 0 || each["cpu_time"].get(time) != 0) continue;
    if (each["time_unit"].get(unit) == 0) time *= unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1;
    if (each["items_per_second"].get(items) == 0 && items > 0) time = 1e9 / items;
    const auto [place, fresh] = places.try_emplace(std::string(name), all.size());
    if (fresh) all.emplace_back(name, std::vector<double>());
    all[place->second].second.push_back(time);
  }
  return all;
}

Status run(const Options& options) {
  const std::string log = program_folder() + "/../weir_bench.log";
  auto child = run_child({program_folder() + "/weir_bench", "--benchmark_format=json",
                          "--benchmark_filter=" + options.filter,
                          fmt::format("--benchmark_min_time={}", options.min_time),
                          fmt::format("--benchmark_repetitions={}", options.repetitions),
                          "--benchmark_enable_random_interleaving=true"},
                         log);
  if (!child.ok()) return child.status();
  const auto results = parse(child->output);
  if (!results.ok()) return results.status();
  JsonLine shared;
  add_fingerprint(shared);
  std::vector<std::string> lines;
  for (const auto& [name, values] : *results) {
    const Spread spread = Spread::of(values);
    fmt::print(stderr, "{:<56} {:>9.2f} ns ({:.2f} to {:.2f})\n", name, spread.median, spread.min,
               spread.max);
    std::string each = "[";
    for (const double value : values)
      each += fmt::format("{}{:.6g}", each.size() > 1 ? "," : "", value);
    JsonLine line;
    line.add("experiment", "micro").add("benchmark", name);
    line.raw("ns_an_item", spread.to_json()).raw("repetitions", each + "]");
    lines.push_back(line.raw("origin", shared.str()).str());
  }
  return append_lines(options.out, lines);
}

}  // namespace

std::function<int()> add_micro(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--filter", options->filter, "regular expression of benchmark names")
      ->capture_default_str();
  app.add_option("--repetitions", options->repetitions)
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--min-time", options->min_time, "seconds of each repetition")
      ->capture_default_str();
  app.add_option("--out", options->out, "file that gets the results; - is standard output")
      ->capture_default_str();
  return [options] {
    const Status status = run(*options);
    if (!status.ok()) fmt::print(stderr, "weir-harness: {}\n", status.message());
    return status.ok() ? 0 : 1;
  };
}

}  // namespace weir::harness
