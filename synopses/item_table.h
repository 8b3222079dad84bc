// Item table: open addressing from items to counters, for synopses that keep some items exactly.
//
// Entries lie densely in one array; 64-bit slots point to them and hold half of the hash, so that a
// look-up of an item that is not there reads one slot, and of one that is reads a slot and an
// entry. Nothing is removed singly: keep_if() sweeps the entries and lays the slots anew, so
// there are no gravestones, and at least half of the slots are free.
//
// Invariants
//  1. Items are told apart by themselves, not by their hashes: numbers by kind and bits, texts by
//     their bytes.
//  2. The order of entries follows the history of insertions and sweeps: nothing that leaves a
//     synopsis may follow it. sorted() gives the canonical order.
//  3. Slots are a power of two, at least twice the entries.
// Cost: about 2 to 4 ns a look-up in cache; a sweep about 2 ns an entry that stays.
// Thread safety: shard-local.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "core/array.h"
#include "core/bytes.h"
#include "core/value.h"
#include "synopses/hash.h"
#include "synopses/item_order.h"
#include "synopses/items.h"

namespace weir::synopses {

template <class Counts>
class ItemTable {
 public:
  struct Entry {
    std::uint64_t key;  // a number's bits; of a text its place in the text bytes
    Counts counts;
  };
  // Where a look-up ended: at the entry, or (entry null) at the slot where it would go.
  struct Place {
    std::size_t slot;
    Entry* entry;
  };

  ItemTable() { lay_slots(kFewestSlots); }
  ItemTable(ItemTable&&) = default;
  ItemTable& operator=(ItemTable&&) = default;

  ItemTable copy() const {
    ItemTable made;
    made.entries_.append(entries_.data(), entries_.size());
    made.kinds_.append(kinds_.data(), kinds_.size());
    made.text_.append(text_.data(), text_.size());
    made.plain_ = plain_;
    made.slots_.clear();
    made.slots_.append(slots_.data(), slots_.size());
    return made;
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t text_bytes() const { return text_.size(); }
  Entry* begin() { return entries_.begin(); }
  Entry* end() { return entries_.end(); }
  const Entry* begin() const { return entries_.begin(); }
  const Entry* end() const { return entries_.end(); }
  ItemView item(std::size_t i) const {
    const core::Value value{entries_[i].key, kinds_[i]};
    return {value, value.kind == core::Kind::kText ? text_at(value.bits) : std::string_view()};
  }
  // The base hash of entry i, computed anew.
  std::uint64_t hash(std::size_t i) const {
    return kinds_[i] == core::Kind::kText ? hash_text(text_at(entries_[i].key))
                                          : hash_number(entries_[i].key, kinds_[i]);
  }
  // Every entry is a double: find_plain() is enough for a double.
  bool plain() const { return plain_; }

  // The entry of a double. REQUIRES: plain(), or ask find().
  Place find_plain(std::uint64_t hash, std::uint64_t bits) {
    return walk(hash, [bits](const Entry& entry, std::size_t) { return entry.key == bits; });
  }
  // `text` is read if the number's kind is kText.
  Place find(std::uint64_t hash, const ItemView& item) {
    return walk(hash, [&](const Entry& entry, std::size_t i) {
      if (kinds_[i] != item.number.kind) return false;
      return item.number.kind == core::Kind::kText ? text_at(entry.key) == item.text
                                                   : entry.key == item.number.bits;
    });
  }
  const Entry* find_entry(std::uint64_t hash, const ItemView& item) const {
    return const_cast<ItemTable*>(this)->find(hash, item).entry;  // walk() itself changes nothing
  }

  // REQUIRES: `place` is what a look-up of this item gave, nothing was inserted since, and there is
  // no entry. Invalidates pointers to entries.
  void insert(Place place, std::uint64_t hash, const ItemView& item, const Counts& counts) {
    Entry entry{item.number.bits, counts};
    if (item.number.kind == core::Kind::kText) {
      entry.key = text_.size();
      const auto length = static_cast<std::uint32_t>(item.text.size());
      text_.append(reinterpret_cast<const char*>(&length), sizeof length);
      text_.append(item.text.data(), length);
    }
    plain_ = plain_ && item.number.kind == core::Kind::kNumber;
    entries_.push_back(entry);
    kinds_.push_back(item.number.kind);
    slots_[place.slot] = slot_of(placed(hash), entries_.size());
    if (2 * entries_.size() > slots_.size()) lay_slots(2 * slots_.size());
  }

  // Keeps the entries for which `keep` is true. If there are slots for `more` beyond them, keeps
  // those slots too.
  template <class Keep>
  void keep_if(const Keep& keep, std::size_t more) {
    core::Array<char> texts;
    std::size_t kept = 0;
    plain_ = true;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      // Written whether it stays or not: a branch here would be mispredicted for half of them.
      entries_[kept] = entries_[i];
      kinds_[kept] = kinds_[i];
      if (!keep(entries_[i].counts)) continue;
      if (kinds_[i] == core::Kind::kText) {
        const std::string_view text = text_at(entries_[i].key);
        entries_[kept].key = texts.size();
        texts.append(text.data() - sizeof(std::uint32_t), text.size() + sizeof(std::uint32_t));
      }
      plain_ = plain_ && kinds_[i] == core::Kind::kNumber;
      ++kept;
    }
    entries_.resize(kept);
    kinds_.resize(kept);
    text_ = std::move(texts);
    lay_slots(std::max(2 * kept, std::min(slots_.size(), 2 * (kept + more))));
  }

