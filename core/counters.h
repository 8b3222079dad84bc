// Counters: named figures that one thread each writes and anybody reads, each on a cache line of
// its own so that counting slows nobody else down.
//
// Invariants
//  1. A counter has one writer at a time; its increments are a load and a store, no
//  read-modify-write.
//  2. A counter lives as long as its Counters.
// Thread safety: thread-safe (add, read); single-writer (a Counter).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ring.h"

namespace weir::core {

class alignas(kCacheLine) Counter {
 public:
  // Relaxed: the count says nothing about other memory. A reader sees each value once written, and
  // values that only grow.
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Counters {
 public:
  struct Sample {
    std::string label;
    std::uint64_t value = 0;
    friend bool operator==(const Sample&, const Sample&) = default;
  };

  // A new counter. Several may have one label, say one for each worker.
  Counter& add(std::string label) {
    const std::lock_guard lock(mutex_);
    return entries_.emplace_back(std::move(label)).counter;
  }
  // All counters in the order they were added. Each value is whole; together they are no snapshot.
  std::vector<Sample> read() const {
    const std::lock_guard lock(mutex_);
    std::vector<Sample> samples;
    samples.reserve(entries_.size());
    for (const Entry& entry : entries_) samples.push_back({entry.label, entry.counter.get()});
    return samples;
  }
  // Sum of the counters with this label.
  std::uint64_t total(std::string_view label) const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const Entry& entry : entries_) {
      if (entry.label == label) sum += entry.counter.get();
    }
    return sum;
  }

 private:
  struct Entry {
    explicit Entry(std::string name) : label(std::move(name)) {}
    std::string label;
    Counter counter;
  };
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // never moves what it holds
};

}  // namespace weir::core
