#include "core/keys.h"

#include <xxhash.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace weir::core {

struct KeyTable::Writer {
  static constexpr std::size_t kChunk = 64 << 10;  // names are small; larger ones get their own

  std::mutex mutex;
  std::vector<std::unique_ptr<char[]>> chunks;
  char* free = nullptr;
  std::size_t left = 0;
  std::string hashed;  // scratch

  std::string_view keep(std::string_view name) {
    if (name.empty()) return {};
    if (name.size() > left) {
      const std::size_t bytes = name.size() > kChunk / 4 ? name.size() : kChunk;
      chunks.emplace_back(new char[bytes]);
      if (bytes != kChunk) {
        std::memcpy(chunks.back().get(), name.data(), name.size());
        return {chunks.back().get(), name.size()};
      }
      free = chunks.back().get();
      left = bytes;
    }
    char* const at = free;
    std::memcpy(at, name.data(), name.size());
    free += name.size();
    left -= name.size();
    return {at, name.size()};
  }
  // The lengths stand before the names, so ("ab","c") and ("a","bc") differ.
  std::uint64_t hash(std::string_view dataset, std::string_view stream) {
    const std::uint64_t lengths[2] = {dataset.size(), stream.size()};
    hashed.assign(reinterpret_cast<const char*>(lengths), sizeof lengths);
    hashed.append(dataset).append(stream);
    return XXH3_64bits(hashed.data(), hashed.size());
  }
};

KeyTable::KeyTable() : writer_(std::make_unique<Writer>()) {}
KeyTable::~KeyTable() = default;

DatasetId KeyTable::add_dataset(std::string_view name) {
  const std::lock_guard lock(writer_->mutex);
  const PackedKey packed = dataset_index_.pack(0, name.data(), name.size());
  // Another thread may have added it since the caller looked.
  const std::uint32_t found = dataset_index_.find(packed, name.data(), name.size());
  if (found != KeyIndex::kNone) return DatasetId{found};
  const std::string_view stored = writer_->keep(name);
  const std::uint32_t id = dataset_names_.append(stored);
  dataset_index_.insert(packed, stored, id);
  return DatasetId{id};
}

StreamId KeyTable::add_stream(DatasetId dataset, std::string_view stream) {
  const std::lock_guard lock(writer_->mutex);
  const PackedKey packed = index_.pack(raw(dataset), stream.data(), stream.size());
  const std::uint32_t found = index_.find(packed, stream.data(), stream.size());
  if (found != KeyIndex::kNone) return StreamId{found};
  Key key;
  key.dataset = dataset_name(dataset);
  key.stream = writer_->keep(stream);
  key.dataset_id = dataset;
  key.hash = writer_->hash(key.dataset, key.stream);
  key.slot =
      key.dataset == kGroupsDataset ? kGroupsSlot : static_cast<std::uint32_t>(key.hash % kSlots);
  // The key stands before its id can be found, so whoever has an id may read its key.
  const std::uint32_t id = keys_.append(key);
  index_.insert(packed, key.stream, id);
  return StreamId{id};
}

}  // namespace weir::core
