// Groups: all hierarchies of a run: their sensors' values, their windows, and what is published
// when (docs/hierarchies.md, "The rules").
//
// The owner gives tuples in record order and calls change() and finish() at their cuts; results
// come back through the sink, cut by cut, before the call returns.
//
// Invariants
//  1. Results are a function of the tuples, the changes and their positions alone: how the tuples
//     are divided into calls has no influence.
//  2. Results of one cut come in one call of the sink, by window, level, hierarchy, identifier and
//     field.
//  3. A tuple's verdict is kTaken if any field of any hierarchy took a value of it, else kLate if
//     any refused one as late, else kNobody.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/block.h"
#include "core/bytes.h"
#include "core/keys.h"
#include "hierarchy/panel.h"
#include "hierarchy/registry.h"
#include "weir/config.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir::hierarchy {

// GroupOptions with nothing left open.
struct Spec {
  GroupOptions options;                // emit is set; fields are not empty, sorted and distinct
  std::vector<std::uint32_t> columns;  // of the fields, in every FieldSet
  friend bool operator==(const Spec&, const Spec&) = default;
};

// What is wrong with options, as one line that names the option as --help does ("emit", "window");
// REQUIRES nothing.
Status check(const GroupOptions& options);

// Windows that one measurement may be in, and that may be open at once.
inline constexpr std::int64_t kMaxWindows = 10'000;
// What the open windows of one registry may come to.
inline constexpr std::uint64_t kMaxWindowBytes = std::uint64_t{8} << 30;

// One result. Everything it points to lives as long as the call of the sink.
struct Row {
  const Tree* tree = nullptr;  // has the group's identifier, level, members and sensors
  std::uint32_t group = 0;
  std::string_view field;
  Aggregate aggregate;
  // The group is gone with the change that publishes it: it has no members and no sensors.
  bool gone = false;
  Time window_start{}, window_end{};  // unknown without windows
};

struct PublishCut {
  RecordPosition seq{};  // records before the cut
  Time time;             // stream time there
  bool final = false;    // the input has ended
};
using RowSink = std::function<void(const PublishCut&, std::span<const Row>)>;

enum Verdict : std::uint8_t { kNobody = 0, kLate = 1, kTaken = 2 };

class CutRows;

class Groups {
 public:
  // `stream_time` is that of the tuples before, of which the groups see nothing. The keys outlive
  // the groups.
  Groups(const core::KeyTable& keys, RowSink sink, Time stream_time = kNoTime);
  ~Groups();

  // Whether the tree of `registry` may come to more than Tree::kMaxReach, or its open windows to
  // more than kMaxWindowBytes, as a status for the answer. A function of the two alone.
  static Status check_size(const Registry& registry, const Spec& spec);

  // Puts a registry in at a cut. A known root keeps its spec, whatever `spec` says. What the change
  // does to results is published at `cut`; before the first record nothing is. REQUIRES: Registries
  // has accepted it, and check_size().
  void change(std::shared_ptr<const Registry> registry, const Spec& spec, const PublishCut& cut);

  // Tuples [from, to) of a block whose first record is record `base` of the run. Each verdict is
  // raised to what the hierarchies made of the tuple (one byte a tuple of the block).
  void apply(const core::Columns& columns, std::uint32_t from, std::uint32_t to, std::uint64_t base,
             std::uint8_t* verdicts);
  // A record will come next, after `seq` others and with this event time (kNoTime: none, or it was
  // rejected): publishes the boundaries of `latest` that it reaches, those of periods in records
  // included. Times apply() sees to by itself, boundaries in records it does not.
  void reach(std::int64_t time, RecordPosition seq);
  // The input has ended after `seq` records.
  void finish(RecordPosition seq);

  struct Counts {
    std::uint64_t applied = 0, late = 0, without_time = 0, results = 0;
    std::uint64_t groups = 0, sensors = 0, silent = 0;
    std::uint64_t met = 0;  // sensors that a tuple was of, whatever it held
  };
  // By root. Unrouted tuples are those that are left.
  std::map<std::string, Counts> counts() const;
  // Canonical: values and open windows, by spec, field, hierarchy and identifier.
  void serialize(std::string& into) const;
  // Everything that later results depend on, between two calls: sensors, trees and values, by
  // identifiers and not by ids of the keys.
  void save(core::Writer& into) const;
  // What save() wrote, maybe with other keys: later results are those that would have come. An
  // error (kInvalid) leaves groups that are of no use. REQUIRES: nothing has been put in.
  Status restore(core::Reader& in);
  // A function of the state.
  std::uint64_t memory_bytes() const;
  // Rows that have waited for those of other fields at once, at most: for tests.
  std::size_t most_rows_waiting() const;
  // Values whose age has been looked at so far: work, for tests.
  std::uint64_t ages_looked_at() const;

 private:
  struct Family;  // the hierarchies of one spec
  struct Place {
    Family* family = nullptr;
    std::uint32_t tree = 0;  // in the family's forest
  };
  Family& family(const Spec& spec);
  void bound_parts();
  PublishCut cut(RecordPosition seq) const { return {seq, Time{stream_time_}, false}; }

  const core::KeyTable& keys_;
  std::unique_ptr<CutRows> cuts_;
  std::vector<std::unique_ptr<Family>> families_;
  std::map<std::string, Place, std::less<>> hierarchies_;  // by root
  std::int64_t stream_time_ = kNoTime.ns;
  std::uint32_t part_;  // tuples that every aggregator takes before the next one does
};

}  // namespace weir::hierarchy
