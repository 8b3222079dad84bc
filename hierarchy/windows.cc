#include "hierarchy/windows.h"

#include <algorithm>
#include <tuple>

#include "hierarchy/instants.h"

namespace weir::hierarchy {
namespace {

constexpr std::uint32_t kAhead = 12;     // tuples whose slots are on their way
constexpr std::size_t kMostClosed = 64;  // windows that are kept for later

}  // namespace

Windows::Windows(const Setting& setting)
    : Aggregator(setting),
      grace_(setting.options().grace),
      emit_(setting.options().emit.ns),
      length_(setting.options().mode == GroupOptions::Mode::kSliding ? setting.options().window
                                                                     : emit_),
      advance_(setting.options().mode == GroupOptions::Mode::kSliding ? setting.options().advance
                                                                      : emit_),
      sliding_(setting.options().mode == GroupOptions::Mode::kSliding) {}

void Windows::apply(const Part& part, std::uint8_t* outcomes) {
  if (heard_.size() < setting_.forest.sensors()) heard_.resize(setting_.forest.sensors());
  const core::Column* values = column(part);
  const bool plain = values != nullptr && values->kinds.empty();
  if (plain) {
    sliding_ ? apply_to<true, true>(part, outcomes) : apply_to<true, false>(part, outcomes);
  } else {
    sliding_ ? apply_to<false, true>(part, outcomes) : apply_to<false, false>(part, outcomes);
  }
}

template <bool kPlain, bool kSliding>
void Windows::apply_to(const Part& part, std::uint8_t* outcomes) {
  const Numbers<kPlain> numbers(column(part));
  Clock at = clock(part.stream_time);
  Window* window = nullptr;  // the one of the last measurement
  for (std::uint32_t i = part.from; i < part.to; ++i) {
    const std::uint32_t* sensors = part.sensors + (i - part.from);
    if (!kSliding && window != nullptr && i + kAhead < part.to &&
        sensors[kAhead] != Forest::kNone) {
      __builtin_prefetch(&window->slots[sensors[kAhead]], 1);
    }
    const std::int64_t time = part.columns.time[i];
    if (time > at.now) at = clock(time);
    const std::uint32_t sensor = *sensors;
    if (sensor != Forest::kNone && numbers.is_number(i)) {
      std::uint8_t& outcome = outcomes[i - part.from];
      std::uint8_t is = kUsed;
      if (time == kNoTime.ns) {
        is = kTimeless;
      } else if (kSliding) {
        if (!take_sliding(sensor, time, numbers.at(i), at)) is = kOutLate;
      } else {
        if (window == nullptr || !window->holds(time)) window = find(time, at);
        if (window == nullptr || window->last_time < at.over) {
          is = kOutLate;
        } else {
          take(*window, sensor, time, numbers.at(i));
        }
      }
      outcome = std::max(outcome, is);
    }
    if (next_due_ <= at.due) [[unlikely]] {
      publish_due(at.due, {part.after(i), Time{at.now}, false});
      window = nullptr;
    }
  }
}

Window* Windows::find(std::int64_t time, const Clock& clock) {
  const std::int64_t number = floor_div(time, length_);
  const Wide last = (Wide{number} + 1) * length_ - 1;
  if (last < clock.over) return nullptr;
  close_over(clock.over);
  return &window(number);
}

Window& Windows::window(std::int64_t number) {
  auto found = windows_.lower_bound(number);
  if (found == windows_.end() || found->first != number) {
    std::unique_ptr<Window> opened;
    if (closed_.empty()) {
      opened = std::make_unique<Window>();
    } else {
      opened = std::move(closed_.back());
      closed_.pop_back();
    }
    opened->open(number, length_, advance_);
    found = windows_.emplace_hint(found, number, std::move(opened));
  }
  found->second->make_room(setting_.forest.sensors());
  return *found->second;
}

bool Windows::take_sliding(std::uint32_t sensor, std::int64_t time, double value,
                           const Clock& clock) {
  // Windows that hold the time begin after time − length, and those that are not over end above
  // clock.over.
  const Wide earliest = std::max(Wide{time}, Wide{clock.over}) - length_;
  const std::int64_t last = floor_div(time, advance_);
  std::int64_t number = floor_div_wide(earliest, advance_) + 1;
  if (number > last) return false;
  close_over(clock.over);
  for (; number <= last; ++number) take(window(number), sensor, time, value);
  return true;
}

// The sensor has an update in the window, its first in this round.
void Windows::mark(Window& window, std::uint32_t sensor) {
  Window::Slot& slot = window.slots[sensor];
  if (slot.mark == 0) {
    window.touched.push_back(sensor);
    heard_[sensor] = 1;
  }
  slot.mark = window.round;
  window.pending.push_back(sensor);
  for (const Forest::Place place : setting_.forest.places(sensor)) {
    Window::Crown& crown = window.crown(setting_.forest, place.tree);
    for (const std::uint32_t g : setting_.forest.tree(place.tree)->ancestors(place.leaf)) {
      if (crown.first[g] != kNoTime.ns) continue;
      crown.first[g] = slot.time;
      crown.marked.push_back(g);
      ++window.unpublished;
      due_.push_back({slot.time, window.number, place.tree, g});
      std::push_heap(due_.begin(), due_.end());
    }
  }
  next_due_ = due_.empty() ? kLastInstant : due_.front().first;
}

void Windows::publish_due(std::int64_t until, const PublishCut& cut) {
  list_.clear();
  while (has_due(until)) {
    std::pop_heap(due_.begin(), due_.end());
    list_.push_back(due_.back());
    due_.pop_back();
  }
  next_due_ = due_.empty() ? kLastInstant : due_.front().first;
  publish_all(list_, cut);
  close_over(before(cut.time.ns, grace_));
}

// Publishes the groups of the list that still have the update it names, where they differ.
void Windows::publish_all(std::vector<Due>& list, const PublishCut& cut) {
  std::sort(list.begin(), list.end(), [](const Due& a, const Due& b) {
    return std::tie(a.window, a.tree, a.group) < std::tie(b.window, b.tree, b.group);
  });
  Window* window = nullptr;
  for (const Due& due : list) {
    if (window == nullptr || window->number != due.window) {
      const auto found = windows_.find(due.window);
      if (found == windows_.end()) continue;
      window = found->second.get();
      window->flush(setting_.forest);
    }
    Window::Crown& crown = window->crown(setting_.forest, due.tree);
    if (crown.first[due.group] != due.first) continue;
    crown.first[due.group] = kNoTime.ns;
    --window->unpublished;
    const Aggregate now = window->panel(setting_.forest, due.tree).at(due.group);
    if (now == crown.published[due.group]) continue;
    crown.published[due.group] = now;
    add_row(due.tree, setting_.forest.tree(due.tree), due.group, now, window->start, window->end);
  }
  setting_.cuts.close(cut, Side::kAfterRecord, setting_.forest.trees() == 1);
}

void Windows::finish(const PublishCut& cut) {
  list_.swap(due_);
  due_.clear();
  next_due_ = kLastInstant;
  publish_all(list_, cut);
  close_over(before(cut.time.ns, grace_));
}

void Windows::settle() {
  for (const auto& [number, window] : windows_) window->flush(setting_.forest);
}

void Windows::change(const Regrouping& change, const PublishCut& cut, bool publish) {
  close_over(before(cut.time.ns, grace_));
  for (const auto& window : closed_) window->forget_crown(change.tree);
  for (const auto& [number, window] : windows_) regroup(*window, change, publish);
  setting_.cuts.close(cut, Side::kBeforeRecord, false);
  find_due();
}

void Windows::find_due() {
  due_.clear();
  for (const auto& [number, window] : windows_) {
    window->unpublished = 0;
    for (std::uint32_t t = 0; t < window->crowns.size(); ++t) {
      Window::Crown& crown = window->crowns[t];
      for (std::uint32_t g = 0; g < crown.first.size(); ++g) {
        if (crown.first[g] == kNoTime.ns) continue;
        due_.push_back({crown.first[g], number, t, g});
        ++window->unpublished;
      }
    }
  }
  std::make_heap(due_.begin(), due_.end());
  next_due_ = due_.empty() ? kLastInstant : due_.front().first;
}

// Gives the window a crown of the new tree, and publishes what differs. REQUIRES: flushed.
void Windows::regroup(Window& window, const Regrouping& change, bool publish) {
  const std::uint32_t t = change.tree;
  Window::Crown old;
  if (t < window.crowns.size()) old = std::exchange(window.crowns[t], {});
  Window::Crown& crown = window.crown(setting_.forest, t);
  for (std::uint32_t leaf = 0; leaf < change.after->leaves(); ++leaf) {
    const std::uint32_t sensor = setting_.forest.sensor_of(t, leaf);
    if (window.has(sensor)) window.panel(setting_.forest, t).set(leaf, window.slots[sensor].value);
  }
  for (std::uint32_t g = 0; g < change.after->groups(); ++g) {
    const std::uint32_t was = change.old_group[g];
    if (was == Tree::kNone || old.first.empty()) continue;
    crown.first[g] = old.first[was];
    crown.published[g] = old.published[was];
  }
  if (publish) {
    publish_change(change, old.panel.get(), crown.panel.get(), true, window.start, window.end,
                   [&](std::uint32_t g, const Aggregate& is) {
                     crown.first[g] = kNoTime.ns;
                     crown.published[g] = is;
                   });
  }
  for (std::uint32_t g = 0; g < crown.first.size(); ++g) {
    if (crown.first[g] != kNoTime.ns || crown.published[g] != Aggregate()) {
      crown.marked.push_back(g);
    }
  }
  // Who has marked the groups above a sensor counts no more.
  ++window.round;
}

void Windows::close_over(std::int64_t over) {
  for (auto at = windows_.begin(); at != windows_.end() && at->second->last_time < over;) {
    if (held(*at->second, over)) {
      ++at;
      continue;
    }
    if (closed_.size() < kMostClosed) {
      at->second->reset();
      closed_.push_back(std::move(at->second));
    }
    at = windows_.erase(at);
  }
}

void Windows::serialize(std::span<const std::uint32_t> trees, std::int64_t stream_time,
                        core::Writer& into) const {
  const std::int64_t over = before(stream_time, grace_);
  for (const auto& [number, window] : windows_) {
    if (!held(*window, over)) continue;
    into.put(number);
    // Bound once more: clang 14 captures no structured binding.
    const auto with_value =
        sorted_sensors([&open = *window](std::uint32_t s) { return open.has(s); });
    into.put(std::uint64_t{with_value.size()});
    for (const std::uint32_t sensor : with_value) {
      into.put_text(setting_.forest.identifier(sensor));
      into.put(window->slots[sensor].time);
      into.put(window->slots[sensor].value);
    }
    for (const std::uint32_t t : trees) {
      const std::uint32_t groups = setting_.forest.tree(t)->groups();
      const bool marked = t < window->crowns.size() && !window->crowns[t].first.empty();
      for (std::uint32_t g = 0; g < groups; ++g) {
        into.put(marked ? window->crowns[t].first[g] : kNoTime.ns);
        put(marked ? window->crowns[t].published[g] : Aggregate(), into);
      }
    }
  }
}

std::uint64_t Windows::memory_bytes(std::int64_t stream_time) const {
  const std::int64_t over = before(stream_time, grace_);
  std::uint64_t bytes = setting_.forest.sensors();
  for (const auto& [number, window] : windows_) {
    if (!held(*window, over)) continue;
    bytes += window->touched.size() * (sizeof(Window::Slot) + 2 * sizeof(std::uint32_t)) +
             window->unpublished * sizeof(Due);
    for (std::uint32_t t = 0; t < setting_.forest.trees(); ++t) {
      const Tree& tree = *setting_.forest.tree(t);
      bytes += tree.groups() * (sizeof(std::int64_t) + sizeof(Aggregate)) +
               tree.cells() * std::uint64_t{sizeof(Cell)};
    }
  }
  return bytes;
}

std::unique_ptr<Aggregator> make_windows(const Aggregator::Setting& setting) {
  return std::make_unique<Windows>(setting);
}

}  // namespace weir::hierarchy
