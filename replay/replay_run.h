// One run of `weir replay`: sources in, answers, rejects and a summary out.
//
// Thread safety: single-writer; one at a time in a process, since it handles signals.
#pragma once

#include "replay/reloader.h"
#include "replay/replay_options.h"

namespace weir::replay {

// Everything is checked before anything is written. Gives the exit status; what is wrong has been
// said on standard error. `reread` gives the options again, as they are by then.
int run_replay(const ReplayOptions& options, const Reread& reread);

}  // namespace weir::replay
