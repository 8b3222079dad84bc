// SignalStop: while it lives, Ctrl-C and SIGTERM end the engine's run at its current position
// instead of the process; a second signal ends the process at once.
//
// Invariants: the handler only stores the signal's number and calls Engine::interrupt(), both of
// which are async-signal-safe. Thread safety: single-writer; one at a time in a process.
#pragma once

#include <csignal>

#include "replay/wake_event.h"
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

// HangupSignal: while it lives, SIGHUP sets an event instead of ending the process, unless it was
// ignored before (as nohup does). Afterwards it is ignored: the run is over.
//
// Invariants: the handler only sets the event, which is async-signal-safe. Thread safety: as above.
class HangupSignal {
 public:
  HangupSignal();
  ~HangupSignal();
  HangupSignal(const HangupSignal&) = delete;
  HangupSignal& operator=(const HangupSignal&) = delete;

  const WakeEvent& event() const;
};

}  // namespace weir::replay
