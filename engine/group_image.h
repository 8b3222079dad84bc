// Options of groups as bytes: in snapshots, and where they are compared.
//
// Thread safety: thread-safe (pure).
#pragma once

#include "core/bytes.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::engine {

void save(const GroupOptions& options, core::Writer& out);
// kInvalid: damaged, or options that no configuration could have.
Result<GroupOptions> restore_group_options(core::Reader& in);

}  // namespace weir::engine
