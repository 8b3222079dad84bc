// KeyIndex: the hash index under KeyTable, from (space, name) to a dense number. Readers take no
// lock and never wait; the one writer at a time is kept apart by KeyTable's mutex.
//
// A name of up to 16 bytes is packed into two words which, with the length, are equal exactly when
// the bytes are; the packed words stand in the entry itself, so a hit touches one cache line. A
// longer name is stored as its 64-bit hash and a pointer, and compared byte for byte.
//
// Invariants
//  1. An entry is written once, before its `number` is stored with release; a reader that loads the
//     number with acquire and finds it non-zero sees the rest of the entry.
//  2. At most 5/8 of the entries are in use, so every probe ends.
//  3. A table that was replaced stays readable until the index dies: a reader may still be in it.
// Thread safety: single-writer (insert), with any number of readers (find).
// Source: folded multiply as in wyhash (Wang Yi); linear probing, Knuth, TAOCP 3, 6.4.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace weir::core {

// Secret of one index, so that nobody can prepare names that collide.
struct KeySeed {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};
KeySeed random_key_seed();

struct PackedKey {
  std::uint64_t lo = 0, hi = 0;
  std::uint64_t meta = 0;  // space in the high half, length in the low half
  std::uint64_t hash = 0;
};

inline constexpr std::size_t kInlineKey = 16;  // longest name kept in the entry

inline std::uint64_t fold_multiply(std::uint64_t x, std::uint64_t y) {
  const auto product = static_cast<unsigned __int128>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
template <class Word>
inline Word load_word(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

inline PackedKey pack_key(KeySeed seed, std::uint32_t space, const char* name, std::size_t n) {
  PackedKey key;
  key.meta = std::uint64_t{space} << 32 | n;
  if (n <= kInlineKey) [[likely]] {
    // Two loads that overlap cover every length without a loop.
    if (n >= 8) {
      key.lo = load_word<std::uint64_t>(name);
      key.hi = load_word<std::uint64_t>(name + n - 8);
    } else if (n >= 4) {
      key.lo = load_word<std::uint32_t>(name);
      key.hi = load_word<std::uint32_t>(name + n - 4);
    } else if (n > 0) {
      key.lo = static_cast<unsigned char>(name[0]) |
               std::uint64_t{static_cast<unsigned char>(name[n / 2])} << 8 |
               std::uint64_t{static_cast<unsigned char>(name[n - 1])} << 16;
    }
    key.hash = fold_multiply(key.lo ^ seed.a, key.hi ^ seed.b ^ key.meta * 0x9e3779b97f4a7c15ULL);
    return key;
  }
  std::uint64_t h = seed.a ^ key.meta;
  for (std::size_t i = 0; i + 16 < n; i += 16) {
    h = fold_multiply(load_word<std::uint64_t>(name + i) ^ h,
                      load_word<std::uint64_t>(name + i + 8) ^ seed.b);
  }
  h = fold_multiply(load_word<std::uint64_t>(name + n - 16) ^ h,
                    load_word<std::uint64_t>(name + n - 8) ^ seed.b);
  key.hash = key.lo = fold_multiply(h ^ seed.b, 0x9e3779b97f4a7c15ULL);
  return key;
}

class KeyIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit KeyIndex(std::size_t capacity = 256) : KeyIndex(capacity, random_key_seed()) {}
  // With a secret that was drawn before: drawing one takes long beside a small index.
  KeyIndex(std::size_t capacity, KeySeed seed);
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  KeySeed seed() const { return seed_; }
  PackedKey pack(std::uint32_t space, const char* name, std::size_t n) const {
    return pack_key(seed_, space, name, n);
  }
  // The number of a name, or kNone. The acquire of the table pairs with the release in insert().
  std::uint32_t find(const PackedKey& key, const char* name, std::size_t n) const {
    const Table* table = table_.load(std::memory_order_acquire);
    for (std::size_t i = key.hash & table->mask;; i = (i + 1) & table->mask) {
      const Entry& entry = table->entries[i];
      const std::uint32_t number = entry.number.load(std::memory_order_acquire);
      if (number == 0) return kNone;
      if (n <= kInlineKey) [[likely]] {
        if (((entry.lo ^ key.lo) | (entry.hi ^ key.hi) | (entry.meta ^ key.meta)) == 0) [[likely]] {
          return number - 1;
        }
      } else if (entry.lo == key.lo && entry.meta == key.meta &&
                 std::memcmp(reinterpret_cast<const char*>(entry.hi), name, n) == 0) {
        return number - 1;
      }
    }
  }
  // REQUIRES: the name is not in the index; `stored` holds its bytes for as long as the index
  // lives; number < kNone - 1; one call at a time.
  void insert(PackedKey key, std::string_view stored, std::uint32_t number);
  std::size_t memory_bytes() const;

 private:
  struct alignas(32) Entry {
    std::uint64_t lo = 0, hi = 0, meta = 0;
    std::atomic<std::uint32_t> number{0};  // number + 1; 0 = free
  };
  static_assert(sizeof(Entry) == 32, "two entries a cache line");
  struct Table {
    explicit Table(std::size_t capacity) : mask(capacity - 1), entries(new Entry[capacity]) {}
    std::size_t mask;
    std::unique_ptr<Entry[]> entries;
  };
  std::uint64_t hash_of(const Entry& entry) const;
  static void place(Table& table, std::uint64_t hash, std::uint64_t lo, std::uint64_t hi,
                    std::uint64_t meta, std::uint32_t number_plus_one);

  KeySeed seed_;
  std::atomic<const Table*> table_;
  std::vector<std::unique_ptr<Table>> tables_;  // the last one is current
  std::size_t used_ = 0;
};

}  // namespace weir::core
