// check_config: whether an engine can be set up as a Config says.
//
// Thread safety: thread-safe (pure).
#pragma once

#include "weir/config.h"
#include "weir/status.h"

namespace weir::engine {

// Limits of Config, named so that documentation and options can show them.
inline constexpr std::size_t kMinBlockSize = 4096;
inline constexpr std::size_t kMaxBlockSize = std::size_t{8} << 20;
inline constexpr std::size_t kMinRingEntries = 2;
inline constexpr std::size_t kMaxRingEntries = 1024;
inline constexpr unsigned kMaxThreads = 1024;
inline constexpr std::size_t kMinRecordBytes = 64;
inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20;

// kConfig for the first thing that is wrong: the key, the value, and what would be right.
Status check_config(const Config& config);
// The options with Config::emit where they have no period of their own.
GroupOptions with_emit(GroupOptions options, const Period& emit);

}  // namespace weir::engine
