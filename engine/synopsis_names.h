// Names of all synopses, those included that this version does not have, so that a request for one
// of them is not taken for a misspelling.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "synopses/types.h"
#include "weir/status.h"

namespace weir::engine {

// The kind that a request means. `name_key` and `id_key` say where the two were given, for
// messages. One of them may be absent; if both are there they must agree.
Result<const synopses::SynopsisType*> synopsis_kind(const synopses::Types& types,
                                                    std::optional<std::string_view> name,
                                                    std::string_view name_key,
                                                    std::optional<int> id, std::string_view id_key);

}  // namespace weir::engine
