// What can be wrong with requests before any record is seen: their own errors, parameters that make
// no synopsis or are not those that it stands with, queries that a synopsis would always refuse,
// and requests about a synopsis that no request ever builds.
//
// Invariants
//  1. An error is what a run would answer, whatever its input; what depends on the input, on state
//     files or on options that are not known is passed over.
// Thread safety: thread-safe (pure, but for the plug-ins that requests load).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds.h"
#include "replay/request_standings.h"
#include "weir/status.h"

namespace weir::replay {

// The text as requests; bad only when it is no JSON. The message begins with `name`. Plug-ins that
// they name are loaded into `kinds`, which outlives them.
Result<RequestFile> read_requests(std::string_view text, const std::string& name,
                                  engine::Kinds& kinds);

struct RequestError {
  std::size_t file;  // index of its file
  std::string text;  // one line: "name: request 3 (query CountMin of D/S price): …"
};

// The files are seen as one list, as a run sees them.
std::vector<RequestError> check_requests(std::span<const RequestFile> files);

}  // namespace weir::replay
