// Frames: tuples that a host pushes, as bytes, so that they flow through the same blocks, cuts and
// rings as records of a file.
//
// One frame is one record. All numbers are little-endian:
//   u32  bytes that follow (Framing::kFrames)
//   i64  time, ns since 1970, or kNoTime
//   u32  number of fields
//   u32 u32  bytes of the dataset's name, of the stream's name; then both names
//   for each field:  u8 type (FieldValue::Type)  u32 bytes of the name, the name
//                    8 bytes of the value, or u32 bytes of the text, the text
// Thread safety: thread-safe (pure); the decoder is single-writer.
#pragma once

#include <memory>
#include <string>

#include "core/keys.h"
#include "ingest/layout.h"
#include "weir/engine.h"
#include "weir/status.h"

namespace weir::ingest {

// May the tuple be pushed? A pushed tuple is not bytes of a file, so what would reject a record is
// an error here: an empty dataset, stream or field name, a number that is NaN or infinite, a time
// outside 1900 to 2200, names or text that are not UTF-8, or more than 4 GiB of them.
Status check_tuple(const Tuple& tuple);

// Appends the tuple as a frame. REQUIRES: check_tuple(tuple).ok().
void append_frame(std::string& out, const Tuple& tuple);

// Decodes frames. What check_tuple refuses, and a frame whose parts do not add up, is a reject (of
// two fields with one name the first counts). A reject's line is its record number.
std::unique_ptr<Decoder> make_frame_decoder(core::KeyTable& keys);

}  // namespace weir::ingest
