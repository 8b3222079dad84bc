// Bench: an NDJSON decoder with everything around it, beside the reference that it is held to.
//
// Thread safety: thread-compatible.
#pragma once

#include <bit>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/json_decoder.h"
#include "tests/ingest/json_reference.h"

namespace weir::ingest {

inline constexpr const char* kGood =
    R"({"streamID":"S1","dataSetKey":"D","date":"01/02/2019","time":"00:00:01","price":6.5,"volume":2})";

inline Layout layout_of(LayoutKind kind) {
  Layout layout;
  layout.kind = kind;
  return layout;
}

struct Bench {
  explicit Bench(Layout of = {}, core::FieldSet wanted = {{"price", "volume"}})
      : layout(std::move(of)),
        fields(std::move(wanted)),
        decoder(make_json_decoder(layout, keys)) {}

  const core::Columns& decode(std::string_view bytes) {
    block = block_of(bytes);
    decoder->decode(block, fields, columns);
    return columns;
  }
  std::string difference_from_reference(std::string_view bytes) {
    decode(bytes);
    return difference(JsonReference(layout).decode(bytes, fields), columns, keys);
  }
  double value(std::size_t field, std::size_t tuple) const {
    return std::bit_cast<double>(columns.fields[field].bits[tuple]);
  }

  Layout layout;
  core::FieldSet fields;
  core::KeyTable keys;
  std::unique_ptr<Decoder> decoder;
  core::Block block;
  core::Columns columns;
};

}  // namespace weir::ingest
