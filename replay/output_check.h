// Refuses a run whose outputs would overwrite its inputs or each other.
//
// Thread safety: thread-safe (it looks at the file system only).
#pragma once

#include "replay/replay_options.h"
#include "weir/status.h"

namespace weir::replay {

Status check_outputs(const ReplayOptions& options);

}  // namespace weir::replay
