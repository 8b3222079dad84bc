// CutCursor: folds the blocks of the sequence, in order, into cuts: the record positions at which
// requests take effect and continuous queries are answered.
//
// Every shard worker has one and derives the same cuts by itself, with no word between workers.
//
// Invariants
//  1. A cut lies just before a record that is there, or at the start or end of the input: where
//     blocks end has no influence.
//  2. Cuts come in the order of their positions. At one position the emission comes first, then the
//     requests in the order they were given.
//  3. Stream time is the largest event time of the tuples before the cut.
// Thread safety: shard-local.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "core/block.h"
#include "core/bytes.h"
#include "engine/entry.h"
#include "weir/config.h"
#include "weir/status.h"
#include "weir/types.h"

namespace weir::engine {

// Live requests that are one cut, and one unit of the journal.
struct LiveUnit {
  RecordPosition position{};
  std::uint32_t columns = 0;  // Cut::columns
  std::vector<Scheduled> requests;
};

struct Cut {
  std::uint64_t ordinal = 0;  // 0, 1, 2, … the same on every worker
  RecordPosition seq{};
  Time as_of;
  std::uint32_t index = 0;  // records of the current block before it
  // Right behind the record before it: requests that came while data flowed, those that came at
  // once, also those with a position.
  const std::vector<Scheduled>* live = nullptr;
  bool repeated = false;  // live in a run that this one goes on with
  bool emission = false;
  // With `emission`: the emission boundary that was reached (as_of where the period is a number of
  // records), and the one before it.
  std::int64_t emission_time = kNoTime.ns;
  std::int64_t emission_before = kNoTime.ns;
  bool end = false;  // at the end of input: positions never reached are answered with errors
  // Fields that the records behind it have columns of, the first so many that Names gave numbers.
  std::uint32_t columns = std::numeric_limits<std::uint32_t>::max();
  const core::Routes* routes = nullptr;  // of the worker that crosses
  std::vector<Scheduled> requests;
  std::vector<Scheduled> unreached;  // with `end`, or given live after their position had passed
};

class CutCursor {
 public:
  explicit CutCursor(Period emit);

  // Before the first block: everything that takes effect at the start, builds and loads first.
  Cut start(const std::vector<Scheduled>& requests);
  // Live requests that came with a block: one cut before its first record, or where the last of the
  // repeated cuts will be, behind it: what is known already comes before what is new.
  void add_live(const std::vector<Scheduled>& requests);
  // Their cut at the current block's first record; false when there is none. It points to what is
  // kept until the next one.
  bool live(Cut& cut);
  // Live cuts of an earlier run, which are taken again. REQUIRES: in order, none before position().
  void repeat(std::vector<std::shared_ptr<const LiveUnit>> units);
  // The next one of those at the current block's first record; false when there is none any more.
  bool repeated(Cut& cut);
  // The next cut inside the current block, in order; false when there is none any more.
  bool next(const core::Columns& columns, Cut& cut);
  // Goes past the current block.
  void finish(const core::Columns& columns);
  // At the end of input: what waits for the end, and what waited in vain.
  Cut end();

  // Everything, with the requests that wait. REQUIRES: none of the current block's cuts has been
  // taken yet.
  void save(core::Writer& out) const;
  // What was saved of a cursor with the same period (kInvalid: damaged). REQUIRES: it is new.
  Status restore(core::Reader& in, Kinds& kinds);

  // The requests that wait for their positions.
  std::vector<std::shared_ptr<const Request>> waiting() const;
  // One more than the order of any request that waits.
  std::uint64_t next_order() const;
  // Number of the next cut.
  std::uint64_t next_ordinal() const { return ordinal_; }
  RecordPosition position() const { return RecordPosition{base_}; }
  // Stream time before the current block. REQUIRES: none of its cuts has been taken yet.
  std::int64_t stream_time() const { return time_; }

 private:
  void add(const Scheduled& scheduled, Cut& now);
  Cut cut_at(std::uint32_t index);
  Cut live_cut(const std::vector<Scheduled>& requests, std::uint32_t index);
  // Goes to record `index` of the current block.
  void advance_to(const core::Columns& columns, std::uint32_t index);
  void emit(Cut& cut, std::int64_t time);
  // First tuple at or after `tuple_` whose time reaches `threshold`, else columns.tuples().
  std::uint32_t first_reaching(const core::Columns& columns, std::int64_t threshold) const;
  void advance_time(const core::Columns& columns, std::uint32_t to_tuple);

  Period emit_;
  std::uint64_t ordinal_ = 0;
  std::uint64_t base_ = 0;              // records before the current block
  std::int64_t time_ = kNoTime.ns;      // stream time before tuple_
  std::uint32_t tuple_ = 0;             // tuples of the current block that time_ includes
  std::int64_t boundary_ = kNoTime.ns;  // next k·E of stream time; unknown before the first time
  std::uint64_t record_boundary_ = 0;   // next k·N of records
  std::int64_t last_emission_ = kNoTime.ns;
  std::multimap<std::uint64_t, Scheduled> at_record_;
  std::multimap<std::int64_t, Scheduled> at_time_;
  std::vector<Scheduled> at_end_;
  std::uint32_t index_ = 0;  // records of the current block before the last cut
  std::deque<std::shared_ptr<const LiveUnit>> repeats_;  // ascending
  std::shared_ptr<const LiveUnit> repeating_;            // of the last repeated cut
  std::vector<Scheduled> held_;                          // live ones whose cut is still to come
  std::vector<Scheduled> living_;                        // of the last live cut
};

}  // namespace weir::engine
