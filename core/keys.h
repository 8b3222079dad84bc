// KeyTable: every (dataset, stream) pair met so far, interned to a dense StreamId.
//
// Invariants
//  1. An id never changes its meaning; names live as long as the table.
//  2. find_or_add takes no lock and allocates nothing when the pair is known.
//  3. hash and slot depend on the names alone, never on the order of arrival.
// Thread safety: thread-safe. Readers never wait for the writer of a new key.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "weir/types.h"

namespace weir::core {

// Fixed shares of the key space; see ARCHITECTURE "Ownership".
inline constexpr std::uint32_t kSlots = 256;

struct Key {
  std::string_view dataset;  // the table's own copy
  std::string_view stream;
  DatasetId dataset_id{};
  std::uint64_t hash = 0;  // XXH3 of both names, lengths included
  std::uint32_t slot = 0;  // hash mod kSlots
};

class KeyTable {
 public:
  KeyTable();
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  DatasetId dataset(std::string_view name);
  std::string_view dataset_name(DatasetId id) const;
  // The id of a stream, new if need be. The usual path is one hash, one probe, one compare.
  StreamId find_or_add(DatasetId dataset, std::string_view stream);
  // REQUIRES: id came from this table.
  const Key& key(StreamId id) const;
  // One more than the largest id handed out.
  std::uint32_t size() const;
  std::uint32_t datasets() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::core
