#include "replay/status_line.h"

#include <cstdio>

#include "replay/exit_status.h"

namespace weir::replay {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

void to_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

void StatusLine::show(const std::string& line) {
  const std::lock_guard lock(mutex_);
  to_stderr(kClearLine + line);
  shown_ = line;
}

void StatusLine::say(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (!shown_.empty()) to_stderr(kClearLine);
  note(message);
  if (!shown_.empty()) to_stderr(shown_);
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  if (!shown_.empty()) to_stderr(kClearLine);
  shown_.clear();
}

}  // namespace weir::replay
