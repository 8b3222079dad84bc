#include "hierarchy/window.h"

#include <algorithm>
#include <new>

namespace weir::hierarchy {

void Window::open(std::int64_t number_, std::int64_t length, std::int64_t advance) {
  number = number_;
  const Wide exact = Wide{number_} * advance;
  first_time = to_instant(exact);
  last_time = to_instant(exact + length - 1);
  start = Time{first_time};
  end = Time{to_instant(exact + length)};
}

void Window::reset() {
  for (const std::uint32_t sensor : touched) slots[sensor] = {};
  touched.clear();
  pending.clear();
  unpublished = 0;
  for (Crown& of : crowns) {
    if (of.panel != nullptr) of.panel->reset();
    for (const std::uint32_t g : of.marked) {
      of.first[g] = kNoTime.ns;
      of.published[g] = {};
    }
    of.marked.clear();
  }
}

void Window::make_room(std::uint32_t sensors) {
  if (sensors <= room) return;
  const std::uint32_t wanted = std::max(sensors, room + room / 2);
  auto* grown = static_cast<Slot*>(std::calloc(wanted, sizeof(Slot)));
  if (grown == nullptr) throw std::bad_alloc();
  for (const std::uint32_t sensor : touched) grown[sensor] = slots[sensor];
  std::free(slots);
  slots = grown;
  room = wanted;
}

void Window::forget_crown(std::uint32_t tree) {
  if (tree < crowns.size()) crowns[tree] = {};
}

Window::Crown& Window::crown(const Forest& forest, std::uint32_t tree) {
  if (tree >= crowns.size()) crowns.resize(forest.trees());
  Crown& of = crowns[tree];
  if (of.first.size() != forest.tree(tree)->groups()) {
    of.first.assign(forest.tree(tree)->groups(), kNoTime.ns);
    of.published.assign(forest.tree(tree)->groups(), {});
  }
  return of;
}

Panel& Window::panel(const Forest& forest, std::uint32_t tree) {
  Crown& of = crown(forest, tree);
  if (of.panel == nullptr) of.panel = std::make_unique<Panel>(forest.tree(tree));
  return *of.panel;
}

void Window::flush(const Forest& forest) {
  constexpr std::size_t kAhead = 12;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (i + kAhead < pending.size()) __builtin_prefetch(&slots[pending[i + kAhead]]);
    const std::uint32_t sensor = pending[i];
    for (const Forest::Place place : forest.places(sensor)) {
      panel(forest, place.tree).set(place.leaf, slots[sensor].value);
    }
  }
  pending.clear();
  ++round;
}

}  // namespace weir::hierarchy
