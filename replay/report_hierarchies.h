// The part of a summary that is about hierarchies: results, what each hierarchy took, and what
// looks as if it were not meant.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <string>

#include "replay/report.h"

namespace weir::replay {

// Several lines, each with its newline; none when there is nothing to say.
std::string hierarchies_text(const Summary& summary, const ReportContext& context);

}  // namespace weir::replay
