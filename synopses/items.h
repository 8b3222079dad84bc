// Items: the values of one field for consecutive tuples of one stream, as a synopsis takes them.
//
// The base hash of every value is computed at most once per run, however many synopses read the
// field. Thread safety: shard-local.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/array.h"
#include "core/value.h"

namespace weir::synopses {

// Strong 64-bit hash of a canonical value. A bijection on numbers of one kind, so that numbers
// never collide before seeding; XXH3 of the bytes for text. Synopses derive everything from
// seeded(hash, seed), which docs/bounds.md treats as a random function.
std::uint64_t hash_number(std::uint64_t bits, core::Kind kind);
std::uint64_t hash_text(std::string_view text);
// hashes[i] = hash of value i; SIMD when kinds == nullptr. REQUIRES: no kMissing.
void hash_values(const std::uint64_t* bits, const core::Kind* kinds, const char* text,
                 std::size_t n, std::uint64_t* hashes);

// What some synopses take beside the values, one entry a value; null = not given.
struct ItemExtras {
  const std::int64_t* weights = nullptr;  // how often the value counts; null: once each
  const std::int64_t* times = nullptr;    // event time, ns; kNoTime.ns where there is none
  // Stream time just after the value's record: the largest event time of the whole input so far.
  // Never decreases, and never below the value's own time.
  const std::int64_t* clocks = nullptr;
  // Where a synopsis says which values it refused because they came too late: set to 1. Zeroed by
  // whoever gives it.
  std::uint8_t* refused = nullptr;
};

class Items {
 public:
  // `kinds` may be null: every value is Kind::kNumber. kMissing values are not allowed: the caller
  // leaves them out. `scratch` holds the hashes and outlives the Items; its contents are
  // overwritten.
  Items(std::span<const std::uint64_t> bits, const core::Kind* kinds, const char* text,
        core::Array<std::uint64_t>& scratch, const ItemExtras& extras = {})
      : bits_(bits), kinds_(kinds), text_(text), scratch_(scratch), extras_(extras) {}

  std::size_t size() const { return bits_.size(); }
  std::span<const std::uint64_t> bits() const { return bits_; }
  const core::Kind* kinds() const { return kinds_; }
  const char* text() const { return text_; }
  const std::int64_t* weights() const { return extras_.weights; }
  const std::int64_t* times() const { return extras_.times; }
  const std::int64_t* clocks() const { return extras_.clocks; }
  // Value i came too late to be taken.
  void refuse(std::size_t i) const {
    if (extras_.refused != nullptr) extras_.refused[i] = 1;
  }
  // When kinds() == nullptr, the bits are doubles.
  double number(std::size_t i) const {
    return core::as_double(bits_[i], kinds_ == nullptr ? core::Kind::kNumber : kinds_[i]);
  }
  // The items [begin, end), which share these items' hashes. REQUIRES: *this outlives it.
  Items slice(std::size_t begin, std::size_t end) const {
    Items part(bits_.subspan(begin, end - begin), kinds_ == nullptr ? nullptr : kinds_ + begin,
               text_, scratch_,
               {extras_.weights == nullptr ? nullptr : extras_.weights + begin,
                extras_.times == nullptr ? nullptr : extras_.times + begin,
                extras_.clocks == nullptr ? nullptr : extras_.clocks + begin,
                extras_.refused == nullptr ? nullptr : extras_.refused + begin});
    part.whole_ = this;
    part.offset_ = begin;
    return part;
  }
  std::span<const std::uint64_t> hashes() const {
    if (whole_ != nullptr) return whole_->hashes().subspan(offset_, size());
    if (!hashed_) {
      scratch_.resize(size());
      hash_values(bits_.data(), kinds_, text_, size(), scratch_.data());
      hashed_ = true;
    }
    return {scratch_.data(), size()};
  }

 private:
  std::span<const std::uint64_t> bits_;
  const core::Kind* kinds_;
  const char* text_;
  core::Array<std::uint64_t>& scratch_;
  ItemExtras extras_;
  const Items* whole_ = nullptr;  // of a slice
  std::size_t offset_ = 0;
  mutable bool hashed_ = false;
};

}  // namespace weir::synopses
