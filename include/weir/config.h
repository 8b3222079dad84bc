// Config: how an engine is set up. Every value has a default that suits a laptop and a server.
//
// Thread safety: immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/faults.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir {

// How often continuous queries are answered: a duration of stream time, or a number of records.
struct Period {
  std::int64_t ns = 0;        // > 0: stream time
  std::uint64_t records = 0;  // > 0: records
  friend bool operator==(const Period&, const Period&) = default;
  // "60s", "500ms", "5m", "1h", "100000 records".
  static Result<Period> parse(std::string_view text);
};
// "500ms" → nanoseconds. Units ns us ms s m h d; a bare number is an error that says so.
Result<std::int64_t> parse_duration(std::string_view text);

// How the groups of a hierarchy are aggregated (docs/hierarchies.md).
struct GroupOptions {
  enum class Mode {
    kChangelog,  // every measurement publishes the groups above it
    kTumbling,   // windows of `emit`, each with the newest measurement of every sensor in it
    kSliding,    // windows of `window`, one every `advance`
    kLatest,     // the last value of every sensor, published every `emit`
  };
  enum class Late { kReject, kArrival };  // without windows: older than the sensor's newest
  Mode mode = Mode::kLatest;
  Period emit{};              // 0 = Config::emit; records only with kLatest
  std::int64_t grace = 0;     // windows: ns that a record may come after its window's end
  std::int64_t window = 0;    // kSliding: ns
  std::int64_t advance = 0;   // kSliding: ns
  Late late = Late::kReject;  // kChangelog, kLatest
  // ns after which a value is none; 0 = never. kLatest; of kChangelog only what a change brings in.
  std::int64_t max_age = 0;
  std::string dataset;  // of the sensors; empty = any
  // Numeric fields, each with results of its own. Empty = the layout's only one, or valueInW.
  std::vector<std::string> fields;
  friend bool operator==(const GroupOptions&, const GroupOptions&) = default;
};

struct HierarchyConfig {
  std::string registry;                 // its text: Titan's JSON, or CSV of child,parent
  std::string name = "registry";        // of the file, for messages
  std::optional<GroupOptions> options;  // absent = Config::groups
};

struct Config {
  // Threads in all; each parses and applies. 0 = one per core that this process may use.
  unsigned threads = 0;
  // Both > 0: so many threads only parse and so many only apply, instead of `threads`.
  unsigned ingest_threads = 0;
  unsigned shard_threads = 0;
  // "auto" (compact, one thread a core, NUMA node after NUMA node), "spread", or "none" (no
  // pinning).
  std::string placement = "auto";
  std::size_t block_size = 512 << 10;      // bytes, 4 KiB to 8 MiB
  std::size_t ring_entries = 0;            // blocks in flight, a power of two; 0 = by the threads
  std::size_t max_record_bytes = 1 << 20;  // longer records are rejected
  std::string layout = "auto";             // auto | saams | titan | ticks
  std::string mapping_toml;                // the text of a mapping; replaces `layout`
  std::string mapping_name = "mapping";    // its file name, for messages
  Period emit{60 * kNanosPerSecond, 0};
  // Where synopses are saved to and loaded from, and where snapshots and the journal are; empty =
  // nowhere, and such requests are refused.
  std::string state_directory;
  // Snapshots of everything, every so many records or ns of elapsed (not stream) time; 0 = none.
  // Needs state_directory. Inputs that cannot be read again need `journal` besides.
  Period snapshot_every{};
  // Keeps what is read of sources that cannot be read again (pipes, pushes) until a snapshot holds
  // what came of it.
  bool journal = false;
  // Goes on from the newest good snapshot in state_directory, or from nothing if there is none.
  bool resume = false;
  // Faults that the run brings upon itself (docs/cli.md); null = none. For tests.
  std::shared_ptr<const FaultPlan> faults;
  // Where plug-ins are loaded from (docs/plugins.md); empty = nowhere.
  std::string plugin_directory;
  std::vector<HierarchyConfig> hierarchies;
  GroupOptions groups;  // of hierarchies that say nothing else, also of those that come later
  // ns that a record may be ahead of stream time; one further ahead is rejected as "future", unless
  // 63 such have come in a row just before it. 0 = no limit.
  std::int64_t max_jump = 0;
  bool digest = false;                      // compute Summary::digest at the end
  std::size_t max_reject_samples = 10'000;  // further rejects are counted, not reported
};

}  // namespace weir
