#include "harness/engine_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <optional>

namespace weir::harness {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::uint64_t> sizes_in(const std::string& folder) {
  std::vector<std::uint64_t> sizes;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
    if (file.is_regular_file()) sizes.push_back(file.file_size());
  }
  return sizes;
}

// What the callbacks gather.
struct Gathered {
  std::uint64_t hash = 0;
  unsigned rescaled = 0;
  std::string refused;
  std::mutex mutex;  // of what follows
  std::vector<Clock::time_point> marks;
  std::vector<std::string> notices;

  void take(const Answer& answer) {
    if (answer.kind == Answer::Kind::kError && refused.empty()) refused = answer.reason;
    // Whether and when there were so many workers is what runs differ in.
    if (answer.kind == Answer::Kind::kAck && answer.request_id == "\"workers\"") {
      ++rescaled;
      return;
    }
    const std::string line = answer.to_json();
    hash = XXH3_64bits_withSeed(line.data(), line.size(), hash);
  }
};

}  // namespace

Result<EngineOutcome> EngineRun::run() {
  Gathered gathered;
  EngineOutcome outcome;
  const double cpu = own_cpu_seconds();
  Clock::time_point began;
  {
    auto engine = Engine::create(std::move(config));
    if (!engine.ok()) return engine.status();
    engine->add_source(std::move(source));
    engine->on_answer([&](const Answer& answer) { gathered.take(answer); });
    OutputLengths outputs;
    outputs.answers = [&]() -> std::uint64_t {
      const std::scoped_lock lock(gathered.mutex);
      gathered.marks.push_back(Clock::now());
      return 0;
    };
    engine->on_snapshot(std::move(outputs));
    engine->on_notice([&](const std::string& notice) {
      const std::scoped_lock lock(gathered.mutex);
      gathered.notices.push_back(notice);
    });
    for (const std::string& request : requests) {
      if (Status status = engine->request(request); !status.ok()) return status;
    }
    began = Clock::now();
    if (Status status = engine->start(); !status.ok()) return status;
    std::optional<Sampler> sampler(*engine);
    if (started) {
      if (Status status = started(*engine); !status.ok()) return status;
    }
    auto summary = engine->finish();
    outcome.samples = sampler->stop();
    for (const Clock::time_point mark : gathered.marks) {
      outcome.marks.push_back(sampler->ms_of(mark));
    }
    sampler.reset();
    if (!summary.ok()) return summary.status();
    outcome.summary = *std::move(summary);
  }
  Measured& measured = outcome.measured;
  measured.process_seconds = std::chrono::duration<double>(Clock::now() - began).count();
  measured.cpu_seconds = own_cpu_seconds() - cpu;
  if (!gathered.refused.empty()) return Status(Code::kIo, gathered.refused);
  const Summary& summary = outcome.summary;
  if (!summary.source_error.empty()) return Status(Code::kIo, summary.source_error);
  if (!summary.conserved()) return Status(Code::kIo, "records were lost, or counted twice");
  measured.seconds = summary.seconds;
  measured.records_per_second = summary.records_per_second();
  measured.answer = fmt::format("records {} digest {} answers {:016x}", summary.records,
                                summary.digest, gathered.hash);
  outcome.rescaled = gathered.rescaled;
  outcome.notices = std::move(gathered.notices);
  return outcome;
}

double own_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

std::uint64_t largest_file(const std::string& folder) {
  const std::vector<std::uint64_t> sizes = sizes_in(folder);
  return sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

std::uint64_t bytes_in(const std::string& folder) {
  const std::vector<std::uint64_t> sizes = sizes_in(folder);
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

Status empty_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (error) return {Code::kIo, path + ": " + error.message()};
  return {};
}

}  // namespace weir::harness
