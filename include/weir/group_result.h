// GroupResult: what a group of sensors came to at one cut (docs/hierarchies.md).
//
// Thread safety: immutable values; its texts live as long as the call that gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/types.h"

namespace weir {

struct GroupResult {
  std::string_view identifier;  // of the group
  std::string_view hierarchy;   // identifier of the root above it
  std::string_view field;
  Time time;                      // stream time at the cut
  Time window_start, window_end;  // unknown in modes without windows
  std::uint64_t count = 0;        // direct members with a value
  double sum = 0;  // over the distinct sensors below that have one; exactly 0 of none
  std::optional<double> min, max;
  std::uint64_t members = 0;  // direct ones
  std::uint64_t sensors = 0;  // distinct ones below
  std::uint64_t missing = 0;  // of them without a value
  bool final = false;         // published because the input ended
  Epoch epoch{};
  RecordPosition seq{};  // records before the cut

  // sum / count; none where nobody has a value.
  std::optional<double> average() const {
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }
  bool complete() const { return missing == 0; }

  // Titan's words for sum, average, min and max end in "InW".
  enum class Words { kWeir, kTitan };
  // Appends one line of JSON without a newline; what is undefined or no finite number is null.
  void append_json(std::string& into, Words words = Words::kWeir) const;
};

}  // namespace weir
