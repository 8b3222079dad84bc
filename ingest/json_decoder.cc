#include "ingest/json_decoder.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ingest/csv_rejects.h"
#include "ingest/json_layout.h"
#include "ingest/json_record.h"
#include "ingest/json_sink.h"
#include "ingest/shape.h"

namespace weir::ingest {
namespace {

// `{"":1}` and its newline: no record is shorter.
constexpr std::size_t kShortestRecord = 7;

// Fallback records to let pass before a further attempt to learn: after a shape was put in the
// place of another, and after an attempt that gave nothing. Learning costs about as much as reading
// a record by the dom, so hostile input is slowed by a few per cent at most.
constexpr std::uint32_t kWaitAfterReplacing = 256;
constexpr std::uint32_t kWaitAfterNothing = 16;

class JsonDecoder final : public Decoder {
 public:
  JsonDecoder(const Layout& layout, core::KeyTable& keys)
      : layout_(compile_json_layout(layout)), keys_(keys), reader_(layout_, keys), shapes_(keys) {}

  void decode(const core::Block& block, const core::FieldSet& fields, core::Columns& out) override;

 private:
  // Where a block stands.
  struct Position {
    const char* at = nullptr;
    const char* end = nullptr;
    std::uint32_t records = 0;
    std::uint32_t newlines = 0;
  };
  void bind(const core::FieldSet& fields);
  void take_shapes(Position& position, std::uint32_t stop_newlines);
  void run(Position& position, const char* from, const char* limit, std::uint32_t stop_newlines);
  void learn(std::string_view line);

  JsonLayout layout_;
  core::KeyTable& keys_;
  JsonRecordReader reader_;
  JsonSink sink_;
  bool bound_ = false;
  core::FieldSet fields_;  // that were bound
  ShapeSet shapes_;
  std::uint32_t learn_wait_ = 0;
  std::size_t next_victim_ = 0;
  // The end of a block, copied so that zeros follow it: a shape never matches zeros, so it cannot
  // run past the end, and the loop over the rest of the block needs no checks.
  core::Array<char> tail_;
  const char* tail_from_ = nullptr;  // the byte of the block that tail_[0] is; null: not copied
  std::size_t tail_extent_ = 0;
};

// Names are compared, not addresses: a new FieldSet may stand where an old one was.
void JsonDecoder::bind(const core::FieldSet& fields) {
  if (bound_ && fields_.names == fields.names) return;
  bound_ = true;
  fields_ = fields;
  reader_.bind(fields_);
  std::vector<Shape> kept;
  for (Shape& shape : shapes_.shapes) {
    if (shape.bind(layout_, fields_)) kept.push_back(std::move(shape));
  }
  shapes_.shapes = std::move(kept);
  shapes_.current = 0;
  learn_wait_ = 0;
}

void JsonDecoder::learn(std::string_view line) {
  if (learn_wait_ > 0) {
    --learn_wait_;
    return;
  }
  learn_wait_ = kWaitAfterNothing;
  Shape shape;
  if (!shape.learn(line, layout_)) return;
  for (const Shape& known : shapes_.shapes) {
    if (known.same_structure(shape)) return;
  }
  if (!shape.bind(layout_, fields_)) return;
  if (layout_.dataset.empty()) shapes_.constant_dataset = keys_.dataset(layout_.dataset_constant);
  if (shapes_.shapes.size() < ShapeSet::kMost) {
    shapes_.shapes.push_back(std::move(shape));
    learn_wait_ = 0;
    return;
  }
  next_victim_ = (next_victim_ + 1) % ShapeSet::kMost;
  if (next_victim_ == shapes_.current) next_victim_ = (next_victim_ + 1) % ShapeSet::kMost;
  shapes_.shapes[next_victim_] = std::move(shape);
  learn_wait_ = kWaitAfterReplacing;
}

// `from` is where position.at is read: in the block or in its copied tail.
void JsonDecoder::run(Position& position, const char* from, const char* limit,
                      std::uint32_t stop_newlines) {
  ShapeRun run{from, limit, position.records, position.newlines, stop_newlines};
  run_shapes(shapes_, sink_, reader_.clock(), run);
  position.at += run.at - from;
  position.records = run.records;
  position.newlines = run.newlines;
}

void JsonDecoder::take_shapes(Position& position, std::uint32_t stop_newlines) {
  if (shapes_.shapes.empty()) return;
  const std::size_t extent = shapes_.extent();
  if (static_cast<std::size_t>(position.end - position.at) > extent) {
    const char* const limit = position.end - extent;
    run(position, position.at, limit, stop_newlines);
    if (position.at < limit) return;
  }
  if (tail_from_ == nullptr || extent > tail_extent_ || position.at < tail_from_) {
    const auto rest = static_cast<std::size_t>(position.end - position.at);
    tail_.clear();
    tail_.append(position.at, rest);
    tail_.resize(rest + extent + kSegmentBytes);
    std::memset(tail_.data() + rest, 0, extent + kSegmentBytes);
    tail_from_ = position.at;
    tail_extent_ = extent;
  }
  const char* const tail = tail_.data();
  run(position, tail + (position.at - tail_from_), tail + (position.end - tail_from_),
      stop_newlines);
}

void JsonDecoder::decode(const core::Block& block, const core::FieldSet& fields,
                         core::Columns& out) {
  bind(fields);
  out.reset(fields.names.size());
  sink_.open(out, block.bytes.size() / kShortestRecord + 1);
  tail_from_ = nullptr;
  BlockWalk walk(block, out);
  JsonRecordReader::Failure failure;
  Position position{block.bytes.data(), block.bytes.data() + block.bytes.size(), 0, 0};
  while (position.at != position.end) {
    if (walk.next_skip() <= position.newlines) {
      walk.take_skips(position.newlines, position.records);
    }
    take_shapes(position, walk.next_skip());
    if (position.at == position.end) break;
    if (walk.next_skip() <= position.newlines) continue;
    const auto rest = static_cast<std::size_t>(position.end - position.at);
    const auto* newline = static_cast<const char*>(std::memchr(position.at, '\n', rest));
    const char* const stop = newline != nullptr ? newline : position.end;
    if (!blank_line(position.at, stop)) {
      const std::string_view line(position.at, static_cast<std::size_t>(stop - position.at));
      if (!reader_.read(line, position.records, sink_, failure)) {
        walk.reject(position.records, position.newlines, line, failure.reason,
                    std::move(failure.detail));
      } else if (newline != nullptr) {
        learn({line.data(), line.size() + 1});
      }
      ++position.records;
    }
    position.newlines += newline != nullptr;
    position.at = stop + (newline != nullptr);
  }
  walk.take_skips(BlockWalk::kNoSkip - 1, position.records);
  sink_.close(out);
  out.records = position.records;
  out.lines = walk.line(position.newlines);
}

}  // namespace

std::unique_ptr<Decoder> make_json_decoder(const Layout& layout, core::KeyTable& keys) {
  return std::make_unique<JsonDecoder>(layout, keys);
}

}  // namespace weir::ingest
