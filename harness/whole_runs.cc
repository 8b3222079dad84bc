#include "harness/whole_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "harness/fingerprint.h"

namespace weir::harness {
namespace {

template <class Each>
Spread each_repetition(const Configuration& of, Each each) {
  std::vector<double> values;
  for (std::size_t i = 0; i < of.runs.size(); ++i) values.push_back(each(i));
  return Spread::of(values);
}

}  // namespace

RunOptions::RunOptions(unsigned repetitions_)
    : repetitions(repetitions_),
      data(std::filesystem::path(program_folder()).parent_path().string() + "/harness-data") {}

void RunOptions::add_options(CLI::App& app) {
  app.add_option("--repetitions", repetitions)->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--seed", seed, "of the generator")->capture_default_str();
  app.add_option("--data", data, "folder for generated files")->capture_default_str();
  app.add_option("--out", out, "file that gets the results; - is standard output")
      ->capture_default_str();
  quiet.add_options(app);
}

Spread Configuration::rate() const {
  return each_repetition(*this, [&](std::size_t i) { return runs[i].records_per_second; });
}

Spread Configuration::figure(const std::string& name) const {
  return each_repetition(*this, [&](std::size_t i) { return runs[i].figures.at(name); });
}

std::uint64_t Configuration::peak_bytes() const {
  std::uint64_t peak = 0;
  for (const Measured& run : runs) peak = std::max(peak, run.peak_bytes);
  return peak;
}

std::string Configuration::runs_json() const {
  std::string json = "[";
  for (const Measured& run : runs) json += (json.size() > 1 ? "," : "") + run.to_json();
  return json + "]";
}

Spread rate_over(const Configuration& of, const Configuration& under) {
  return each_repetition(of, [&](std::size_t i) {
    return of.runs[i].records_per_second / under.runs[i].records_per_second;
  });
}

Spread ns_beyond(const Configuration& of, const Configuration& none) {
  return each_repetition(of, [&](std::size_t i) { return of.ns(i) - none.ns(i); });
}

Spread cpu_ns_beyond(const Configuration& of, const Configuration& none) {
  return each_repetition(of, [&](std::size_t i) { return of.cpu_ns(i) - none.cpu_ns(i); });
}

Spread cpu_ns_of(const Configuration& of) {
  return each_repetition(of, [&](std::size_t i) { return of.cpu_ns(i); });
}

Status interleave(const std::vector<Configuration*>& all, const RunOptions& options,
                  const std::function<Result<Measured>(std::size_t)>& measure) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      auto measured = options.quiet.measure([&] { return measure(i); });
      if (!measured.ok()) return measured.status();
      fmt::print(stderr, "repetition {} {}: {:.2f} M records/s, others {:.0f} %, {} discarded\n",
                 repetition + 1, all[i]->title, measured->records_per_second / 1e6,
                 100 * measured->others, measured->discarded);
      all[i]->runs.push_back(*measured);
    }
  }
  return {};
}

Status check_answers(const std::vector<Configuration*>& all) {
  std::map<std::string, std::string> said;
  for (const Configuration* one : all) {
    for (const Measured& run : one->runs) {
      const auto [first, fresh] = said.try_emplace(one->kin, run.answer);
      if (!fresh && first->second != run.answer) {
        return {Code::kIo, fmt::format("{} gave different answers: '{}' and '{}'", one->title,
                                       first->second, run.answer)};
      }
    }
  }
  return {};
}

int exit_status(const Status& status) {
  if (status.ok()) return 0;
  fmt::print(stderr, "weir-harness: {}\n", status.message());
  return 1;
}

}  // namespace weir::harness
