#include "replay/signals.h"

#include <atomic>

namespace weir::replay {
namespace {

// A handler has no other way to find its engine.
std::atomic<Engine*> g_engine{nullptr};
std::atomic<int> g_signal{0};
static_assert(std::atomic<Engine*>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "only lock-free atomics may be used in a signal handler");

void on_signal(int number) {
  g_signal.store(number);
  if (Engine* engine = g_engine.load()) engine->interrupt();
}

}  // namespace

SignalStop::SignalStop(Engine& engine) {
  g_signal.store(0);
  g_engine.store(&engine);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // SA_RESETHAND: the second signal has its default effect, so nobody is held up by a stuck run.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

SignalStop::~SignalStop() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  g_engine.store(nullptr);
}

int SignalStop::signal() const { return g_signal.load(); }

}  // namespace weir::replay
