// SignalStop: while it lives, Ctrl-C and SIGTERM end the engine's run at its current position
// instead of the process; a second signal ends the process at once.
//
// Invariants: the handler only stores the signal's number and calls Engine::interrupt(), both of
// which are async-signal-safe. Thread safety: single-writer; one at a time in a process.
#pragma once

#include <csignal>

#include "weir/engine.h"

namespace weir::replay {

class SignalStop {
 public:
  // The engine stays where it is while this lives.
  explicit SignalStop(Engine& engine);
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  // The number of the signal that came, or 0.
  int signal() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace weir::replay
