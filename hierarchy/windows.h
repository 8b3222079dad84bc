// Windows: one field of the hierarchies of one spec with windows, tumbling or sliding.
//
// Invariants
//  1. A window stands while it is held (docs/hierarchies.md), or until somebody looks: those that
//     are not held any more change no result.
//  2. due_ has an entry for every group that has an unpublished update, with its event time; others
//     in it are passed over.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hierarchy/aggregator.h"
#include "hierarchy/window.h"

namespace weir::hierarchy {

class Windows final : public Aggregator {
 public:
  explicit Windows(const Setting& setting);

  void apply(const Part& part, std::uint8_t* outcomes) override;
  void finish(const PublishCut& cut) override;
  void settle() override;
  void change(const Regrouping& change, const PublishCut& cut, bool publish) override;
  bool heard(std::uint32_t sensor) const override {
    return sensor < heard_.size() && heard_[sensor] != 0;
  }
  void serialize(std::span<const std::uint32_t> trees, std::int64_t stream_time,
                 core::Writer& into) const override;
  std::uint64_t memory_bytes(std::int64_t stream_time) const override;
  void save(std::int64_t stream_time, core::Writer& into) const override;
  bool restore(core::Reader& in) override;

 private:
  // A group's first unpublished update; earliest first.
  struct Due {
    std::int64_t first;
    std::int64_t window;
    std::uint32_t tree, group;
    friend bool operator<(const Due& a, const Due& b) { return a.first > b.first; }  // for a heap
  };
  // Stream time, and what follows from it.
  struct Clock {
    std::int64_t now;
    std::int64_t over;  // windows whose last time lies before it are over
    std::int64_t due;   // updates at or before it are due
  };

  Clock clock(std::int64_t now) const { return {now, before(now, grace_), before(now, emit_)}; }
  template <bool kPlain, bool kSliding>
  void apply_to(const Part& part, std::uint8_t* outcomes);
  // The window that holds the time, or null if it is over.
  Window* find(std::int64_t time, const Clock& clock);
  Window& window(std::int64_t number);
  // False: late, no window that holds the time takes it.
  bool take_sliding(std::uint32_t sensor, std::int64_t time, double value, const Clock& clock);
  void take(Window& window, std::uint32_t sensor, std::int64_t time, double value) {
    Window::Slot& slot = window.slots[sensor];
    if (time < slot.time && slot.mark != 0) return;
    slot.time = time;
    slot.value = value;
    if (slot.mark != window.round) mark(window, sensor);
  }
  void mark(Window& window, std::uint32_t sensor);
  bool has_due(std::int64_t until) const { return !due_.empty() && due_.front().first <= until; }
  void publish_due(std::int64_t until, const PublishCut& cut);
  void publish_all(std::vector<Due>& list, const PublishCut& cut);
  void regroup(Window& window, const Regrouping& change, bool publish);
  bool held(const Window& window, std::int64_t over) const {
    return window.last_time >= over || window.unpublished > 0;
  }
  void close_over(std::int64_t over);
  // Lists what is unpublished by what the windows say.
  void find_due();
  void save(const Window& window, core::Writer& into) const;
  bool restore_values(Window& window, core::Reader& in);
  bool restore_crowns(Window& window, core::Reader& in);

  const std::int64_t grace_, emit_, length_, advance_;
  const bool sliding_;
  std::map<std::int64_t, std::unique_ptr<Window>> windows_;  // by number
  std::vector<std::unique_ptr<Window>> closed_;              // to be opened again
  std::vector<Due> due_, list_;
  std::int64_t next_due_ = kLastInstant;  // the first of due_, or a time that is never due
  std::vector<std::uint8_t> heard_;       // of sensors
};

}  // namespace weir::hierarchy
