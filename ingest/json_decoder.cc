#include "ingest/json_decoder.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ingest/csv_rejects.h"
#include "ingest/json_layout.h"
#include "ingest/json_record.h"
#include "ingest/json_sink.h"

namespace weir::ingest {
namespace {

// `{"":1}` and its newline: no record is shorter.
constexpr std::size_t kShortestRecord = 7;

class JsonDecoder final : public Decoder {
 public:
  JsonDecoder(const Layout& layout, core::KeyTable& keys)
      : layout_(compile_json_layout(layout)), reader_(layout_, keys) {}

  void decode(const core::Block& block, const core::FieldSet& fields, core::Columns& out) override;

 private:
  void bind(const core::FieldSet& fields);

  JsonLayout layout_;
  JsonRecordReader reader_;
  JsonSink sink_;
  bool bound_ = false;
  std::vector<std::string> names_;  // that were bound
};

// Names are compared, not addresses: a new FieldSet may stand where an old one was.
void JsonDecoder::bind(const core::FieldSet& fields) {
  if (bound_ && names_ == fields.names) return;
  bound_ = true;
  names_ = fields.names;
  reader_.bind(fields);
}

void JsonDecoder::decode(const core::Block& block, const core::FieldSet& fields,
                         core::Columns& out) {
  bind(fields);
  out.reset(fields.names.size());
  sink_.open(out, block.bytes.size() / kShortestRecord + 1);
  BlockWalk walk(block, out);
  JsonRecordReader::Failure failure;
  std::uint32_t records = 0, newlines = 0;
  const char* at = block.bytes.data();
  const char* const end = at + block.bytes.size();
  while (at != end) {
    if (walk.next_skip() <= newlines) walk.take_skips(newlines, records);
    const auto* newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const char* const stop = newline != nullptr ? newline : end;
    if (!blank_line(at, stop)) {
      const std::string_view line(at, static_cast<std::size_t>(stop - at));
      if (!reader_.read(line, records, sink_, failure)) {
        walk.reject(records, newlines, line, failure.reason, std::move(failure.detail));
      }
      ++records;
    }
    newlines += newline != nullptr;
    at = stop + (newline != nullptr);
  }
  walk.take_skips(BlockWalk::kNoSkip - 1, records);
  sink_.close(out);
  out.records = records;
  out.lines = walk.line(newlines);
}

}  // namespace

std::unique_ptr<Decoder> make_json_decoder(const Layout& layout, core::KeyTable& keys) {
  return std::make_unique<JsonDecoder>(layout, keys);
}

}  // namespace weir::ingest
