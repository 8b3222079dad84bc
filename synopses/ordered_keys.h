// Ordered keys: numbers of every kind as unsigned keys that sort as their exact values do.
//
// A double is one 64-bit key: its bits with the sign flipped, or all of them when negative. There
// are more numbers than that (integers of 64 bits that no double holds), so such an integer is the
// key of the largest double below it and what it lies above that double, 1 to 2047. A summary works
// on NarrowKey until the first such integer comes, and on WideKey from then on: prices and readings
// pay nothing for the counters and nanoseconds that need it.
//
// Invariants
//  1. a < b as exact numbers if and only if key(a) < key(b); equal values have equal keys.
//  2. value_of(key_of(value)) == value for every number of core/value.h.
// Thread safety: immutable (pure functions).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <variant>

#include "core/array.h"
#include "core/bytes.h"
#include "core/value.h"
#include "synopses/items.h"

namespace weir::synopses {

using NarrowKey = std::uint64_t;
struct WideKey {
  NarrowKey base;       // of the largest double that is not above the number
  std::uint64_t above;  // number - that double; 0 for a double
  friend auto operator<=>(const WideKey&, const WideKey&) = default;
};

// Negative numbers have the top bit clear. REQUIRES: bits of a finite double that is not -0.
constexpr NarrowKey key_of_double(std::uint64_t bits) {
  const std::uint64_t negative = 0 - (bits >> 63);
  return bits ^ (negative | std::uint64_t{1} << 63);
}
constexpr std::uint64_t double_of_key(NarrowKey key) {
  const std::uint64_t positive = 0 - (key >> 63);
  return key ^ (~positive | std::uint64_t{1} << 63);
}

// REQUIRES: a number of some kind.
WideKey key_of(core::Value value);
core::Value value_of(const WideKey& key);
inline core::Value value_of(NarrowKey key) { return {double_of_key(key), core::Kind::kNumber}; }
// Whether some number has this key: for keys out of a file.
bool is_key(NarrowKey key);
bool is_key(const WideKey& key);

inline WideKey widened(NarrowKey key) { return {key, 0}; }
inline WideKey widened(const WideKey& key) { return key; }
inline core::Array<WideKey> widened(const core::Array<NarrowKey>& keys) {
  core::Array<WideKey> wide;
  wide.resize(keys.size());
  std::transform(keys.begin(), keys.end(), wide.begin(), [](NarrowKey key) {
    return WideKey{key, 0};
  });
  return wide;
}
template <class T>
core::Array<T> copied(const core::Array<T>& from) {
  core::Array<T> to;
  to.append(from.data(), from.size());
  return to;
}

// Ascending. Highway's vqsort for narrow keys: the same result on every target, equal keys being
// the same bits. Some 2.3 ns a key from 256 keys on with AVX-512, 4 at 100.
void sort_keys(NarrowKey* keys, std::size_t n);
void sort_keys(WideKey* keys, std::size_t n);

// Keys in files: 8 bytes, or 16.
template <class Key>
void put_keys(core::Writer& out, const Key* keys, std::size_t n) {
  out.raw(keys, n * sizeof(Key));
}
// False if the bytes are not there or one is no key. Allocates no more than the bytes that are.
template <class Key>
bool get_keys(core::Reader& in, core::Array<Key>& into, std::uint64_t n) {
  if (!in.ok() || n > in.rest().size() / sizeof(Key)) return in.fail();
  into.resize(static_cast<std::size_t>(n));
  return in.raw(into.data(), into.size() * sizeof(Key)) &&
         (std::all_of(into.begin(), into.end(), [](const Key& key) { return is_key(key); }) ||
          in.fail());
}

// A summary in one of its two forms. Summary<Key> has take(keys, n), and a constructor from
// Summary<NarrowKey> for its wide form.
template <template <class> class Summary>
using NarrowOrWide = std::variant<Summary<NarrowKey>, Summary<WideKey>>;

template <template <class> class Summary>
void widen(NarrowOrWide<Summary>& summary) {
  if (auto* narrow = std::get_if<0>(&summary)) {
    Summary<WideKey> wide(*narrow);
    summary.template emplace<1>(std::move(wide));
  }
}

inline constexpr std::size_t kKeyChunk = 256;

// Gives the numbers of `items` to `summary`, which becomes wide at the first integer that no double
// holds; texts are passed over.
template <template <class> class Summary>
void take_items(const Items& items, NarrowOrWide<Summary>& summary) {
  const std::uint64_t* bits = items.bits().data();
  const core::Kind* kinds = items.kinds();
  std::size_t i = 0;
  if (auto* narrow = std::get_if<0>(&summary)) {
    NarrowKey keys[kKeyChunk];
    bool plain = true;
    while (plain && i < items.size()) {
      const std::size_t end = std::min(items.size(), i + kKeyChunk);
      std::size_t held = 0;
      if (kinds == nullptr) {
        for (; i < end; ++i) keys[held++] = key_of_double(bits[i]);
      } else {
        for (; i < end; ++i) {
          if (kinds[i] == core::Kind::kNumber) {
            keys[held++] = key_of_double(bits[i]);
          } else if (kinds[i] != core::Kind::kText) {
            plain = false;
            break;
          }
        }
      }
      narrow->take(keys, held);
    }
    if (plain) return;
    widen(summary);
  }
  auto& wide = std::get<1>(summary);
  WideKey keys[kKeyChunk];
  while (i < items.size()) {
    const std::size_t end = std::min(items.size(), i + kKeyChunk);
    std::size_t held = 0;
    for (; i < end; ++i) {
      const core::Kind kind = kinds == nullptr ? core::Kind::kNumber : kinds[i];
      if (kind != core::Kind::kText) keys[held++] = key_of({bits[i], kind});
    }
    wide.take(keys, held);
  }
}

}  // namespace weir::synopses
