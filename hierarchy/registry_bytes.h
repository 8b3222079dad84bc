// A registry as bytes, for whatever a run leaves behind to be resumed from.
//
//   u32 sensors; of each: text identifier, text name
//   u32 groups;  of each: text identifier, text name, u32 members; of each: u32, twice its index
//                among the sensors, or the groups, and one more for a group
//
// Invariants
//  1. Equal registries with equal names give equal bytes, and these give the same registry: groups,
//     sensors and members have the numbers they had.
//  2. Bytes that save() would not have written are refused; none make it read or allocate beyond
//     what there is.
// Thread safety: pure.
#pragma once

#include "core/bytes.h"
#include "hierarchy/registry.h"

namespace weir::hierarchy {

void save(const Registry& registry, core::Writer& into);
// kInvalid says what is wrong.
Result<Registry> restore_registry(core::Reader& in);

}  // namespace weir::hierarchy
