// Resuming: what a run with snapshots or a journal asks of its inputs and outputs, and says of
// where it goes on.
//
// Thread safety: thread-safe (pure, but for looking at the file system).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/output_check.h"
#include "replay/replay_options.h"
#include "weir/engine.h"

namespace weir::replay {

// An error when what an input brings is gone once it was read (a pipe, a device), a later run
// would need it, and no journal keeps it.
Status inputs_can_come_again(const ReplayOptions& options, const std::vector<NamedFile>& inputs);

// "resumed at record 1234567 of stocks.ndjson (byte 987654)"; for a journal: what a sender is to go
// on with. REQUIRES: options.engine.resume.
std::string resumed_text(const ReplayOptions& options, const std::optional<Resumed>& resumed,
                         const std::vector<std::string>& sources);

}  // namespace weir::replay
