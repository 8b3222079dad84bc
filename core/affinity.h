// Settling a thread where its placement says: pinned, named, its memory taken from its own NUMA
// group. What the system refuses is reported, never fatal: a thread runs anywhere, only slower.
//
// Thread safety: thread-safe; each call concerns the calling thread alone.
#pragma once

#include <cstdint>
#include <string>

#include "core/placement.h"
#include "weir/status.h"

namespace weir::core {

// Restricts the calling thread to one PU (os number).
Status pin_this_thread(std::uint32_t pu);
// Pages that the calling thread touches first come from this NUMA group (os number) while it has
// some.
Status prefer_memory_of(std::uint32_t group_os);
// Cut to the 15 bytes that the system keeps.
void name_this_thread(const std::string& name);

struct Settled {
  bool pinned = false;
  std::string complaint;  // what the system refused; empty = nothing
};
// All three, as `thread` asks. The name is "weir-<role>-<number>".
Settled settle(const PlacedThread& thread);

}  // namespace weir::core
