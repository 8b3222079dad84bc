// Child: runs a program to its end and says what it printed, how long it took and what it used.
//
// Thread safety: thread-safe (each call has a child of its own).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/status.h"

namespace weir::harness {

struct ChildRun {
  std::string output;            // its standard output
  double seconds = 0;            // from start to end of the process
  double cpu_seconds = 0;        // user and system
  std::uint64_t peak_bytes = 0;  // largest resident set
  double feeder_cpu_seconds = 0;
};

// `command[0]` is a path or found through PATH. Standard error is passed on, or goes to the file
// `errors`. Where `feeder` is not empty, it is run too and its output is the standard input of the
// first; it is not measured. An exit status other than 0 is an error that names the command; so is
// a signal.
Result<ChildRun> run_child(const std::vector<std::string>& command, const std::string& errors = "",
                           const std::vector<std::string>& feeder = {});

}  // namespace weir::harness
