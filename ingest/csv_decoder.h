// Decoders of comma-separated records: `ticks` (no header, keys from the name of the file) and CSV
// by a mapping.
//
// Both give the same columns for every way in which the input was cut into blocks, and judge a
// record by the layout alone, never by the FieldSet. Thread safety: single-writer each; the
// KeyTable is shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/keys.h"
#include "ingest/layout.h"

namespace weir::ingest {

// `MM/DD/YYYY,HH:MM:SS,price,volume`: four columns, no quotes, fields `price` and `volume`, both
// numbers. Framing::kLines. Dataset and stream come from the source's name (parse_ticks_name);
// every record of a source whose name does not follow the rule is rejected with kMissing. REQUIRES:
// `source_names` outlives the decoder.
std::unique_ptr<Decoder> make_ticks_decoder(core::KeyTable& keys,
                                            const std::vector<std::string>& source_names);

// RFC 4180 by a mapping: quoted fields, doubled quotes, newlines inside quotes, CRLF or LF.
// Framing::kCsv. An empty field is missing, a field that parse_csv_number takes is a number, one
// that is out of its range, NaN or infinite rejects the record, any other is text. REQUIRES:
// `mapping.format` is kCsv and parse_mapping made it.
std::unique_ptr<Decoder> make_csv_decoder(const Mapping& mapping, core::KeyTable& keys);

}  // namespace weir::ingest
