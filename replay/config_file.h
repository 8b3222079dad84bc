// Configuration files of `weir replay`: TOML with the names of the options.
//
//   inputs = ["stocks.ndjson"]
//   requests = "${HOME}/requests.json"   # environment variables expand; "$$" is one "$"
//   threads = 2
//   block-size = "256K"
//   [[hierarchy]]                        # one for each: its registry, and options of its own
//   registry = "plant.json"
//   mode = "changelog"
//
// Unknown keys and wrong types are errors with file:line:column that say what would be right.
// Thread safety: thread-safe (pure, but for reading the environment).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "replay/replay_options.h"
#include "weir/status.h"

namespace weir::replay {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_environment(const std::string& name);

// Replaces ${NAME} and ${NAME:-default}. A variable that is not set is an error.
Result<std::string> expand_variables(std::string_view text, const Environment& environment);

// Sets in `options` what the text says, and that it stands in `file`. Errors are Code::kConfig.
Status parse_config(std::string_view toml, const std::string& file, const Environment& environment,
                    ReplayOptions& options);
// The same of a file. One that cannot be read is Code::kConfig too.
Status load_config(const std::string& path, ReplayOptions& options);

}  // namespace weir::replay
