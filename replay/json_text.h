// JSON strings for the program's own reports.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <string>
#include <string_view>

namespace weir::replay {

// With its quotes. The text is taken to be UTF-8.
std::string json_string(std::string_view text);

}  // namespace weir::replay
