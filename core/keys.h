// KeyTable: every (dataset, stream) pair met so far, interned to a dense StreamId.
//
// Invariants
//  1. An id never changes its meaning; names live as long as the table.
//  2. find_or_add takes no lock and allocates nothing when the pair is known.
//  3. hash and slot depend on the names alone, never on the order of arrival.
// Thread safety: thread-safe. Readers never wait for the writer of a new key.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/key_index.h"
#include "weir/types.h"

namespace weir::core {

// Fixed shares of the key space; see ARCHITECTURE "Ownership".
inline constexpr std::uint32_t kSlots = 256;
// The dataset of results of groups. They come from one worker, so all its streams share a slot.
inline constexpr std::string_view kGroupsDataset = "groups";
inline constexpr std::uint32_t kGroupsSlot = 255;

// What find() says of a stream that is not there.
inline constexpr StreamId kNoStream{KeyIndex::kNone};

struct Key {
  std::string_view dataset;  // the table's own copy
  std::string_view stream;
  DatasetId dataset_id{};
  std::uint64_t hash = 0;  // XXH3 of both names, lengths included
  std::uint32_t slot = 0;  // hash mod kSlots, or kGroupsSlot
};

// Values numbered from 0 that never move, in chunks that double: at() takes no lock.
// Thread safety: single-writer (append), readers of every number they were given.
template <class T>
class StableArray {
 public:
  StableArray() = default;
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;
  ~StableArray() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }
  // REQUIRES: i < size(). Whoever was given `i` was given it after the value was written.
  const T& at(std::uint32_t i) const {
    const Place place = place_of(i);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.offset];
  }
  std::uint32_t append(T value) {
    const std::uint32_t i = size_.load(std::memory_order_relaxed);
    const Place place = place_of(i);
    T* chunk = chunks_[place.chunk].load(std::memory_order_relaxed);
    if (chunk == nullptr) {
      chunk = new T[std::size_t{kFirst} << place.chunk];
      chunks_[place.chunk].store(chunk, std::memory_order_release);
    }
    chunk[place.offset] = value;
    size_.store(i + 1, std::memory_order_release);
    return i;
  }

 private:
  static constexpr std::uint32_t kFirst = 64;  // values in chunk 0; chunk k holds kFirst << k
  struct Place {
    unsigned chunk;
    std::size_t offset;
  };
  static Place place_of(std::uint32_t i) {
    const std::uint64_t biased = std::uint64_t{i} + kFirst;
    const unsigned width = static_cast<unsigned>(std::bit_width(biased)) - 1;
    return {width - static_cast<unsigned>(std::bit_width(kFirst) - 1),
            static_cast<std::size_t>(biased - (std::uint64_t{1} << width))};
  }
  std::array<std::atomic<T*>, 28> chunks_{};
  std::atomic<std::uint32_t> size_{0};
};

class KeyTable {
 public:
  KeyTable();
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  DatasetId dataset(std::string_view name) {
    const PackedKey packed = dataset_index_.pack(0, name.data(), name.size());
    const std::uint32_t found = dataset_index_.find(packed, name.data(), name.size());
    return found != KeyIndex::kNone ? DatasetId{found} : add_dataset(name);
  }
  std::string_view dataset_name(DatasetId id) const { return dataset_names_.at(raw(id)); }
  // The id of a stream, new if need be. The usual path is one hash, one probe, one compare.
  StreamId find_or_add(DatasetId dataset, std::string_view stream) {
    const StreamId found = find(dataset, stream.data(), stream.size());
    return found != kNoStream ? found : add_stream(dataset, stream);
  }
  // The id of a stream, or kNoStream.
  StreamId find(DatasetId dataset, const char* stream, std::size_t n) const {
    return StreamId{index_.find(index_.pack(raw(dataset), stream, n), stream, n)};
  }
  // REQUIRES: id came from this table.
  const Key& key(StreamId id) const { return keys_.at(raw(id)); }
  // One more than the largest id handed out.
  std::uint32_t size() const { return keys_.size(); }
  std::uint32_t datasets() const { return dataset_names_.size(); }

 private:
  struct Writer;  // mutex and name arena
  StreamId add_stream(DatasetId dataset, std::string_view stream);
  DatasetId add_dataset(std::string_view name);

  KeyIndex index_{256};
  KeyIndex dataset_index_{16};
  StableArray<Key> keys_;
  StableArray<std::string_view> dataset_names_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace weir::core
