// write_all(): every byte to a descriptor, or the reason why not.
//
// Thread safety: thread-safe (pure, but for the descriptor).
#pragma once

#include <string_view>

#include "weir/status.h"

namespace weir::replay {

// Goes on after interrupted and partial writes, and waits where the descriptor does not block. A
// reader that is gone (EPIPE; SIGPIPE must be ignored) is no error: `reader_gone` is set. The
// message of an error is the system's alone; callers know what they were writing.
Status write_all(int descriptor, std::string_view bytes, bool& reader_gone);

}  // namespace weir::replay
