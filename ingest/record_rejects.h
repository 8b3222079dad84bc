// rejects_of(): rejects of records that a decoder took, for whoever refuses tuples later on: the
// places of the records in their block are found again, since columns do not keep them.
//
// Thread safety: thread-safe (pure).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/block.h"
#include "ingest/layout.h"

namespace weir::ingest {

// One reject for each of `records` (indices among the records of the block, ascending), with the
// line, offset and bytes that the decoder of `layout` would have given it, and without a detail.
// Cost: one walk over the block's bytes up to the last of them.
// REQUIRES: `block` has its bytes, and the decoder of `layout` found every one of `records` in it.
std::vector<core::Reject> rejects_of(const core::Block& block, const Layout& layout,
                                     std::span<const std::uint32_t> records, core::Reason reason);

}  // namespace weir::ingest
