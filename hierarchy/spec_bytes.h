// Options of hierarchies as bytes.
//
// Equal options give equal bytes. Thread safety: pure.
#pragma once

#include "core/bytes.h"
#include "hierarchy/groups.h"

namespace weir::hierarchy {

void save(const GroupOptions& options, core::Writer& into);
// False: the bytes are none, or options that check() refuses.
bool restore(GroupOptions& into, core::Reader& in);
void save(const Spec& spec, core::Writer& into);
bool restore(Spec& into, core::Reader& in);

}  // namespace weir::hierarchy
