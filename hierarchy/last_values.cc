#include "hierarchy/last_values.h"

#include <algorithm>

namespace weir::hierarchy {

LastValues::LastValues(const Setting& setting, std::int64_t stream_time)
    : Aggregator(setting), reject_late_(setting.options().late == GroupOptions::Late::kReject) {
  if (changelog() || setting.options().emit.ns <= 0) {
    before_next_ = kLastInstant;
  } else if (stream_time != kNoTime.ns) {
    set_boundary(stream_time);
  }
}

// The next boundary is the first multiple above `time`.
void LastValues::set_boundary(std::int64_t time) {
  const std::int64_t emit = setting_.options().emit.ns;
  before_next_ = to_instant((Wide{floor_div(time, emit)} + 1) * emit - 1);
}

void LastValues::apply(const Part& part, std::uint8_t* outcomes) {
  if (slots_.size() < setting_.forest.sensors()) slots_.resize(setting_.forest.sensors());
  const core::Column* values = column(part);
  if (values != nullptr && values->kinds.empty()) {
    apply_to<true>(part, outcomes);
  } else {
    apply_to<false>(part, outcomes);
  }
}

template <bool kPlain>
void LastValues::apply_to(const Part& part, std::uint8_t* outcomes) {
  const Numbers<kPlain> numbers(column(part));
  const bool publishes = changelog();
  std::int64_t stream_time = part.stream_time;
  for (std::uint32_t i = part.from; i < part.to; ++i) {
    const std::uint32_t* at = part.sensors + (i - part.from);
    if (i + kAhead < part.to && at[kAhead] != Forest::kNone) {
      __builtin_prefetch(&slots_[at[kAhead]], 1);
    }
    const std::int64_t time = part.columns.time[i];
    if (time > stream_time) {
      if (time > before_next_) [[unlikely]]
        cross(time, {part.before(i), Time{stream_time}, false});
      stream_time = time;
    }
    const std::uint32_t sensor = *at;
    if (sensor == Forest::kNone || !numbers.is_number(i)) continue;
    Slot& slot = slots_[sensor];
    std::uint8_t& outcome = outcomes[i - part.from];
    if (reject_late_ && slot.mark != 0 && time < slot.time) {
      outcome = std::max<std::uint8_t>(outcome, kOutLate);
      continue;
    }
    outcome = kUsed;
    slot.time = time;
    slot.value = numbers.at(i);
    if (publishes) {
      slot.mark = 1;
      publish_above(sensor, slot.value, {part.after(i), Time{stream_time}, false});
    } else if (slot.mark != round_) {
      slot.mark = round_;
      pending_.push_back(sensor);
    }
  }
}

void LastValues::publish_above(std::uint32_t sensor, double value, const PublishCut& cut) {
  const auto places = setting_.forest.places(sensor);
  for (const Forest::Place place : places) {
    const auto& tree = setting_.forest.tree(place.tree);
    const Standing& standing = standing_[place.tree];
    Panel& panel = *standing.panel;
    if (standing.plain) {
      panel.set_through(place.leaf, value);
      add_rows_above(place.tree, tree, place.leaf, panel);
    } else {
      panel.set(place.leaf, value);
      add_rows(place.tree, tree, tree->ancestors(place.leaf), panel);
    }
  }
  if (!places.empty()) setting_.cuts.close(cut, Side::kAfterRecord, places.size() == 1);
}

// A record with this time comes next: boundaries that it reaches lie before it.
void LastValues::cross(std::int64_t time, const PublishCut& cut) {
  if (time <= before_next_) return;
  if (cut.time.known()) {
    const std::int64_t emit = setting_.options().emit.ns;
    flush();
    expire(to_instant(Wide{floor_div(time, emit)} * emit));
    publish_touched(cut, Side::kBeforeRecord);
  }
  set_boundary(time);
}

void LastValues::reach(std::int64_t time, const PublishCut& cut) {
  if (setting_.options().emit.records > 0) return cross_records(cut);
  if (cut.time.known()) cross(time, cut);
}

void LastValues::cross_records(const PublishCut& cut) {
  if (changelog() || raw(cut.seq) % setting_.options().emit.records != 0) return;
  flush();
  expire(cut.time.ns);
  publish_touched(cut, Side::kBeforeRecord);
}

void LastValues::finish(const PublishCut& cut) {
  if (changelog()) return;
  flush();
  expire(cut.time.ns);
  publish_touched(cut, Side::kAfterRecord);
}

// Brings the panels up to the values.
void LastValues::flush() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (i + kAhead < pending_.size()) __builtin_prefetch(&slots_[pending_[i + kAhead]]);
    const std::uint32_t sensor = pending_[i];
    note_age(slots_[sensor]);
    for (const Forest::Place place : setting_.forest.places(sensor)) {
      standing_[place.tree].panel->set(place.leaf, slots_[sensor].value);
    }
  }
  pending_.clear();
  ++round_;
}

