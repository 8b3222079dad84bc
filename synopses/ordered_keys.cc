#include "synopses/ordered_keys.h"

#include <hwy/contrib/sort/vqsort.h>

#include <bit>
#include <cmath>

namespace weir::synopses {
namespace {

constexpr int kSignificandBits = 53;

// Below this vqsort's set-up costs more than it saves.
constexpr std::size_t kShortSort = 24;

WideKey key_of_integer(bool negative, std::uint64_t magnitude) {
  // Inexact, so at least 2^53: some low bits do not fit the significand.
  const int bits_lost = 64 - std::countl_zero(magnitude) - kSignificandBits;
  const std::uint64_t spacing = std::uint64_t{1} << bits_lost;
  const std::uint64_t toward_zero = magnitude & ~(spacing - 1);
  if (!negative) {
    const auto below = static_cast<double>(toward_zero);
    return {key_of_double(std::bit_cast<std::uint64_t>(below)), magnitude - toward_zero};
  }
  const std::uint64_t away = toward_zero + spacing;
  const auto below = -static_cast<double>(away);
  return {key_of_double(std::bit_cast<std::uint64_t>(below)), away - magnitude};
}

}  // namespace

WideKey key_of(core::Value value) {
  switch (value.kind) {
    case core::Kind::kInt64:
      return key_of_integer(true, 0 - value.bits);
    case core::Kind::kUint64:
      return key_of_integer(false, value.bits);
    default:
      return {key_of_double(value.bits), 0};
  }
}

core::Value value_of(const WideKey& key) {
  const std::uint64_t bits = double_of_key(key.base);
  if (key.above == 0) return {bits, core::Kind::kNumber};
  const auto below = std::bit_cast<double>(bits);
  if (below >= 0) return {static_cast<std::uint64_t>(below) + key.above, core::Kind::kUint64};
  return {static_cast<std::uint64_t>(static_cast<std::int64_t>(below)) + key.above,
          core::Kind::kInt64};
}

bool is_key(NarrowKey key) {
  const std::uint64_t bits = double_of_key(key);
  return std::isfinite(std::bit_cast<double>(bits)) && bits != std::uint64_t{1} << 63;
}

bool is_key(const WideKey& key) {
  if (!is_key(key.base)) return false;
  if (key.above == 0) return true;
  const auto below = std::bit_cast<double>(double_of_key(key.base));
  // The integers that no double holds lie between these, and at most 2047 above a double.
  if (!(below >= -0x1p63 && below < 0x1p64 && std::fabs(below) >= 0x1p53) || key.above > 2047) {
    return false;
  }
  const core::Value value = value_of(key);
  const core::Value canonical = value.kind == core::Kind::kUint64
                                    ? core::integer(value.bits)
                                    : core::integer(static_cast<std::int64_t>(value.bits));
  return canonical == value && key_of(value) == key;
}

void sort_keys(NarrowKey* keys, std::size_t n) {
  if (n <= kShortSort) {
    std::sort(keys, keys + n);
  } else {
    hwy::Sorter()(keys, n, hwy::SortAscending());
  }
}

void sort_keys(WideKey* keys, std::size_t n) { std::sort(keys, keys + n); }

}  // namespace weir::synopses
