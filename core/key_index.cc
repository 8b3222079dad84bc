#include "core/key_index.h"

#include <bit>
#include <cassert>
#include <chrono>
#include <exception>
#include <random>

namespace weir::core {

KeySeed random_key_seed() {
  KeySeed seed;
  try {
    std::random_device device;
    seed.a = std::uint64_t{device()} << 32 | device();
    seed.b = std::uint64_t{device()} << 32 | device();
  } catch (const std::exception&) {
    // No source of randomness: the clock still differs from run to run. Ids are never observable,
    // so neither choice changes a result.
    seed.a =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    seed.b = fold_multiply(seed.a, 0x9e3779b97f4a7c15ULL);
  }
  return seed;
}

KeyIndex::KeyIndex(std::size_t capacity, KeySeed seed) : seed_(seed) {
  tables_.push_back(std::make_unique<Table>(std::bit_ceil(capacity < 16 ? 16 : capacity)));
  table_.store(tables_.back().get(), std::memory_order_release);
}

std::uint64_t KeyIndex::hash_of(const Entry& entry) const {
  const std::size_t n = entry.meta & 0xffffffffu;
  if (n > kInlineKey) return entry.lo;
  return fold_multiply(entry.lo ^ seed_.a, entry.hi ^ seed_.b ^ entry.meta * 0x9e3779b97f4a7c15ULL);
}

void KeyIndex::place(Table& table, std::uint64_t hash, std::uint64_t lo, std::uint64_t hi,
                     std::uint64_t meta, std::uint32_t number_plus_one) {
  std::size_t i = hash & table.mask;
  while (table.entries[i].number.load(std::memory_order_relaxed) != 0) i = (i + 1) & table.mask;
  Entry& entry = table.entries[i];
  entry.lo = lo;
  entry.hi = hi;
  entry.meta = meta;
  entry.number.store(number_plus_one, std::memory_order_release);
}

void KeyIndex::insert(PackedKey key, std::string_view stored, std::uint32_t number) {
  assert(number < kNone - 1);
  Table* table = tables_.back().get();
  if ((used_ + 1) * 8 > (table->mask + 1) * 5) {
    auto grown = std::make_unique<Table>(2 * (table->mask + 1));
    for (std::size_t i = 0; i <= table->mask; ++i) {
      const Entry& entry = table->entries[i];
      const std::uint32_t taken = entry.number.load(std::memory_order_relaxed);
      if (taken != 0) place(*grown, hash_of(entry), entry.lo, entry.hi, entry.meta, taken);
    }
    table = grown.get();
    tables_.push_back(std::move(grown));
    // Release: a reader that finds the new table sees its entries. One that still reads the old
    // table misses newer names only, and then asks again under the writer's mutex.
    table_.store(table, std::memory_order_release);
  }
  if (stored.size() > kInlineKey) key.hi = reinterpret_cast<std::uintptr_t>(stored.data());
  place(*table, key.hash, key.lo, key.hi, key.meta, number + 1);
  ++used_;
}

std::size_t KeyIndex::memory_bytes() const {
  std::size_t bytes = 0;
  for (const auto& table : tables_) bytes += (table->mask + 1) * sizeof(Entry);
  return bytes;
}

}  // namespace weir::core
