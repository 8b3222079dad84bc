// Registry files and control files: the hierarchies of a run, and what changes them, read and
// checked before it starts.
//
// Thread safety: thread-safe (pure, but for reading files).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/replay_options.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::replay {

// The texts of all registries that `options` names, with what it says about each. Errors name the
// setting and the file. What is in a text is not looked at.
Result<std::vector<HierarchyConfig>> read_registries(const ReplayOptions& options);

// A change of a hierarchy, {"at":…,"registry":{…}}, of the number of workers or of several things.
struct ControlLine {
  std::uint64_t line = 0;  // 1-based
  std::string_view text;   // of the file's text
};
// One object a line; blank lines are passed over. Errors (kConfig) begin with "file:line: ": what
// is no JSON or no change of a hierarchy. What is wrong with a change is the engine's to answer.
Result<std::vector<ControlLine>> parse_control(std::string_view text, const std::string& file);

}  // namespace weir::replay
