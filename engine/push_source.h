// PushSource: a source whose bytes come from the host, chunk by chunk, with a bound on what waits.
//
// Thread safety: thread-safe for push and close; read as every Source. A push that ends before
// another begins is read first, whichever threads they come from: a chunk may end inside a record.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "core/pool.h"
#include "weir/engine.h"
#include "weir/source.h"

namespace weir::engine {

class PushSource final : public Source {
 public:
  explicit PushSource(std::size_t max_waiting) : max_waiting_(max_waiting) {}

  // An empty chunk, of recycled memory if there is any.
  std::string chunk();
  // Takes all of a chunk or nothing. One above the bound is taken when nothing waits.
  Push push(std::string&& chunk);
  // What has been pushed is still read, then the source ends.
  void close() { closed_.store(true); }

  ReadResult read(std::span<char> into) override;
  const std::string& name() const override { return name_; }

 private:
  std::size_t max_waiting_;
  std::string name_ = "pushed";
  moodycamel::ConcurrentQueue<std::string> chunks_;
  // All chunks go in through one token, under order_: the queue keeps order by producer alone.
  std::mutex order_;
  moodycamel::ProducerToken token_{chunks_};
  core::Pool<std::string> spent_{64};  // their memory, for the next pushes
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> closed_{false};
  std::string current_;
  std::size_t taken_ = 0;  // of current_
};

}  // namespace weir::engine
