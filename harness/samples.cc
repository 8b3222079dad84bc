#include "harness/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace weir::harness {
namespace {

double rate_between(const Sample& a, const Sample& b) {
  return b.ms > a.ms ? 1e3 * static_cast<double>(b.records - a.records) / (b.ms - a.ms) : 0;
}

std::span<const Sample> between(std::span<const Sample> samples, double from, double to) {
  const auto first = std::ranges::lower_bound(samples, from, {}, &Sample::ms);
  const auto last = std::ranges::upper_bound(samples, to, {}, &Sample::ms);
  if (first >= last) return {};
  return {first, last};
}

}  // namespace

Sampler::Sampler(const Engine& engine) : engine_(engine), thread_([this] { run(); }) {}

void Sampler::run() {
  for (bool last = false; !last;) {
    last = stopped_.load();
    const Progress progress = engine_.progress();
    samples_.push_back({ms_of(Clock::now()), progress.records});
    if (progress.done || last) return;
    std::this_thread::sleep_for(kPeriod);
  }
}

const std::vector<Sample>& Sampler::stop() {
  stopped_.store(true);
  if (thread_.joinable()) thread_.join();
  return samples_;
}

double reached(std::span<const Sample> samples, std::uint64_t records) {
  for (const Sample& sample : samples) {
    if (sample.records >= records) return sample.ms;
  }
  return samples.empty() ? 0 : samples.back().ms;
}

double rate(std::span<const Sample> samples, double from, double to) {
  const auto part = between(samples, from, to);
  return part.size() < 2 ? 0 : rate_between(part.front(), part.back());
}

double least_rate(std::span<const Sample> samples, double from, double to, double window) {
  const auto part = between(samples, from, to);
  double least = std::numeric_limits<double>::infinity();
  std::size_t end = 0;
  for (const Sample& begin : part) {
    while (end < part.size() && part[end].ms < begin.ms + window) ++end;
    if (end == part.size()) break;
    least = std::min(least, rate_between(begin, part[end]));
  }
  return least == std::numeric_limits<double>::infinity() ? rate(samples, from, to) : least;
}

double longest_below(std::span<const Sample> samples, double from, double to, double below) {
  const auto part = between(samples, from, to);
  double longest = 0, slow = 0;
  for (std::size_t i = 1; i < part.size(); ++i) {
    slow = rate_between(part[i - 1], part[i]) < below ? slow + part[i].ms - part[i - 1].ms : 0;
    longest = std::max(longest, slow);
  }
  return longest;
}

std::vector<Sample> while_running(std::span<const Sample> samples, std::uint64_t records,
                                  std::uint64_t total) {
  std::vector<Sample> kept;
  for (const Sample& sample : samples) {
    if (sample.records >= records && sample.records < total) kept.push_back(sample);
  }
  return kept;
}

std::string to_json(std::span<const Sample> samples) {
  std::string json = "[";
  std::uint64_t before = 0;
  for (const Sample& sample : samples) {
    json += fmt::format("{}[{:.1f},{}]", json.size() > 1 ? "," : "", sample.ms,
                        sample.records - before);
    before = sample.records;
  }
  return json + "]";
}

}  // namespace weir::harness
