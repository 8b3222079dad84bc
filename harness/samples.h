// Samples: how many records a run has applied, looked at again and again by a thread of its own,
// and what they say of how evenly it went on.
//
// Thread safety: Sampler: thread-compatible. The rest: pure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "weir/engine.h"

namespace weir::harness {

struct Sample {
  double ms = 0;  // since sampling began
  std::uint64_t records = 0;
};

class Sampler {
 public:
  using Clock = std::chrono::steady_clock;
  // At least, from one to the next.
  static constexpr std::chrono::milliseconds kPeriod{10};

  // Begins. The engine has been started, and outlives it.
  explicit Sampler(const Engine& engine);
  ~Sampler() { stop(); }
  // Ends, with the last sample taken.
  const std::vector<Sample>& stop();
  double ms_of(Clock::time_point time) const {
    return std::chrono::duration<double, std::milli>(time - began_).count();
  }

 private:
  void run();

  const Engine& engine_;
  const Clock::time_point began_ = Clock::now();
  std::vector<Sample> samples_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;  // last: it uses the others
};

// Each window is from one sample to another, so it is at least as long as it is called. Samples are
// looked at from `from` to `to`, in ms; those behind the last record are not in any.

// The first time that so many records were there; the last sample's if they never were.
double reached(std::span<const Sample> samples, std::uint64_t records);
// Records a second; 0 where there are no two samples.
double rate(std::span<const Sample> samples, double from, double to);
// The least records a second of any window of `window` ms; that of all if it is shorter.
double least_rate(std::span<const Sample> samples, double from, double to, double window);
// ms of the longest time in which all samples show less than `below` records a second.
double longest_below(std::span<const Sample> samples, double from, double to, double below);
// The samples of a run that are of interest: without its start, until `records` were there, and
// without what comes behind the last record.
std::vector<Sample> while_running(std::span<const Sample> samples, std::uint64_t records,
                                  std::uint64_t total);
// [[ms, records since the sample before],…], ms with one decimal.
std::string to_json(std::span<const Sample> samples);

}  // namespace weir::harness
