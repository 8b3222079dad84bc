// What can be wrong with requests before any record is seen: their own errors, parameters that make
// no synopsis or are not those that it stands with, queries that a synopsis would always refuse,
// and queries or deletes of a synopsis that no request ever builds.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"
#include "weir/status.h"

namespace weir::replay {

// The requests of one file.
struct RequestFile {
  std::string name;
  std::vector<engine::Request> requests;
};

// The text as requests; bad only when it is no JSON. The message begins with `name`.
Result<RequestFile> read_requests(std::string_view text, const std::string& name);

struct RequestError {
  std::size_t file;  // index of its file
  std::string text;  // one line: "name: request 3 (query CountMin of D/S price): …"
};

// The files are seen as one list, as a run sees them.
std::vector<RequestError> check_requests(std::span<const RequestFile> files);

}  // namespace weir::replay
