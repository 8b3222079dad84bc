// Layout: what the records of an input look like and which parts are key, dataset, time and fields.
//
// `saams`, `titan` and `ticks` are built in (SEMANTICS A, docs/inputs.md); one's own is a TOML
// mapping. A layout is chosen by name, or detected from the first records.
// Thread safety: immutable after it is made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/block.h"
#include "core/keys.h"
#include "ingest/splitter.h"
#include "weir/status.h"

namespace weir::ingest {

enum class LayoutKind { kSaams, kTitan, kTicks, kMapping, kTuples };

// One's own layout: where things stand in a record.
struct Mapping {
  enum class Format { kNdjson, kCsv };
  Format format = Format::kNdjson;
  // JSON pointers ("/a/b") for kNdjson, column names or 0-based numbers for kCsv. Empty = absent.
  std::string stream;
  std::string dataset;
  std::string dataset_constant;  // used when `dataset` is empty
  std::string time;
  std::string date;                // a second column or pointer whose text is put before `time`
  std::string time_unit = "auto";  // auto | s | ms | us | ns | iso | a strptime-like pattern
  std::string zone = "UTC";        // of naive local times
  struct Field {
    std::string name;  // as requests name it
    std::string at;    // pointer or column; defaults to the name
  };
  std::vector<Field>
      fields;  // empty = every top-level number or string (kNdjson), every other column (kCsv)
  char delimiter = ',';  // kCsv
  bool header = true;    // kCsv: the first record names the columns
};

struct Layout {
  LayoutKind kind = LayoutKind::kSaams;
  Mapping mapping;  // kMapping only
  Framing framing() const;
  bool has_header() const;
  std::string name() const;
};

// "saams", "titan", "ticks". Anything else is an error that lists what there is.
Result<Layout> layout_by_name(std::string_view name);
// Unknown keys are errors with file:line:column and "did you mean". `file` is for messages only.
Result<Layout> parse_mapping(std::string_view toml, std::string_view file);
// The layout of the first record in `bytes` that fits one. An input that fits none is an error
// which says what was tried and how to name a layout; bytes with NUL are called binary.
Result<Layout> detect_layout(std::string_view bytes, std::string_view source_name);
// For `ticks`: dataset and stream from `<dataset>·<stream>·<suffix>.txt` (U+00B7), directories and
// a compression suffix left out.
struct TicksName {
  std::string dataset;
  std::string stream;
};
Result<TicksName> parse_ticks_name(std::string_view path);

// Parses the blocks of one layout into columns. One per ingest agent: it learns and keeps scratch.
// Never throws and never fails as a whole: what is wrong with a record is a Reject.
// Thread safety: single-writer. The KeyTable is shared.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // Fills `out` (reset first). The result depends on the block's bytes, its source and `fields`
  // alone, never on what was decoded before.
  virtual void decode(const core::Block& block, const core::FieldSet& fields,
                      core::Columns& out) = 0;
};
// `source_names` outlives the decoder and is indexed by Block::source (ticks needs it).
std::unique_ptr<Decoder> make_decoder(const Layout& layout, core::KeyTable& keys,
                                      const std::vector<std::string>& source_names);

}  // namespace weir::ingest
