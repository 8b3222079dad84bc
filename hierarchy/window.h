// Window: the values of sensors in one window of event time, what the groups come to there, and
// which of them have an update that is not published.
//
// Panels get values only when somebody is to be told of them: a sensor waits in a list until then.
// The same list says who has marked the groups above it, so that a usual measurement is a compare
// and a store.
//
// Invariants
//  1. While a sensor's slot has the mark of this round, it waits in pending, and every group above
//     it has a first unpublished update.
//  2. Opening and closing a window cost what happened in it, not what could have: slots that were
//     never touched are pages that the system never gave, and only touched ones are reset.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "hierarchy/forest.h"
#include "hierarchy/instants.h"
#include "hierarchy/panel.h"
#include "weir/types.h"

namespace weir::hierarchy {

struct Window {
  struct Slot {
    std::int64_t time;
    double value;
    std::uint64_t mark;  // 0: no value; round: it waits in pending
  };
  // Of one tree.
  struct Crown {
    std::unique_ptr<Panel> panel;       // made when first asked
    std::vector<std::int64_t> first;    // event time of the first unpublished update, or none
    std::vector<Aggregate> published;   // what was published last
    std::vector<std::uint32_t> marked;  // groups whose two may be other than when made
  };

  Window() = default;
  ~Window() { std::free(slots); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Makes it the window of this number: [number·advance, number·advance + length).
  void open(std::int64_t number_, std::int64_t length, std::int64_t advance);
  // As when it was made. Costs what was touched.
  void reset();
  // Room for so many sensors, of which untouched ones cost nothing.
  void make_room(std::uint32_t sensors);
  // Gives a tree that has changed no crown, or that of a window without values.
  void forget_crown(std::uint32_t tree);
  Crown& crown(const Forest& forest, std::uint32_t tree);
  Panel& panel(const Forest& forest, std::uint32_t tree);
  // Brings panels up to the values, and begins a round.
  void flush(const Forest& forest);

  bool has(std::uint32_t sensor) const { return sensor < room && slots[sensor].mark != 0; }
  bool holds(std::int64_t time) const { return first_time <= time && time <= last_time; }

  std::int64_t number = 0;
  std::int64_t first_time = 0;  // of its times, cut to what can be
  std::int64_t last_time = 0;
  Time start, end;  // for results
  Slot* slots = nullptr;
  std::uint32_t room = 0;              // of slots
  std::uint64_t round = 1;             // of pending
  std::uint64_t unpublished = 0;       // groups with an unpublished update
  std::vector<std::uint32_t> touched;  // sensors with a value
  std::vector<std::uint32_t> pending;  // sensors whose value the panels do not have
  std::vector<Crown> crowns;           // by tree; those that have been asked for
};

}  // namespace weir::hierarchy
