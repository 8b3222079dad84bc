#include "replay/signals.h"

#include <atomic>

namespace weir::replay {
namespace {

// A handler has no other way to find its engine.
std::atomic<Engine*> g_engine{nullptr};
std::atomic<int> g_signal{0};
static_assert(std::atomic<Engine*>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "only lock-free atomics may be used in a signal handler");

// Never destroyed: a handler may still run on another thread when the signal is handled no more.
WakeEvent& hangup_event() {
  static auto* const event = new WakeEvent;
  return *event;
}
std::atomic<const WakeEvent*> g_hangup{nullptr};
static_assert(std::atomic<const WakeEvent*>::is_always_lock_free);

void on_hangup(int /*number*/) {
  if (const WakeEvent* event = g_hangup.load()) event->set();
}

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

HangupSignal::HangupSignal() {
  hangup_event().clear();
  g_hangup.store(&hangup_event());
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = on_hangup;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
}

HangupSignal::~HangupSignal() { std::signal(SIGHUP, SIG_IGN); }

const WakeEvent& HangupSignal::event() const { return hangup_event(); }

}  // namespace weir::replay
