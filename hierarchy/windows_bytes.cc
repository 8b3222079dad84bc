// Windows as bytes: which sensors have ever had a value, then the windows that are held, by number:
// their values, and of each tree the groups with an unpublished update or something published.
//
// Values are saved as if none waited for its panel, and wait when they are restored: nobody sees
// when they go there. What is due follows from the groups.
#include <algorithm>
#include <cmath>

#include "hierarchy/windows.h"

namespace weir::hierarchy {
namespace {

// Held windows: those that hold a time not yet over, and one more at either end.
constexpr std::uint32_t kMostHeld = static_cast<std::uint32_t>(kMaxWindows) + 8;

}  // namespace

void Windows::save(std::int64_t stream_time, core::Writer& into) const {
  const std::uint32_t sensors = setting_.forest.sensors();
  for (std::uint32_t sensor = 0; sensor < sensors; ++sensor) {
    into.put(static_cast<std::uint8_t>(heard(sensor)));
  }
  const std::int64_t over = before(stream_time, grace_);
  std::uint32_t open = 0;
  for (const auto& [number, window] : windows_) open += held(*window, over);
  into.put(open);
  for (const auto& [number, window] : windows_) {
    if (held(*window, over)) save(*window, into);
  }
}

void Windows::save(const Window& window, core::Writer& into) const {
  into.put(window.number);
  into.put(static_cast<std::uint32_t>(window.touched.size()));
  for (const std::uint32_t sensor : window.touched) {
    into.put(sensor);
    into.put(window.slots[sensor].time);
    into.put(window.slots[sensor].value);
  }
  for (std::uint32_t t = 0; t < setting_.forest.trees(); ++t) {
    std::vector<std::uint32_t> marked;
    if (t < window.crowns.size()) {
      const Window::Crown& crown = window.crowns[t];
      marked = crown.marked;
      std::sort(marked.begin(), marked.end());
      marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
      std::erase_if(marked, [&](std::uint32_t g) {
        return crown.first[g] == kNoTime.ns && crown.published[g] == Aggregate();
      });
    }
    into.put(static_cast<std::uint32_t>(marked.size()));
    for (const std::uint32_t g : marked) {
      into.put(g);
      into.put(window.crowns[t].first[g]);
      put(window.crowns[t].published[g], into);
    }
  }
}

bool Windows::restore(core::Reader& in) {
  if (!in.get_vector(heard_, setting_.forest.sensors())) return false;
  const auto open = in.get<std::uint32_t>();
  if (open > kMostHeld) return in.fail();
  for (std::uint32_t i = 0; i < open && in.ok(); ++i) {
    const auto number = in.get<std::int64_t>();
    if (!windows_.empty() && number <= windows_.rbegin()->first) return in.fail();
    auto window = std::make_unique<Window>();
    window->open(number, length_, advance_);
    if (!restore_values(*window, in) || !restore_crowns(*window, in)) return false;
    windows_.emplace_hint(windows_.end(), number, std::move(window));
  }
  find_due();
  return in.ok();
}

bool Windows::restore_values(Window& window, core::Reader& in) {
  const auto touched = in.get<std::uint32_t>();
  if (touched > setting_.forest.sensors()) return in.fail();
  window.make_room(setting_.forest.sensors());
  window.round = 2;  // no sensor has marked what is above it in this round
  for (std::uint32_t i = 0; i < touched; ++i) {
    const auto sensor = in.get<std::uint32_t>();
    const auto time = in.get<std::int64_t>();
    const auto value = in.get<double>();
    if (!in.ok() || sensor >= setting_.forest.sensors() || !std::isfinite(value)) return in.fail();
    if (window.slots[sensor].mark != 0) return in.fail();
    window.slots[sensor] = {time, value, 1};
    window.touched.push_back(sensor);
  }
  window.pending = window.touched;
  return true;
}

bool Windows::restore_crowns(Window& window, core::Reader& in) {
  for (std::uint32_t t = 0; t < setting_.forest.trees(); ++t) {
    const auto marked = in.get<std::uint32_t>();
    std::int64_t last = -1;
    for (std::uint32_t i = 0; i < marked; ++i) {
      const auto g = in.get<std::uint32_t>();
      const auto first = in.get<std::int64_t>();
      const Aggregate published = get_aggregate(in);
      if (!in.ok() || g >= setting_.forest.tree(t)->groups() || g <= last) return in.fail();
      last = g;
      Window::Crown& crown = window.crown(setting_.forest, t);
      crown.first[g] = first;
      crown.published[g] = published;
      crown.marked.push_back(g);
    }
  }
  return in.ok();
}

}  // namespace weir::hierarchy
