// What an oracle of hierarchies is given, records and changes as structures, and what it says.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/oracle/fixed_sum.h"
#include "weir/config.h"

namespace weir::tests {

using OracleValue = std::variant<double, std::int64_t, std::uint64_t, std::string>;

struct OracleRecord {
  bool broken = false;  // no tuple: only a record
  std::string stream, dataset;
  Time time;
  std::vector<std::pair<std::string, OracleValue>> fields;

  // A measurement of the field; integers become doubles, and -0 is 0.
  std::optional<double> number(const std::string& field) const {
    for (const auto& [name, value] : fields) {
      if (name != field) continue;
      if (const auto* real = std::get_if<double>(&value)) return *real + 0.0;
      if (const auto* whole = std::get_if<std::int64_t>(&value)) return double(*whole);
      if (const auto* whole = std::get_if<std::uint64_t>(&value)) return double(*whole);
      return std::nullopt;
    }
    return std::nullopt;
  }
};

struct OracleChange {
  // One of three places: after so many records, before the first record that reaches a time, or
  // the end.
  std::optional<std::uint64_t> record;
  std::optional<Time> time;
  PlainRegistry registry;
  // Wrong in itself (a cycle, no JSON of a registry); if not empty it stands for the registry.
  std::string malformed;
};

struct OracleScenario {
  struct Standing {
    PlainRegistry registry;
    std::optional<GroupOptions> options;
  };
  std::vector<Standing> standing;  // at the start
  GroupOptions defaults;
  Period emit{60 * kNanosPerSecond, 0};  // of the run; one in records is everybody's
  std::int64_t max_jump = 0;
  std::vector<OracleRecord> records;
  std::vector<OracleChange> changes;
};

struct OracleResult {
  std::string identifier, hierarchy, field;
  Time time, window_start, window_end;
  GroupState state;
  bool final = false;
  std::uint64_t seq = 0;

  std::string text() const {
    return text_of(identifier, hierarchy, field, time, window_start, window_end, state.count,
                   state.sum, state.min, state.max, state.members, state.sensors, state.missing,
                   final, seq);
  }
  // Every bit of every number.
  static std::string text_of(std::string_view identifier, std::string_view hierarchy,
                             std::string_view field, Time time, Time start, Time end,
                             std::uint64_t count, double sum, std::optional<double> min,
                             std::optional<double> max, std::uint64_t members,
                             std::uint64_t sensors, std::uint64_t missing, bool final,
                             std::uint64_t seq) {
    const auto optional = [](std::optional<double> v) { return v ? fmt::format("{:a}", *v) : "-"; };
    const auto moment = [](Time t) { return t.known() ? fmt::format("{}", t.ns) : "-"; };
    const std::optional<double> average =
        count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
    return fmt::format(
        "{} of {} {} at {} ({}) [{},{}) count {} sum {:a} average {} min {} max {} members {} "
        "sensors {} missing {}{}",
        identifier, hierarchy, field, seq, moment(time), moment(start), moment(end), count, sum,
        optional(average), optional(min), optional(max), members, sensors, missing,
        final ? " final" : "");
  }
};

struct OracleCounts {
  std::uint64_t applied = 0, late = 0, unrouted = 0, without_time = 0, results = 0;
  std::uint64_t groups = 0, sensors = 0, silent = 0;
  std::string text() const {
    return fmt::format(
        "applied {} late {} unrouted {} without time {} results {} groups {} sensors {} silent {}",
        applied, late, unrouted, without_time, results, groups, sensors, silent);
  }
};

// What became of a change; `seq` is where.
struct OracleAnswer {
  bool taken = false;
  std::uint64_t seq = 0;
  friend bool operator==(const OracleAnswer&, const OracleAnswer&) = default;
};

struct OracleOutcome {
  std::vector<OracleResult> results;
  std::map<std::string, OracleCounts> hierarchies;
  OracleCounts all;                                  // applied, late, unrouted, results
  std::uint64_t tuples = 0, broken = 0, future = 0;  // records
  std::vector<OracleAnswer> answers;                 // of the changes, as they were given
};

}  // namespace weir::tests
