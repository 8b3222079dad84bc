#include "engine/stalls.h"

namespace weir::engine {

unsigned Stalls::look(const Ring& ring, unsigned workers, std::int64_t now) {
  const std::scoped_lock lock(mutex_);
  // One that is gone takes with it that it was stalled.
  workers_.resize(workers);
  unsigned stalled = 0;
  for (unsigned number = 0; number < workers; ++number) {
    Worker& worker = workers_[number];
    const std::uint64_t consumed = ring.consumed(number);
    const bool ready = ring.ready(Seq{consumed});
    const bool moved = consumed != worker.consumed;
    worker.consumed = consumed;
    if (!ready) {
      worker.ready_since = 0;
    } else if (moved || worker.ready_since == 0) {
      worker.ready_since = now;
    }
    const bool was = worker.stalled;
    worker.stalled = ready && now - worker.ready_since > kAfterNs;
    stalled += worker.stalled ? 1 : 0;
    if (worker.stalled == was || !notice_) continue;
    notice_("worker " + std::to_string(number) +
            (worker.stalled ? " stalls: it has not moved for a second although there is work"
                            : " goes on after its stall"));
  }
  return stalled;
}

}  // namespace weir::engine
