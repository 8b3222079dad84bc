// Block: a run of whole records as bytes, cut from one source, and what parsing made of it.
//
// The splitter fills a Block under the claim lock; one ingest agent parses it into Columns; shard
// workers only read both. All three live in a ring entry and are recycled with it.
// Thread safety: single-writer until the entry is published, immutable until it is consumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/array.h"
#include "core/value.h"
#include "weir/source.h"
#include "weir/types.h"

namespace weir::core {

// Bytes that may be read (never written) past the end of a block: simdjson's contract and the
// widest vector load of the shape parser.
inline constexpr std::size_t kBlockPadding = 128;

struct Block {
  Array<char> bytes;              // capacity() >= size() + kBlockPadding
  std::uint32_t source = 0;       // which source, in the order given
  std::uint64_t byte_offset = 0;  // of the first byte, in the decompressed source
  bool source_start = false;      // the first block of its source: line numbers start again
  // Records longer than the limit that the splitter passed over just before this block's first byte
  // are reported in Columns::rejects by the decoder from this list (record order is kept).
  struct Skipped {
    std::uint32_t before_line;   // number of newlines of this block before it
    std::uint64_t byte_offset;   // where it starts in the source
    std::uint64_t bytes;         // its length
    std::string head;            // its first bytes, for the rejects file
    std::uint32_t newlines = 1;  // in it, the one that ends it included (0 or 1 unless kCsv)
  };
  std::vector<Skipped> skipped;  // the splitter gives at most one, so its before_line is 0
  // Bytes that are still to be read, by whoever parses the block: then `bytes` is empty until
  // Splitter::load().
  struct Pending {
    std::shared_ptr<Source> source;  // null = nothing is pending
    std::uint64_t offset = 0;
    std::size_t length = 0;
  };
  Pending pending;
  // The header record of a CSV source that has one; it is no record of the block.
  std::shared_ptr<const std::string> header;
  // With source_start: newlines that were taken out with the header (blank lines before it, too),
  // so the first byte of the block stands on line header_lines + 1.
  std::uint32_t header_lines = 0;
};

// Why a record was rejected. Names: reason_name().
enum class Reason : std::uint8_t {
  kJson,      // not valid JSON (what simdjson's dom refuses), or not an object
  kCsv,       // wrong number of columns, broken quoting
  kMissing,   // a key, dataset or time that the layout needs is not there
  kType,      // it is there, but of the wrong type
  kTime,      // a time that is malformed or implausible
  kNumber,    // a number that is out of range, NaN or infinite
  kTooLong,   // longer than the record limit
  kEncoding,  // not valid UTF-8
  kFuture,    // dated too far ahead of stream time (engine/gate.h)
  kCount
};
const char* reason_name(Reason reason);

struct Reject {
  std::uint32_t record = 0;  // index among the records of its block
  std::uint32_t line = 0;    // newlines of its block before it
  Reason reason = Reason::kJson;
  std::uint64_t byte_offset = 0;  // in the decompressed source
  std::uint32_t length = 0;       // of `raw` before it was cut to kRejectSample
  std::string raw;                // its bytes without the newline, at most kRejectSample
  std::string detail;             // a few words, e.g. the key that is missing
};
inline constexpr std::size_t kRejectSample = 4096;

// The values of one field for the tuples of a block or batch.
struct Column {
  Array<std::uint64_t> bits;
  // Empty when every value is Kind::kNumber, which is the fast path; else one Kind per tuple.
  Array<Kind> kinds;
};

// The tuples of one block in record order. `record`, `stream`, `time` and every field column have
// one entry per tuple; rejected records have none.
struct Columns {
  std::uint32_t records = 0;  // records in the block, rejected ones included, empty lines not
  std::uint32_t lines = 0;    // newlines in the block, for line numbers, skipped records included
  Array<std::uint32_t> record;
  Array<StreamId> stream;
  Array<std::int64_t> time;  // ns; kNoTime.ns where the layout has none
  std::int64_t max_time = kNoTime.ns;
  std::vector<Column> fields;  // one per FieldSet name, same order
  Array<char> text;            // bytes of kText values
  std::vector<Reject> rejects;

  std::uint32_t tuples() const { return static_cast<std::uint32_t>(record.size()); }
  // Empties everything, keeping memory, and gives `field_count` columns.
  void reset(std::size_t field_count) {
    records = lines = 0;
    max_time = kNoTime.ns;
    record.clear();
    stream.clear();
    time.clear();
    text.clear();
    rejects.clear();
    fields.resize(field_count);
    for (Column& column : fields) {
      column.bits.clear();
      column.kinds.clear();
    }
  }
};

// The fields that the current plan and every accepted pending one read. Immutable; decoders compile
// their shapes against one and notice a new one by its address.
struct FieldSet {
  std::vector<std::string> names;
};

}  // namespace weir::core
