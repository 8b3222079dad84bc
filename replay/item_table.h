// Lists of items, such as the frequent ones, as a table with a row an item.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <string>
#include <string_view>

namespace weir::replay {

// The table of a JSON array of objects, whose keys are the columns; empty for any other JSON.
// `width` as Table::render() takes it. REQUIRES: `json` is valid JSON, or empty.
std::string item_table(std::string_view json, int width);

}  // namespace weir::replay
