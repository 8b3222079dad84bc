#include "harness/measured.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <optional>
#include <utility>

#include "harness/fingerprint.h"
#include "harness/json_line.h"
#include "harness/machine_load.h"

namespace weir::harness {

std::string Measured::to_json() const {
  JsonLine line;
  line.add("records_per_second", records_per_second).add("seconds", seconds);
  line.add("process_seconds", process_seconds).add("cpu_seconds", cpu_seconds);
  if (feeder_cpu_seconds > 0) line.add("feeder_cpu_seconds", feeder_cpu_seconds);
  line.add("peak_bytes", peak_bytes).add("others", others);
  if (results > 0) line.add("results", results);
  if (longest_pause > 0) {
    line.add("longest_pause", longest_pause).add("longest_work", longest_work);
  }
  for (const auto& [name, figure] : figures) line.add(name, figure);
  if (!details.empty()) line.raw("details", details);
  return line.add("discarded", discarded).str();
}

Result<Measured> Measured::of(const ChildRun& run, const std::string& system,
                              const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element object;
  Measured measured;
  measured.process_seconds = run.seconds;
  measured.cpu_seconds = run.cpu_seconds;
  measured.feeder_cpu_seconds = run.feeder_cpu_seconds;
  measured.peak_bytes = run.peak_bytes;
  double records = 0;
  if (parser.parse(json).get(object) != 0 || object["records"].get(records) != 0 ||
      object["seconds"].get(measured.seconds) != 0) {
    return Status(Code::kIo, system + " said something else than a result: " + json);
  }
  measured.records_per_second = records / measured.seconds;
  measured.answer = fmt::format("records {:.0f}", records);
  std::string_view text;
  if (object["digest"].get(text) == 0) measured.answer += " digest " + std::string(text);
  if (object["checksum"].get(text) == 0) measured.answer += " counts " + std::string(text);
  if (object["unrouted"].get(measured.unrouted) != 0) measured.unrouted = 0;
  if (object["results"].get(measured.results) == 0) {
    measured.answer += fmt::format(" results {}", measured.results);
  }
  if (object["version"].get(text) == 0) measured.version = text;
  return measured;
}

void Quiet::add_options(CLI::App& app) {
  app.add_option("--quiet", others,
                 "share of the cores that other programs may use during a run, 0 to 1")
      ->capture_default_str();
  app.add_option("--patience", patience,
                 "seconds to wait for quiet, and to repeat a run that others disturbed")
      ->capture_default_str();
}

Result<Measured> Quiet::measure(const std::function<Result<Measured>()>& run) const {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(patience);
  std::optional<Measured> best;
  for (unsigned taken = 0;; ++taken) {
    if (patience > 0) wait_for_quiet(others, until - Clock::now());
    const MachineLoad load;
    auto measured = run();
    if (!measured.ok()) return measured;
    measured->others = load.others(measured->cpu_seconds + measured->feeder_cpu_seconds);
    if (!best || measured->others < best->others) best = *measured;
    best->discarded = taken;
    if (best->others <= others || Clock::now() >= until) return *best;
  }
}

Result<Measured> WeirRun::measure() const {
  const std::string summary = data + "/summary.json";
  const std::string answers = data + "/answers.ndjson";
  std::vector<std::string> command = {program_folder() + "/weir",
                                      "replay",
                                      "--threads",
                                      std::to_string(threads),
                                      "--answers",
                                      answers,
                                      "--summary",
                                      summary,
                                      "--digest",
                                      "--progress",
                                      "none"};
  if (!workload.requests.empty()) {
    command.insert(command.end(), {"--requests", workload.requests});
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(input.empty() ? workload.file : input);
  auto run = run_child(command, data + "/weir.log", feeder);
  if (!run.ok()) return run.status();
  simdjson::padded_string text;
  if (simdjson::padded_string::load(summary).get(text) != 0) {
    return Status(Code::kIo, summary + ": cannot be read");
  }
  auto measured = Measured::of(*run, "weir", std::string(std::string_view(text)));
  if (!measured.ok()) return measured.status();
  auto checksum = checksum_of(answers);
  if (!checksum.ok()) return checksum.status();
  measured->answer += " answers " + *checksum;
  return measured;
}

}  // namespace weir::harness
