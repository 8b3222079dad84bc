// EngineRun: an engine run to its end in this process, while records flow from memory and a thread
// looks every 10 ms how many have been applied.
//
// Thread safety: thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/measured.h"
#include "harness/samples.h"
#include "weir/config.h"
#include "weir/engine.h"
#include "weir/source.h"
#include "weir/status.h"

namespace weir::harness {

struct EngineOutcome {
  Measured measured;  // its answer holds digest and answers, but for the acks of `workers`
  Summary summary;
  std::vector<Sample> samples;
  unsigned rescaled = 0;  // acks of `workers`
  // When a snapshot's place had been passed by all: ms as in samples.
  std::vector<double> marks;
  std::vector<std::string> notices;
};

struct EngineRun {
  Config config;
  std::unique_ptr<Source> source;
  std::vector<std::string> requests;
  // Called once the engine has been started; what it gives ends the run if it is bad.
  std::function<Status(Engine&)> started{};

  // Seconds of the process, and of its processors, are from the start until the engine is gone,
  // when all that it keeps is on disk.
  Result<EngineOutcome> run();
};

// Processor time of this process, user and system, in seconds.
double own_cpu_seconds();
// Of the largest file in a folder, or of all of them together; 0 if there is none.
std::uint64_t largest_file(const std::string& folder);
std::uint64_t bytes_in(const std::string& folder);
// Removes a folder and all in it, and makes it anew.
Status empty_folder(const std::string& path);

}  // namespace weir::harness