  // The indices of all entries for which `keep` is true, in item order.
  template <class Keep>
  std::vector<std::size_t> sorted(const Keep& keep) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (keep(entries_[i].counts)) order.push_back(i);
    }
    std::sort(order.begin(), order.end(),
              [this](std::size_t a, std::size_t b) { return compare_items(item(a), item(b)) < 0; });
    return order;
  }

  // What a table of the entries for which `keep` is true needs, however it came about.
  template <class Keep>
  std::size_t memory_bytes(const Keep& keep) const {
    std::size_t kept = 0, text = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!keep(entries_[i].counts)) continue;
      ++kept;
      if (kinds_[i] == core::Kind::kText) {
        text += sizeof(std::uint32_t) + text_at(entries_[i].key).size();
      }
    }
    return kept * (sizeof(Entry) + sizeof(core::Kind)) + text +
           std::max(kFewestSlots, std::bit_ceil(2 * kept)) * sizeof(std::uint64_t);
  }

  // u64 how many, then each entry in item order: u8 kind; u64 bits, or u32 length and text; and
  // what `put(writer, counts)` writes.
  template <class Keep, class Put>
  void write(core::Writer& out, const Keep& keep, const Put& put) const {
    const std::vector<std::size_t> order = sorted(keep);
    out.put(static_cast<std::uint64_t>(order.size()));
    for (const std::size_t i : order) {
      const ItemView view = item(i);
      out.put(view.number.kind);
      if (view.number.kind == core::Kind::kText) {
        out.put_text(view.text);
      } else {
        out.put(view.number.bits);
      }
      put(out, entries_[i].counts);
    }
  }
  // Reads that into an empty table; `get(reader, counts)` says whether counts are right. False for
  // anything that write() cannot have written: items out of order, twice, or not canonical.
  template <class Get>
  bool read(core::Reader& in, const Get& get) {
    ItemView last;
    for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
      ItemView next{{0, in.get<core::Kind>()}, {}};
      if (next.number.kind == core::Kind::kText) {
        next.text = in.get_text();
      } else {
        next.number.bits = in.get<std::uint64_t>();
        if (!is_canonical_number(next.number)) return false;
      }
      Counts counts{};
      if (!in.ok() || !get(in, counts) || !in.ok()) return false;
      if (entries_.size() > 0 && compare_items(last, next) >= 0) return false;
      const std::uint64_t hashed = next.number.kind == core::Kind::kText
                                       ? hash_text(next.text)
                                       : hash_number(next.number.bits, next.number.kind);
      insert(find(hashed, next), hashed, next, counts);
      last = next;
    }
    return in.ok();
  }

  // The most that an entry of a number needs, its slots included.
  static constexpr double bytes_an_entry() {
    return static_cast<double>(sizeof(Entry) + sizeof(core::Kind) + 4 * sizeof(std::uint64_t));
  }

 private:
  static constexpr std::size_t kFewestSlots = 64;
  static constexpr std::uint64_t kHashHalf = ~std::uint64_t{0xffffffffu};

  // The upper half of the hash, and below it the entry's index plus one; 0 is free. The lower half
  // of the hash chooses the slot.
  static std::uint64_t slot_of(std::uint64_t hash, std::size_t index_plus_one) {
    return (hash & kHashHalf) | index_plus_one;
  }

  std::string_view text_at(std::uint64_t at) const {
    std::uint32_t length = 0;
    std::memcpy(&length, text_.data() + at, sizeof length);
    return {text_.data() + at + sizeof length, length};
  }

  // Base hashes can be inverted, so whoever writes a stream could fill one run of slots. The key is
  // of this process alone; where entries lie in slots leaves no trace in the state.
  static std::uint64_t placed(std::uint64_t hash) {
    static const std::uint64_t key = seed_key(std::random_device{}());
    return keyed(hash, key);
  }

  template <class Same>
  Place walk(std::uint64_t base, const Same& same) {
    const std::uint64_t hash = placed(base);
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t* slots = slots_.data();
    std::size_t at = hash & mask;
    for (;; at = (at + 1) & mask) {
      const std::uint64_t slot = slots[at];
      if (((slot ^ hash) & kHashHalf) == 0 && (slot & ~kHashHalf) != 0) {
        const std::size_t i = (slot & ~kHashHalf) - 1;
        if (same(entries_[i], i)) return {at, &entries_[i]};
      }
      if (slot == 0) return {at, nullptr};
    }
  }

  void lay_slots(std::size_t at_least) {
    const std::size_t count = std::bit_ceil(std::max(at_least, kFewestSlots));
    slots_.resize(count);
    std::memset(slots_.data(), 0, count * sizeof(std::uint64_t));
    if (plain_) {
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        lay_slot(mix(entries_[i].key ^ kind_tweak(core::Kind::kNumber)), i);
      }
    } else {
      for (std::size_t i = 0; i < entries_.size(); ++i) lay_slot(hash(i), i);
    }
  }
  void lay_slot(std::uint64_t base, std::size_t i) {
    const std::uint64_t hash = placed(base);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = slot_of(hash, i + 1);
  }

  core::Array<Entry> entries_;
  core::Array<core::Kind> kinds_;
  core::Array<char> text_;  // u32 length and bytes of each text
  core::Array<std::uint64_t> slots_;
  bool plain_ = true;
};

}  // namespace weir::synopses
