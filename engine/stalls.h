// Stalls: which workers have not moved for a second although there is work, for whatever reason: a
// thread that is stopped and nobody takes its place, one that hangs in a callback, one that waits
// for what another owns.
//
// It looks only when it is asked, and remembers since when, so it costs the workers nothing. What
// was ready at one look and has not been applied at a later one was ready all the time between.
// Thread safety: thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/entry.h"

namespace weir::engine {

class Stalls {
 public:
  static constexpr std::int64_t kAfterNs = 1'000'000'000;

  // `notice` hears once of each worker that stalls, and once when it goes on.
  explicit Stalls(std::function<void(const std::string&)> notice) : notice_(std::move(notice)) {}

  // Looks at workers 0, 1, … of so many, and gives the number of those that are stalled. `now` is
  // core::now_ns(). A first look sees none: nobody knows since when.
  unsigned look(const Ring& ring, unsigned workers, std::int64_t now);

 private:
  struct Worker {
    std::uint64_t consumed = 0;
    std::int64_t ready_since = 0;  // of the entry that is next; 0: it was not ready
    bool stalled = false;
  };

  const std::function<void(const std::string&)> notice_;
  std::mutex mutex_;
  std::vector<Worker> workers_;
};

}  // namespace weir::engine
