// Fault plans from TOML (docs/cli.md):
//
//   [[fault]]
//   kind = "stop"       # a worker does nothing for a while
//   worker = 1
//   at = 1000000        # when it comes to this record
//   for = "2s"
//
// Keys that are unknown, missing or mean nothing to their kind, and values out of range, are errors
// with file:line:column. Thread safety: thread-safe (pure, but for reading the file).
#pragma once

#include <string>
#include <string_view>

#include "weir/faults.h"
#include "weir/status.h"

namespace weir::replay {

// Errors are Code::kConfig, here and below.
Result<FaultPlan> parse_faults(std::string_view toml, const std::string& file);
Result<FaultPlan> load_faults(const std::string& path);

}  // namespace weir::replay
