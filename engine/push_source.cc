#include "engine/push_source.h"

#include <algorithm>
#include <cstring>

namespace weir::engine {

std::string PushSource::chunk() {
  std::string chunk = spent_.take();
  chunk.clear();
  return chunk;
}

Push PushSource::push(std::string&& chunk) {
  const std::size_t bytes = chunk.size();
  if (closed_.load()) return Push::kClosed;
  if (bytes == 0) return Push::kAccepted;
  std::size_t waiting = waiting_.load();
  do {
    if (waiting != 0 && waiting + bytes > max_waiting_) {
      spent_.give(std::move(chunk));
      return Push::kFull;
    }
  } while (!waiting_.compare_exchange_weak(waiting, waiting + bytes));
  // Announced before the second look, all in one total order: either this sees the close, or the
  // reader sees that something is still to come and does not end.
  if (closed_.load()) {
    waiting_.fetch_sub(bytes);
    return Push::kClosed;
  }
  const std::scoped_lock lock(order_);
  chunks_.enqueue(token_, std::move(chunk));
  return Push::kAccepted;
}

ReadResult PushSource::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (taken_ == current_.size()) {
      if (!current_.empty()) spent_.give(std::move(current_));
      current_.clear();
      taken_ = 0;
      if (!chunks_.try_dequeue(current_)) {
        current_.clear();
        if (filled > 0) break;
        const bool ended = closed_.load() && waiting_.load() == 0;
        return {.state = ended ? ReadResult::State::kEnd : ReadResult::State::kIdle,
                .bytes = 0,
                .error = {}};
      }
    }
    const std::size_t n = std::min(into.size() - filled, current_.size() - taken_);
    std::memcpy(into.data() + filled, current_.data() + taken_, n);
    filled += n;
    taken_ += n;
  }
  waiting_.fetch_sub(filled);
  return {.state = ReadResult::State::kData, .bytes = filled, .error = {}};
}

}  // namespace weir::engine
