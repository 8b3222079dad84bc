// What decides the answers of a run, hashed, so that one that goes on from a snapshot is refused
// if it would go on as another.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config.h"
#include "weir/status.h"

namespace weir::engine {

using Settings = std::map<std::string, std::uint64_t>;

// By names that users know. Not among them: threads, placement, block size, ring, digest, where
// things are kept.
Settings settings_of(const Config& config, const std::vector<std::string>& source_names,
                     std::string_view start_requests);
// kConfig for the first that differs: "--requests differ from those the run began with".
Status same_settings(const Settings& before, const Settings& now);

}  // namespace weir::engine
