// What engine/gate.h says, record by record: which tuples are too far ahead of stream time, and the
// longest leap of what is let through.
//
// Thread safety: thread-compatible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/model_synopses.h"
#include "weir/answer.h"

namespace weir::tests {

struct ModelGate {
  std::vector<ModelRecord> records;  // future ones are rejected
  Summary::Leap leap;

  ModelGate(std::vector<ModelRecord> given, std::int64_t max_jump) : records(std::move(given)) {
    std::uint64_t seq = 0;
    unsigned row = 0;
    Time now;
    for (ModelRecord& record : records) {
      if (record.blank()) continue;
      ++seq;
      if (!record.tuple.has_value() || !record.tuple->time.known()) continue;
      const Time time = record.tuple->time;
      const std::int64_t ahead = now.known() ? time.ns - now.ns : 0;
      if (max_jump > 0 && ahead > max_jump && row < 63) {
        ++row;
        record.tuple.reset();
        record.reason = "future";
        continue;
      }
      row = 0;
      if (ahead > std::max(leap.ns, 86'400 * kNanosPerSecond))
        leap = {ahead, RecordPosition{seq - 1}};
      now = std::max(now, time);
    }
  }
};

}  // namespace weir::tests
