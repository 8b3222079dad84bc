// The decoder of NDJSON: saams, titan and mappings of JSON pointers.
//
// A record is a line that is not blank; what simdjson's dom refuses is rejected. Records in one of
// the shapes learned so far are taken by the shape path (ingest/shape.h) with the same result as by
// the dom (ingest/json_record.h), several times faster. Thread safety: single-writer; the KeyTable
// is shared.
#pragma once

#include <memory>

#include "core/keys.h"
#include "ingest/layout.h"

namespace weir::ingest {

// REQUIRES: saams, titan, or a mapping of format kNdjson that parse_mapping made.
std::unique_ptr<Decoder> make_json_decoder(const Layout& layout, core::KeyTable& keys);

}  // namespace weir::ingest
