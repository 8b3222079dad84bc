// Lists of items, such as the frequent ones, and of pairs of streams, for reading: as a table with
// a row an item, or in short on one line.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <string>
#include <string_view>

namespace weir::replay {

// The table of a JSON array of objects, whose keys are the columns; empty for any other JSON.
// `width` as Table::render() takes it. REQUIRES: `json` is valid JSON, or empty.
std::string item_table(std::string_view json, int width);

// The first of a list and how many there are: "6.05: 120, 100.5: 7, … 12" of items with estimates,
// "2 of 45 pairs, 7 compared: S0000-S0003 0.98, …" of the answer to a search. Empty for any other
// JSON. REQUIRES: as above.
std::string items_line(std::string_view json);

}  // namespace weir::replay
