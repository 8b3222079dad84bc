// Answer: what the engine says to one request at one cut; Reject: a record it could not take; and
// Summary: what a whole run came to.
//
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weir/types.h"

namespace weir {

struct Answer {
  enum class Kind { kAck, kError, kAdHoc, kContinuous };
  Kind kind = Kind::kAck;
  // Echoed as they were given, JSON text ("7", "\"q1\""); empty = absent.
  std::string request_id, uid, partition;
  std::string dataset, stream, field;
  int synopsis_id = 0;   // 0 = unknown
  std::string synopsis;  // type name
  std::string query;     // JSON text of the query value; empty = absent
  std::uint64_t n = 0;   // values in the synopsis
  std::string estimate;  // JSON text: number, boolean, array, or "null"
  std::optional<double> lower, upper, confidence;
  bool exact = false;
  std::uint64_t memory_bytes = 0;
  Time window_start, window_end;  // the window that is answered, of a synopsis that has windows
  std::string reason;             // why estimate is null, or what an error says
  Epoch epoch{};
  RecordPosition seq{};  // records before the cut
  Time as_of;            // stream time of the cut

  // One line, keys and order as documented in docs/requests.md, without a newline.
  std::string to_json() const;
};

// A record that was rejected, sampled. Counts are in Summary.
struct Reject {
  std::string source;
  std::uint64_t line = 0;         // 1-based
  std::uint64_t byte_offset = 0;  // in the decompressed source
  RecordPosition record{};
  std::string reason;  // "json", "missing", …
  std::string detail;
  std::string raw;              // its bytes, cut to 4096
  std::uint64_t length = 0;     // before the cut
  std::string to_json() const;  // raw as text if it is UTF-8, else "raw_base64"
};

struct Summary {
  std::uint64_t records = 0, tuples = 0, late = 0, unrouted = 0, applied = 0, bytes = 0;
  std::map<std::string, std::uint64_t> rejected;  // by reason
  std::uint64_t streams = 0, datasets = 0;        // with at least one tuple
  std::vector<std::string> some_streams;          // the first three of them by bytes, for messages
  double seconds = 0;
  unsigned threads = 0;
  std::string placement;  // one line
  std::uint64_t state_bytes = 0;
  std::string digest;  // 16 hex digits; empty unless asked for
  Epoch epoch{};
  std::vector<std::string> builds_without_tuples;  // "dataset/stream/field Type"
  std::string layout;
  // Values that single synopses could not take although their field was there, by
  // "dataset/stream/field Type": outside the conservation above, since others may have taken them.
  struct Refused {
    std::uint64_t late = 0;            // their window was final, or their interval over
    std::uint64_t without_time = 0;    // windows and grids of time need one
    std::uint64_t without_weight = 0;  // missing, no whole number, negative, or beyond 2^53
  };
  // Tuples as each hierarchy counts them: applied + late + unrouted = tuples.
  struct Hierarchy {
    std::uint64_t applied = 0;
    std::uint64_t late = 0;
    std::uint64_t unrouted = 0;      // of no sensor of it, or without a number (or time) it can use
    std::uint64_t without_time = 0;  // of those: a window needs a time
    std::uint64_t results = 0;       // published
    std::uint64_t groups = 0, sensors = 0, silent = 0;  // silent: sensors that never had a value
    std::uint64_t met = 0;  // sensors that a tuple was of, whatever it held; for messages
  };
  std::map<std::string, Hierarchy> hierarchies;  // by the root's identifier
  std::uint64_t results = 0;                     // of all hierarchies
  // The longest leap of stream time from one record to the next, and where it was.
  struct Leap {
    std::int64_t ns = 0;
    RecordPosition record{};
  };
  Leap leap;                               // only leaps of more than a day are looked for
  std::map<std::string, Refused> refused;  // only those that refused any
  std::vector<std::string> faults;         // synopses of plug-ins that are quarantined, and why
  // Where it was resumed; absent: it began at the start.
  std::optional<RecordPosition> resumed_from;
  std::uint64_t snapshots = 0, snapshots_failed = 0;
  // Changes of the number of workers that took place, and how long new owners waited for old ones.
  struct Rescales {
    std::uint64_t count = 0;
    std::int64_t median_wait_ns = 0, p99_wait_ns = 0, longest_wait_ns = 0;
  };
  Rescales rescales;
  std::string source_error;        // the first error of a source; what came before it was applied
  std::uint64_t answers_lost = 0;  // that gave way because nobody polled

  std::uint64_t rejected_total() const;
  // Of those that this run read itself.
  double records_per_second() const {
    const std::uint64_t own = records - (resumed_from.has_value() ? raw(*resumed_from) : 0);
    return seconds > 0 ? static_cast<double>(own) / seconds : 0;
  }
  // records = tuples + rejected and tuples = applied + late + unrouted.
  bool conserved() const;
  std::string to_json() const;
};

}  // namespace weir
