// Reloader: while a run goes on, SIGHUP reads its configuration, requests and registries again, and
// gives the engine what is different as one change.
//
// Invariants
//  1. What is wrong with a file, or cannot be changed in a run, changes nothing and is said on
//     standard error.
//  2. One reload after the other: the next one begins when the change of the last was answered.
// Thread safety: reads on a thread of its own; answered() is thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/kinds.h"
#include "replay/run_texts.h"
#include "replay/signals.h"
#include "replay/wake_event.h"
#include "weir/engine.h"

namespace weir::replay {

// Reads the options of the run again, as it was started.
using Reread = std::function<Status(ReplayOptions&)>;

class Reloader {
 public:
  // `texts` are those that the run begins with.
  Reloader(Engine& engine, RunTexts texts, Reread reread);
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  // REQUIRES: the engine has been started and outlives it. Once.
  void start();
  // Every answer of the run goes past it.
  void answered(const Answer& answer);

 private:
  void run();
  // What there is to be said of one reload.
  std::string reload();
  // Absent: the run has ended before.
  std::optional<Answer> wait_for_answer();

  Engine& engine_;
  RunTexts texts_;
  const Reread reread_;
  engine::Kinds kinds_;
  std::optional<HangupSignal> hangup_;
  WakeEvent stop_;
  std::uint64_t reloads_ = 0;

  std::mutex mutex_;
  std::condition_variable answer_came_;
  bool stopping_ = false;
  std::string waits_for_;  // the requestID of the change; empty: none
  std::optional<Answer> answer_;
  std::thread thread_;
};

}  // namespace weir::replay
