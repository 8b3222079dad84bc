// Window extremes: the exact smallest and largest of the last N values, beside the blocks of
// WindowSketchQuantiles, whose oldest block is partly expired.
//
// A value can be the smallest of a later window only if none after it is as small: these records,
// ascending from the oldest to the newest, are all that is kept; likewise for the largest.
//
// Invariants
//  1. After a leaf that ends at value number `end` (exclusive), records hold the numbers in
//     [end - N, end) that count; the newest value is always one. Numbers and keys ascend in the
//     records of the smallest; of the largest, keys descend.
//  2. Memory: expected ln N + 0.6 records of either kind for values in random order; for a stream
//     that only rises or only falls N of one kind and 1 of the other. Both together are N + 1 at
//     most, since only the newest value can be in both: no exact answer can do with less, as each
//     value of a rising stream is the smallest of some window to come.
// Thread safety: shard-local.
//
// Cost: two passes over a leaf from its end, without branches on keys in the first; what a leaf
// displaces was once put in, so O(1) a value.
// Source: the monotonic queue; D. Lemire, "Streaming maximum-minimum filter using no more than
// three comparisons per element", Nordic Journal of Computing 13, 2006.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "core/bytes.h"
#include "synopses/ordered_keys.h"

namespace weir::synopses {

// Before is std::less for the smallest and std::greater for the largest.
template <class Key, class Before>
class WindowRecords {
 public:
  WindowRecords() = default;
  template <class Narrow, class NarrowBefore>
  explicit WindowRecords(const WindowRecords<Narrow, NarrowBefore>& narrow) {
    for (const auto& record : narrow.records_) {
      records_.push_back({widened(record.key), record.number});
    }
  }

  // The values of numbers `begin` on. Forgets what is older than `oldest`. REQUIRES: leaf is not
  // empty.
  void take(std::span<const Key> leaf, std::uint64_t begin, std::uint64_t oldest) {
    const Before before;
    Key best = leaf.back();
    std::size_t fresh = 1;
    for (std::size_t i = leaf.size() - 1; i-- != 0;) {
      const bool record = before(leaf[i], best);
      fresh += record;
      best = record ? leaf[i] : best;
    }
    while (!records_.empty() && !before(records_.back().key, best)) records_.pop_back();
    while (!records_.empty() && records_.front().number < oldest) records_.pop_front();
    std::size_t at = records_.size() + fresh;
    records_.resize(at);
    best = leaf.back();
    records_[--at] = {best, begin + leaf.size() - 1};
    for (std::size_t i = leaf.size() - 1; i-- != 0;) {
      if (!before(leaf[i], best)) continue;
      best = leaf[i];
      records_[--at] = {best, begin + i};
    }
  }

  // The first in order of the values from number `begin` on. REQUIRES: there is one.
  Key first(std::uint64_t begin) const { return from(begin)->key; }

  std::size_t size() const { return records_.size(); }
  std::size_t memory_bytes() const { return records_.size() * sizeof(Record); }

  // u64 count, then the numbers and then the keys, from the oldest.
  void serialize(core::Writer& out) const {
    out.put(static_cast<std::uint64_t>(records_.size()));
    for (const Record& record : records_) out.put(record.number);
    for (const Record& record : records_) put_keys(out, &record.key, 1);
  }
  // What is wrong, or null; for the state after the values [oldest, end).
  const char* deserialize(core::Reader& in, std::uint64_t oldest, std::uint64_t end) {
    const auto count = in.get<std::uint64_t>();
    if (!in.ok() || count > in.rest().size() / (sizeof(Key) + sizeof(std::uint64_t))) {
      return "it is too short for its extremes";
    }
    if ((count == 0) != (end == 0)) return "no extremes, or extremes of nothing";
    records_.resize(static_cast<std::size_t>(count));
    for (Record& record : records_) record.number = in.get<std::uint64_t>();
    core::Array<Key> keys;
    if (!get_keys(in, keys, count)) return "an extreme that no number has";
    const Before before;
    std::uint64_t least = oldest;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      records_[i].key = keys[i];
      if (records_[i].number < least || records_[i].number >= end ||
          (i != 0 && !before(keys[i - 1], keys[i]))) {
        return "extremes out of order";
      }
      least = records_[i].number + 1;
    }
    if (count != 0 && records_.back().number != end - 1) return "the newest is no extreme";
    return nullptr;
  }
  // Whether a block of the numbers [begin, end), all of them taken and none forgotten, may have
  // `key` first in order.
  bool agrees(const Key& key, std::uint64_t begin, std::uint64_t end) const {
    const auto record = from(begin);
    return record->number < end ? record->key == key : !Before()(key, record->key);
  }

 private:
  template <class, class>
  friend class WindowRecords;
  struct Record {
    Key key;
    std::uint64_t number;
  };

  auto from(std::uint64_t begin) const {
    return std::partition_point(records_.begin(), records_.end(),
                                [&](const Record& record) { return record.number < begin; });
  }

  std::deque<Record> records_;
};

template <class Key>
struct WindowExtremes {
  WindowExtremes() = default;
  template <class Narrow>
  explicit WindowExtremes(const WindowExtremes<Narrow>& narrow)
      : smallest(narrow.smallest), largest(narrow.largest) {}

  WindowRecords<Key, std::less<Key>> smallest;
  WindowRecords<Key, std::greater<Key>> largest;
};

}  // namespace weir::synopses
