// Exit statuses of the weir command, and the one way in which it reports an error: one line on
// standard error that begins with "weir: ".
//
// Thread safety: thread-safe (pure, but for fail() and note(), which write to standard error).
#pragma once

#include <string>

#include "weir/status.h"

namespace weir::replay {

enum ExitStatus : int {
  kExitOk = 0,
  kExitRun = 1,       // an input that cannot be read, a failed write, a request that got an error
  kExitUsage = 2,     // a wrong option or argument
  kExitRejects = 3,   // --strict: the run ended well, but records were rejected
  kExitConfig = 78,   // a configuration, mapping or requests file that is wrong
  kExitSignal = 128,  // plus the number of the signal: 130 for Ctrl-C, 143 for SIGTERM
};

// Prints "weir: <message>" as one line (newlines become blanks) and gives `status` back.
int fail(ExitStatus status, const std::string& message);
// Such a line of what is no failure, but may not be as it was meant.
void note(const std::string& message);
// What a Status of a run means: kConfig is 78, all else 1.
ExitStatus exit_of(const Status& status);

}  // namespace weir::replay
