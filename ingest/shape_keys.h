// ShapeKeys: a small cache before the KeyTable, for keys of up to 16 bytes, in which a look-up is a
// multiplication and a compare of two words.
//
// Invariants
//  1. An entry is a pure function of its key: whatever was looked up before, the answer is the
//     KeyTable's.
//  2. Keys that collide cost time, never an answer.
// Thread safety: single-writer. The KeyTable is shared.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/keys.h"

namespace weir::ingest {

// The first `length` of 16 bytes, as two words.
struct ShortKeyMasks {
  std::uint64_t low[17], high[17];
  constexpr ShortKeyMasks() : low(), high() {
    for (std::size_t n = 0; n <= 16; ++n) {
      low[n] = n >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * n)) - 1;
      high[n] = n <= 8 ? 0 : n == 16 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * (n - 8))) - 1;
    }
  }
};
inline constexpr ShortKeyMasks kShortKeyMasks{};

class ShapeKeys {
 public:
  explicit ShapeKeys(core::KeyTable& table)
      : table_(table), buckets_(std::make_unique<Bucket[]>(std::size_t{1} << kBucketBits)) {}

  // REQUIRES: no NUL among the bytes, 16 readable bytes from `text`, length > 0.
  StreamId stream(DatasetId dataset, const char* text, std::size_t length) {
    if (length > kShort) return table_.find_or_add(dataset, {text, length});
    std::uint64_t low, high;
    load(text, length, low, high);
    Bucket& bucket = buckets_[hash(low, high ^ raw(dataset)) >> (64 - kBucketBits)];
    for (const Entry& entry : bucket.entries) {
      if (entry.low == low && entry.high == high && entry.dataset == raw(dataset)) {
        return StreamId{entry.id};
      }
    }
    return add(bucket, dataset, low, high, {text, length});
  }
  // REQUIRES: as stream().
  DatasetId dataset(const char* text, std::size_t length) {
    if (length > kShort) return table_.dataset({text, length});
    std::uint64_t low, high;
    load(text, length, low, high);
    Entry& entry = datasets_[hash(low, high) >> (64 - kDatasetBits)];
    if (entry.low != low || entry.high != high) {
      entry = {low, high, 0, raw(table_.dataset({text, length}))};
    }
    return DatasetId{entry.id};
  }
  core::KeyTable& table() { return table_; }

 private:
  static constexpr std::size_t kShort = 16;
  static constexpr unsigned kBucketBits = 11;  // buckets of one cache line: 128 KiB
  static constexpr unsigned kDatasetBits = 6;

  struct Entry {
    std::uint64_t low = 0, high = 0;  // all zero: empty, since keys hold no NUL
    std::uint32_t dataset = 0;
    std::uint32_t id = 0;
  };
  struct alignas(64) Bucket {
    Entry entries[2];
  };

  // The bytes of the key, then zeros.
  static void load(const char* text, std::size_t length, std::uint64_t& low, std::uint64_t& high) {
    std::memcpy(&low, text, 8);
    std::memcpy(&high, text + 8, 8);
    low &= kShortKeyMasks.low[length];
    high &= kShortKeyMasks.high[length];
  }
  // The upper bits are good.
  static std::uint64_t hash(std::uint64_t low, std::uint64_t high) {
    return (low ^ std::rotl(high, 23)) * 0x9E3779B97F4A7C15u;
  }
  [[gnu::noinline]] StreamId add(Bucket& bucket, DatasetId dataset, std::uint64_t low,
                                 std::uint64_t high, std::string_view name) {
    const StreamId id = table_.find_or_add(dataset, name);
    bucket.entries[1] = bucket.entries[0];
    bucket.entries[0] = {low, high, raw(dataset), raw(id)};
    return id;
  }

  core::KeyTable& table_;
  std::unique_ptr<Bucket[]> buckets_;
  Entry datasets_[std::size_t{1} << kDatasetBits];
};

}  // namespace weir::ingest
