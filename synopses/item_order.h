// Item order: one total order over everything that can be an item, and items as JSON.
//
// Numbers come before texts; numbers by their exact value, whichever kind holds them; texts by
// their bytes. Thread safety: thread-safe (pure).
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "core/value.h"
#include "synopses/items.h"

namespace weir::synopses {

// An item on its own: a number's bits, or a text.
struct ItemView {
  core::Value number;     // kind kText: the text is in `text`, and bits say nothing
  std::string_view text;  // empty for numbers
};

inline ItemView view_of(const Items& items, std::size_t i) {
  const core::Kind kind = items.kinds() == nullptr ? core::Kind::kNumber : items.kinds()[i];
  const core::Value value{items.bits()[i], kind};
  if (kind != core::Kind::kText) return {value, {}};
  return {value, core::text_of(value, items.text())};
}

// By exact value: 2^63 + 1 as an integer lies between the doubles around it. REQUIRES: numbers in
// canonical form (core/value.h).
std::strong_ordering compare_numbers(core::Value a, core::Value b);
std::strong_ordering compare_items(const ItemView& a, const ItemView& b);

// Whether a number is in the one form that core/value.h allows; false for texts.
bool is_canonical_number(core::Value value);

// The item as JSON: integers with every digit, texts quoted and escaped.
void append_json_item(std::string& into, const ItemView& item);

}  // namespace weir::synopses