// Sensors whose value is older than max_age have none until they are measured again.
void LastValues::expire(std::int64_t now) {
  const std::int64_t max_age = setting_.options().max_age;
  if (max_age == 0 || now == kNoTime.ns || oldest_ >= before(now, max_age)) return;
  oldest_ = kLastInstant;
  for (std::uint32_t t = 0; t < standing_.size(); ++t) {
    Panel& panel = *standing_[t].panel;
    for (std::uint32_t leaf = 0; leaf < panel.tree().leaves(); ++leaf) {
      if (!panel.has(leaf)) continue;
      const Slot& slot = slots_[setting_.forest.sensor_of(t, leaf)];
      ++ages_looked_at_;
      if (too_old(slot, now)) {
        panel.clear(leaf);
      } else {
        note_age(slot);
      }
    }
  }
}

void LastValues::publish_touched(const PublishCut& cut, Side side) {
  for (std::uint32_t t = 0; t < standing_.size(); ++t) {
    Standing& standing = standing_[t];
    standing.panel->take_touched(touched_);
    for (const std::uint32_t g : touched_) {
      const Aggregate now = standing.panel->at(g);
      if (now == standing.published[g]) continue;
      standing.published[g] = now;
      add_row(t, setting_.forest.tree(t), g, now);
    }
  }
  setting_.cuts.close(cut, side, standing_.size() == 1);
}

void LastValues::change(const Regrouping& change, const PublishCut& cut, bool publish) {
  if (change.tree == standing_.size()) standing_.emplace_back();
  Standing& standing = standing_[change.tree];
  auto panel = std::make_unique<Panel>(change.after);
  for (std::uint32_t leaf = 0; leaf < change.after->leaves(); ++leaf) {
    const std::uint32_t sensor = setting_.forest.sensor_of(change.tree, leaf);
    if (!heard(sensor)) continue;
    const std::uint32_t old = change.old_leaf[leaf];
    const bool comes =
        old == Tree::kNone ? !too_old(slots_[sensor], cut.time.ns) : standing.panel->has(old);
    if (!comes) continue;
    panel->set(leaf, slots_[sensor].value);
    note_age(slots_[sensor]);
  }
  std::vector<Aggregate> published(changelog() ? 0 : change.after->groups());
  for (std::uint32_t g = 0; g < published.size(); ++g) {
    if (change.old_group[g] != Tree::kNone) {
      published[g] = standing.published[change.old_group[g]];
    }
  }
  if (publish) {
    publish_change(change, standing.panel.get(), panel.get(), false, kNoTime, kNoTime,
                   [&](std::uint32_t g, const Aggregate& is) {
                     if (!published.empty()) published[g] = is;
                   });
    setting_.cuts.close(cut, Side::kBeforeRecord, false);
  }
  standing.panel = std::move(panel);
  standing.plain = changelog() && change.after->plain();
  standing.published = std::move(published);
}

void LastValues::serialize(std::span<const std::uint32_t> trees, std::int64_t,
                           core::Writer& into) const {
  into.put(before_next_);
  const auto with_value = sorted_sensors([&](std::uint32_t s) { return heard(s); });
  into.put(std::uint64_t{with_value.size()});
  for (const std::uint32_t sensor : with_value) {
    into.put_text(setting_.forest.identifier(sensor));
    into.put(slots_[sensor].time);
    into.put(slots_[sensor].value);
  }
  for (const std::uint32_t t : trees) {
    const Standing& standing = standing_[t];
    for (std::uint32_t leaf = 0; leaf < setting_.forest.tree(t)->leaves(); ++leaf) {
      into.put(static_cast<std::uint8_t>(has(t, leaf)));
    }
    for (const Aggregate& published : standing.published) put(published, into);
  }
}

std::uint64_t LastValues::memory_bytes(std::int64_t) const {
  std::uint64_t bytes = std::uint64_t{setting_.forest.sensors()} * sizeof(Slot);
  for (const Standing& standing : standing_) {
    bytes += standing.panel->memory_bytes() + standing.published.size() * sizeof(Aggregate);
  }
  return bytes;
}

std::unique_ptr<Aggregator> make_last_values(const Aggregator::Setting& setting,
                                             std::int64_t stream_time) {
  return std::make_unique<LastValues>(setting, stream_time);
}

}  // namespace weir::hierarchy
