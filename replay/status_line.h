// StatusLine: standard error while a run goes on: a last line that is written again and again, and
// messages above it, neither of which tears the other.
//
// Thread safety: thread-safe.
#pragma once

#include <mutex>
#include <string>

namespace weir::replay {

class StatusLine {
 public:
  // Takes the place of the line that was shown.
  void show(const std::string& line);
  // "weir: message" as a line of its own, above the one that is shown.
  void say(const std::string& message);
  // Takes the line away.
  void clear();

 private:
  std::mutex mutex_;
  std::string shown_;
};

}  // namespace weir::replay
