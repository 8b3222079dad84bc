// LastValues: the newest value of every sensor, for changelog and latest.
//
// In latest, values go to the panels only at boundaries: a sensor that is measured ten times in a
// period costs its panel one update.
//
// Invariants
//  1. A group of latest that no set() or clear() has touched since it was last looked at comes to
//     what it published last. So which groups are touched need not be saved.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hierarchy/aggregator.h"
#include "hierarchy/instants.h"

namespace weir::hierarchy {

class LastValues final : public Aggregator {
 public:
  LastValues(const Setting& setting, std::int64_t stream_time);

  void apply(const Part& part, std::uint8_t* outcomes) override;
  void reach(std::int64_t time, const PublishCut& cut) override;
  void cross_records(const PublishCut& cut);
  void finish(const PublishCut& cut) override;
  void settle() override { flush(); }
  void change(const Regrouping& change, const PublishCut& cut, bool publish) override;
  bool heard(std::uint32_t sensor) const override {
    return sensor < slots_.size() && slots_[sensor].mark != 0;
  }
  void serialize(std::span<const std::uint32_t> trees, std::int64_t stream_time,
                 core::Writer& into) const override;
  std::uint64_t memory_bytes(std::int64_t stream_time) const override;
  std::uint64_t ages_looked_at() const override { return ages_looked_at_; }
  void save(std::int64_t stream_time, core::Writer& into) const override;
  bool restore(core::Reader& in) override;

 private:
  struct Slot {
    std::int64_t time = kNoTime.ns;
    double value = 0;
    std::uint64_t mark = 0;  // 0: no value; round_: it waits in pending_
  };
  struct Standing {
    std::unique_ptr<Panel> panel;
    bool plain = false;                // changelog: of its tree
    std::vector<Aggregate> published;  // latest
  };
  static constexpr std::uint32_t kAhead = 12;  // tuples

  bool changelog() const { return setting_.options().mode == GroupOptions::Mode::kChangelog; }
  bool too_old(const Slot& slot, std::int64_t now) const {
    const std::int64_t max_age = setting_.options().max_age;
    return max_age > 0 && slot.time != kNoTime.ns && slot.time < before(now, max_age);
  }
  bool has_boundaries() const { return !changelog() && setting_.options().emit.ns > 0; }
  // The panel has a value of this leaf, or will have when it is brought up to the values.
  bool has(std::uint32_t tree, std::uint32_t leaf) const {
    const std::uint32_t sensor = setting_.forest.sensor_of(tree, leaf);
    const bool waits = !changelog() && heard(sensor) && slots_[sensor].mark == round_;
    return waits || standing_[tree].panel->has(leaf);
  }
  bool restore_values(core::Reader& in);
  bool restore_standing(std::uint32_t tree, core::Reader& in);
  template <bool kPlain>
  void apply_to(const Part& part, std::uint8_t* outcomes);
  void set_boundary(std::int64_t time);
  void cross(std::int64_t time, const PublishCut& cut);
  void flush();
  void expire(std::int64_t now);
  // A panel has this value now.
  void note_age(const Slot& slot) {
    if (slot.time != kNoTime.ns) oldest_ = std::min(oldest_, slot.time);
  }
  void publish_touched(const PublishCut& cut, Side side);
  void publish_above(std::uint32_t sensor, double value, const PublishCut& cut);

  const bool reject_late_;
  std::vector<Slot> slots_;             // of sensors
  std::vector<Standing> standing_;      // of trees
  std::vector<std::uint32_t> pending_;  // sensors whose value the panels do not have
  std::uint64_t round_ = 1;             // of pending_
  std::vector<std::uint32_t> touched_;
  // No value of a panel is older, so none is too old before this is: most boundaries need no look
  // at every leaf.
  std::int64_t oldest_ = kLastInstant;
  std::uint64_t ages_looked_at_ = 0;
  // One before the next boundary: a later time reaches it. The first time of all sets it.
  std::int64_t before_next_ = kNoTime.ns;
};

}  // namespace weir::hierarchy
