// The field that a hierarchy aggregates when nobody names one: the only number of the records, or
// Titan's valueInW.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/layout.h"
#include "weir/status.h"

namespace weir::ingest {

inline constexpr std::string_view kTitanField = "valueInW";

// `bytes` are whole records from the start of the input, a header included. None: the bytes do not
// say, since none of their records can be read or has a number; more of them may. An error
// (kConfig) lists the numbers there are to choose from.
Result<std::optional<std::string>> default_field(const Layout& layout, std::string_view bytes);

}  // namespace weir::ingest
