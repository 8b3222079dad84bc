// Gate: what stream time is moved by. One record dated far in the future would close every window,
// so a tuple further ahead of stream time than `max_jump` is rejected as kFuture, unless it is the
// 64th of a row: then the source has slept, and it is taken for the time it says.
//
// Shard workers see an entry only through the gate. Whoever comes first takes the future tuples out
// of its columns and batches; for the others it is as if the decoder had rejected them.
//
// Invariants
//  1. What is let through is a function of the records alone: entries are judged in the order of
//     the sequence, and tuples in record order, wherever blocks end.
//  2. Stream time is the largest event time that was let through; the first one always is.
//  3. A row is future tuples with no dated tuple between them that is let through. Rejected records
//     and tuples without a time neither make nor end one.
//  4. No entry is edited once any worker has come past the gate with it.
// Thread safety: thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/batch.h"
#include "core/bytes.h"
#include "core/keys.h"
#include "engine/entry.h"
#include "weir/answer.h"
#include "weir/status.h"

namespace weir::engine {

class Gate {
 public:
  // So many future tuples in a row are real time.
  static constexpr std::uint32_t kRow = 64;

  // `max_jump` in ns; 0 = everything is let through.
  Gate(std::int64_t max_jump, const core::KeyTable& keys) : max_jump_(max_jump), keys_(keys) {}

  // To be called by every worker with every entry, in the order of the sequence, before it reads
  // it. REQUIRES: the entry has been published; no worker has consumed it.
  // Cost: a compare where no tuple is a future one; a walk over the entry for its first worker
  // where one may be.
  void pass(Entry& entry, Seq seq) {
    // Acquire pairs with the release in pass_first(): who sees that the entry has been passed sees
    // it as it was left. It was edited by a worker that saw it published and before any worker read
    // it, since all come here first. The claimant of the entry's place in the next round sees the
    // edit, too: it waits for the consume() of the worker that made it.
    if (max_jump_ == 0 || passed_.load(std::memory_order_acquire) > raw(seq)) return;
    pass_first(entry, seq);
  }

  // What the records so far have brought about. REQUIRES: no entry is being passed.
  void save(core::Writer& out) const;
  // kInvalid: damaged. REQUIRES: nothing has passed yet; the number of the first entry is 0.
  Status restore(core::Reader& in);

 private:
  struct Future {
    std::uint32_t record = 0;
    std::uint64_t ahead = 0;  // ns
  };
  void pass_first(Entry& entry, Seq seq);
  // How far `time` is ahead of stream time, if that is too far; else 0.
  std::uint64_t too_far(std::int64_t time) const;
  void judge(const core::Columns& columns);
  void take_out(Entry& entry);

  const std::int64_t max_jump_;
  const core::KeyTable& keys_;
  std::atomic<std::uint64_t> passed_{0};  // entries; written under the mutex

  mutable std::mutex mutex_;
  std::int64_t stream_time_ = kNoTime.ns;
  std::uint32_t row_ = 0;  // future tuples since the last dated one that was let through
  // Scratch of the entry in hand.
  std::vector<Future> future_;
  core::Array<std::uint32_t> kept_;  // tuples
  core::Scatter scatter_;
};

// Leaps longer than this are worth a word.
inline constexpr std::int64_t kLongLeap = 86'400 * kNanosPerSecond;

// Makes `leap` the longest leap of stream time from one record to the next, of those above
// kLongLeap, if it is among `columns`. `before` is stream time before them, and `base` the number
// of records. Cost: a compare, where stream time gains less over all of them.
void note_leap(const core::Columns& columns, std::int64_t before, std::uint64_t base,
               Summary::Leap& leap);

}  // namespace weir::engine
