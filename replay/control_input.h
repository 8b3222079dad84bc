// ControlInput: requests that come while a run goes on, one a line, from standard input.
//
// Invariants
//  1. A line that is no request is reported with its number and harms nothing; the end of the input
//     is not that of the run.
//  2. Nobody waits for its thread: it ends at once when it is told to, whatever the input does.
// Thread safety: the engine is called from a thread of its own; single-writer otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "replay/wake_event.h"
#include "weir/engine.h"

namespace weir::replay {

// Puts pieces of a text together to lines.
class LineFeed {
 public:
  // A longer line is passed over.
  static constexpr std::size_t kMaxLine = std::size_t{64} << 20;
  using TakeLine = std::function<void(std::uint64_t number, std::string_view line)>;
  using TooLong = std::function<void(std::uint64_t number)>;

  LineFeed(TakeLine take, TooLong too_long, std::size_t max_line = kMaxLine)
      : take_(std::move(take)), too_long_(std::move(too_long)), max_line_(max_line) {}
  void add(std::string_view piece);
  // The last line may have no end.
  void finish();

 private:
  void end_line();

  const TakeLine take_;
  const TooLong too_long_;
  const std::size_t max_line_;
  std::string line_;
  bool passes_over_ = false;
  std::uint64_t number_ = 1;
};

class ControlInput {
 public:
  // REQUIRES: the engine has been started and outlives it.
  ControlInput(Engine& engine, int descriptor);
  ~ControlInput();
  ControlInput(const ControlInput&) = delete;
  ControlInput& operator=(const ControlInput&) = delete;

 private:
  void run();
  void take(std::uint64_t number, std::string_view line);

  Engine& engine_;
  const int descriptor_;
  WakeEvent stop_;
  std::thread thread_;
};

}  // namespace weir::replay
