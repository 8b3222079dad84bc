#include "synopses/item_order.h"

#include <cmath>

#include "core/json_text.h"
#include "synopses/synopsis.h"

namespace weir::synopses {
namespace {

using core::Kind;

template <class T>
std::strong_ordering order(T a, T b) {
  return a < b   ? std::strong_ordering::less
         : b < a ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

// A double against an integer that no double holds. Within the integer's range the double is cast
// without loss of order: its fraction can only matter below 2^53, where no such integer lies.
std::strong_ordering compare_double(double a, core::Value b) {
  if (b.kind == Kind::kUint64) {
    if (a >= 0x1p64) return std::strong_ordering::greater;
    return a <= 0 ? std::strong_ordering::less : order(static_cast<std::uint64_t>(a), b.bits);
  }
  if (a < -0x1p63) return std::strong_ordering::less;
  return a >= 0 ? std::strong_ordering::greater
                : order(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b.bits));
}

}  // namespace

std::strong_ordering compare_numbers(core::Value a, core::Value b) {
  if (a.kind == Kind::kNumber && b.kind == Kind::kNumber) {
    return order(std::bit_cast<double>(a.bits), std::bit_cast<double>(b.bits));
  }
  if (a.kind == Kind::kNumber) return compare_double(std::bit_cast<double>(a.bits), b);
  if (b.kind == Kind::kNumber) return 0 <=> compare_double(std::bit_cast<double>(b.bits), a);
  if (a.kind != b.kind) {  // a negative and a positive one
    return a.kind == Kind::kInt64 ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return a.kind == Kind::kUint64
             ? order(a.bits, b.bits)
             : order(static_cast<std::int64_t>(a.bits), static_cast<std::int64_t>(b.bits));
}

std::strong_ordering compare_items(const ItemView& a, const ItemView& b) {
  const bool a_text = a.number.kind == Kind::kText;
  const bool b_text = b.number.kind == Kind::kText;
  if (a_text != b_text) return order(a_text, b_text);
  return a_text ? order(a.text.compare(b.text), 0) : compare_numbers(a.number, b.number);
}

bool is_canonical_number(core::Value value) {
  switch (value.kind) {
    case Kind::kNumber: {
      const auto number = std::bit_cast<double>(value.bits);
      return std::isfinite(number) && core::number(number).bits == value.bits;
    }
    case Kind::kInt64:
      return core::integer(static_cast<std::int64_t>(value.bits)) == value;
    case Kind::kUint64:
      return core::integer(value.bits) == value;
    default:
      return false;
  }
}

void append_json_item(std::string& into, const ItemView& item) {
  if (item.number.kind == Kind::kText) return core::append_json_text(into, item.text);
  into += describe(Scalar{item.number});
}

}  // namespace weir::synopses
