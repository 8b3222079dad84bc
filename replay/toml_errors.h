// TOML errors: what is wrong with a TOML file, with its place: "file:line:column: message".
//
// Thread safety: thread-safe (pure).
#pragma once

#include <toml++/toml.h>
#include <string>
#include <vector>

#include "weir/status.h"

namespace weir::replay {

// Code::kConfig.
Status toml_error(const std::string& file, const toml::source_region& at,
                  const std::string& message);
// "an integer".
const char* type_name(toml::node_type type);
// The text as a table.
Result<toml::table> parse_toml(std::string_view text, const std::string& file);

}  // namespace weir::replay
