#include <cstring>
#include <vector>

#include "core/block.h"
#include "core/keys.h"
#include "ingest/layout.h"
#include "replay/paced_source.h"

namespace weir::replay {
namespace {
// As the engine: after so many records that fit no layout there is none.
constexpr int kDetectRecords = 16;
}  // namespace

struct RecordTimes::Impl {
  std::optional<ingest::Layout> layout;
  std::size_t max_record_bytes = 0;
  int tried = 0;
  core::KeyTable keys;
  core::FieldSet no_fields;

  // The decoder of one source; the engine has its own.
  struct Reader {
    std::vector<std::string> names;
    std::unique_ptr<ingest::Decoder> decoder;
    core::Block block;
    core::Columns columns;
    bool header_seen = false;
  };
  std::optional<Time> time_of(Reader& reader, std::string_view record);
};

RecordTimes::RecordTimes(const Config& config) : impl_(std::make_shared<Impl>()) {
  auto layout = !config.mapping_toml.empty()
                    ? ingest::parse_mapping(config.mapping_toml, config.mapping_name)
                    : ingest::layout_by_name(config.layout);
  impl_->max_record_bytes = config.max_record_bytes;
  if (layout.ok()) impl_->layout = *std::move(layout);  // "auto" is no name: detected below
}
RecordTimes::~RecordTimes() = default;

std::optional<Time> RecordTimes::Impl::time_of(Reader& reader, std::string_view record) {
  if (!layout.has_value()) {
    if (tried++ >= kDetectRecords) return std::nullopt;
    auto detected = ingest::detect_layout(record, reader.names.front());
    if (!detected.ok()) return std::nullopt;
    layout = *std::move(detected);
  }
  core::Block& block = reader.block;
  if (reader.decoder == nullptr) {
    reader.decoder = ingest::make_decoder(*layout, keys, reader.names);
  }
  if (layout->has_header() && !std::exchange(reader.header_seen, true)) {
    while (!record.empty() && (record.back() == '\n' || record.back() == '\r')) {
      record.remove_suffix(1);
    }
    block.header = std::make_shared<const std::string>(record);
    return std::nullopt;
  }
  block.bytes.clear();
  block.bytes.reserve(record.size() + core::kBlockPadding);
  block.bytes.append(record.data(), record.size());
  std::memset(block.bytes.data() + record.size(), 0, core::kBlockPadding);
  reader.decoder->decode(block, no_fields, reader.columns);
  if (reader.columns.tuples() == 0 || reader.columns.time[0] == kNoTime.ns) return std::nullopt;
  return Time{reader.columns.time[0]};
}

PacedRecords RecordTimes::of_source(const std::string& name) {
  auto reader = std::make_shared<Impl::Reader>();
  reader->names.push_back(name);
  PacedRecords records;
  records.event_time = [impl = impl_, reader](std::string_view record) {
    return impl->time_of(*reader, record);
  };
  // Layouts that are detected have neither: a mapping alone says that there is a header or a quote.
  if (impl_->layout.has_value()) {
    records.header = impl_->layout->has_header();
    records.quotes = impl_->layout->framing() == ingest::Framing::kCsv;
  }
  records.max_record_bytes = impl_->max_record_bytes;
  return records;
}

}  // namespace weir::replay
