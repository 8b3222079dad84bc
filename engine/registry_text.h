// Registries from text: Titan's JSON, and CSV of child,parent for large plants.
//
// Invariants
//  1. In JSON null is as absent; keys other than identifier, name and children are not looked at.
//  2. The first line of CSV may be a header, child,parent or parent,child in any case: it says
//  which
//     is which. Without one the child comes first.
//  3. A message is one line and stays short; it begins with the path, or with the line if the text
//     itself is wrong.
// Thread safety: thread-safe (pure).
#pragma once

#include <string_view>
#include <vector>

#include "hierarchy/registry.h"
#include "weir/status.h"

namespace weir::engine {

// One registry for a JSON object; one for each root of a CSV. Text that begins with '{' or '[' is
// JSON. Errors (kConfig) begin with `file`, and line and column where there are some.
Result<std::vector<hierarchy::Registry>> parse_registries(std::string_view text,
                                                          std::string_view file);
// Of a JSON object alone, without a file to name. REQUIRES: a JsonScan has accepted it.
Result<hierarchy::Registry> parse_registry(std::string_view json);

}  // namespace weir::engine
