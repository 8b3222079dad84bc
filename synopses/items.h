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

class Items {
 public:
  // `kinds` may be null: every value is Kind::kNumber. kMissing values are not allowed: the caller
  // leaves them out. `scratch` holds the hashes and outlives the Items; its contents are
  // overwritten.
  Items(std::span<const std::uint64_t> bits, const core::Kind* kinds, const char* text,
        core::Array<std::uint64_t>& scratch)
      : bits_(bits), kinds_(kinds), text_(text), scratch_(scratch) {}

  std::size_t size() const { return bits_.size(); }
  std::span<const std::uint64_t> bits() const { return bits_; }
  const core::Kind* kinds() const { return kinds_; }
  const char* text() const { return text_; }
  // When kinds() == nullptr, the bits are doubles.
  double number(std::size_t i) const {
    return core::as_double(bits_[i], kinds_ == nullptr ? core::Kind::kNumber : kinds_[i]);
  }
  std::span<const std::uint64_t> hashes() const {
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
  mutable bool hashed_ = false;
};

}  // namespace weir::synopses
