#include "ingest/frames.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/csv_rejects.h"
#include "ingest/digits.h"
#include "ingest/framing.h"
#include "ingest/json_sink.h"
#include "ingest/times.h"

namespace weir::ingest {
namespace {

using Type = FieldValue::Type;

constexpr std::size_t kHead = 8 + 4 + 4 + 4;  // time, fields, lengths of both names
constexpr std::size_t kShortestField = 1 + 4 + 1 + 4;
constexpr std::size_t kShortestFrame = kFramePrefix + kHead + 2;

bool is_utf8(std::string_view text) {
  // Names are short and nearly always ASCII: eight bytes at a time, without a call.
  std::uint64_t high = 0;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) high |= load8(text.data() + i);
  for (; i < text.size(); ++i) high |= static_cast<unsigned char>(text[i]);
  if ((high & 0x8080808080808080u) == 0) return true;
  return simdjson::validate_utf8(text.data(), text.size());
}

bool plausible(Time time) {
  std::int64_t nanos = 0;
  return !time.known() || epoch_to_nanos(time.ns, EpochUnit::kNanos, nanos);
}

template <class T>
char* put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}
char* put_bytes(char* at, std::string_view text) {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}
template <class T>
T get(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint64_t frame_bytes(const Tuple& tuple) {
  std::uint64_t bytes = kHead + std::uint64_t{tuple.dataset.size()} + tuple.stream.size();
  for (const FieldValue& field : tuple.fields) {
    bytes += 1 + 4 + std::uint64_t{field.name.size()} +
             (field.type == Type::kText ? 4 + std::uint64_t{field.text.size()} : 8);
  }
  return bytes;
}

Status invalid(std::string message) { return {Code::kInvalid, std::move(message)}; }

}  // namespace

Status check_tuple(const Tuple& tuple) {
  if (tuple.dataset.empty()) return invalid("a tuple needs a dataset");
  if (tuple.stream.empty()) return invalid("a tuple needs a stream");
  if (!is_utf8(tuple.dataset)) return invalid("the dataset's name is not UTF-8");
  if (!is_utf8(tuple.stream)) return invalid("the stream's name is not UTF-8");
  if (!plausible(tuple.time)) {
    return invalid(
        fmt::format("time: {} ns since 1970 is not between 1900 and 2200; leave kNoTime "
                    "if there is none",
                    tuple.time.ns));
  }
  for (const FieldValue& field : tuple.fields) {
    if (field.name.empty()) return invalid("a field needs a name");
    if (!is_utf8(field.name)) return invalid("a field's name is not UTF-8");
    if (field.type == Type::kDouble && !std::isfinite(field.real)) {
      return invalid(
          fmt::format("field \"{}\": {} is no value; leave the field out", field.name, field.real));
    }
    if (field.type == Type::kText && !is_utf8(field.text)) {
      return invalid(fmt::format("field \"{}\": its text is not UTF-8", field.name));
    }
  }
  if (frame_bytes(tuple) > UINT32_MAX) return invalid("a tuple of more than 4 GiB");
  return {};
}

void append_frame(std::string& out, const Tuple& tuple) {
  const std::uint64_t bytes = frame_bytes(tuple);
  const std::size_t before = out.size();
  out.resize(before + kFramePrefix + bytes);
  char* at = out.data() + before;
  at = put(at, static_cast<std::uint32_t>(bytes));
  at = put(at, tuple.time.ns);
  at = put(at, static_cast<std::uint32_t>(tuple.fields.size()));
  at = put(at, static_cast<std::uint32_t>(tuple.dataset.size()));
  at = put(at, static_cast<std::uint32_t>(tuple.stream.size()));
  at = put_bytes(at, tuple.dataset);
  at = put_bytes(at, tuple.stream);
  for (const FieldValue& field : tuple.fields) {
    at = put(at, field.type);
    at = put(at, static_cast<std::uint32_t>(field.name.size()));
    at = put_bytes(at, field.name);
    switch (field.type) {
      case Type::kDouble:
        at = put(at, field.real);
        break;
      case Type::kInt64:
        at = put(at, field.signed_integer);
        break;
      case Type::kUint64:
        at = put(at, field.unsigned_integer);
        break;
      case Type::kText:
        at = put(at, static_cast<std::uint32_t>(field.text.size()));
        at = put_bytes(at, field.text);
        break;
    }
  }
}

namespace {

class FrameDecoder final : public Decoder {
 public:
  explicit FrameDecoder(core::KeyTable& keys) : keys_(keys) {}

  void decode(const core::Block& block, const core::FieldSet& fields, core::Columns& out) override;

 private:
  static constexpr std::size_t kUnused = static_cast<std::size_t>(-1);
  struct Judgement {
    bool ok = true;
    core::Reason reason = core::Reason::kType;
    const char* detail = "malformed frame";
  };
  // Hosts push the same fields in the same order, so a field's place in its frame nearly always
  // tells its column.
  struct Place {
    std::string name;
    std::size_t column = kUnused;
  };
  struct Field {
    std::size_t column;
    core::Value value;
    std::string_view text;  // of kText
  };

  Judgement judge(std::string_view frame, Time& time, std::string_view& stream);
  Judgement judge_field(std::string_view frame, std::size_t& at, std::size_t number);
  std::size_t column_of(std::string_view name, std::size_t number);
  void write(std::uint32_t record, StreamId stream, Time time);

  core::KeyTable& keys_;
  DatasetId dataset_{};
  std::string dataset_name_;  // empty: none yet
  const core::FieldSet* fields_ = nullptr;
  std::vector<Place> places_;
  std::vector<Field> taken_;                 // of one frame: the fields that have a column
  std::vector<std::uint32_t> column_tuple_;  // by column: one more than the last tuple written
  JsonSink sink_;
};

std::size_t FrameDecoder::column_of(std::string_view name, std::size_t number) {
  constexpr std::size_t kPlaces = 64;  // fields beyond are looked up every time
  if (number < places_.size() && places_[number].name == name) return places_[number].column;
  std::size_t column = kUnused;
  for (std::size_t i = 0; i < fields_->names.size() && column == kUnused; ++i) {
    if (fields_->names[i] == name) column = i;
  }
  if (number < kPlaces) {
    if (places_.size() <= number) places_.resize(number + 1);
    places_[number] = {std::string(name), column};
  }
  return column;
}

FrameDecoder::Judgement FrameDecoder::judge_field(std::string_view frame, std::size_t& at,
                                                  std::size_t number) {
  if (frame.size() - at < kShortestField) return {false};
  const auto type = static_cast<Type>(frame[at]);
  const auto name_size = get<std::uint32_t>(frame.data() + at + 1);
  at += 5;
  if (frame.size() - at < name_size) return {false};
  const std::string_view name = frame.substr(at, name_size);
  at += name_size;
  if (name.empty()) return {false, core::Reason::kMissing, "name of a field"};
  if (!is_utf8(name)) return {false, core::Reason::kEncoding, "name of a field"};
  Field field{column_of(name, number), {}, {}};
  if (type == Type::kText) {
    if (frame.size() - at < 4) return {false};
    const auto text_size = get<std::uint32_t>(frame.data() + at);
    at += 4;
    if (frame.size() - at < text_size) return {false};
    field.text = frame.substr(at, text_size);
    field.value.kind = core::Kind::kText;
    at += text_size;
    if (!is_utf8(field.text)) return {false, core::Reason::kEncoding, "text of a field"};
  } else {
    if (frame.size() - at < 8) return {false};
    switch (type) {
      case Type::kDouble: {
        const auto value = get<double>(frame.data() + at);
        if (!std::isfinite(value)) return {false, core::Reason::kNumber, "NaN or infinite"};
        field.value = core::number(value);
        break;
      }
      case Type::kInt64:
        field.value = core::integer(get<std::int64_t>(frame.data() + at));
        break;
      case Type::kUint64:
        field.value = core::integer(get<std::uint64_t>(frame.data() + at));
        break;
      default:
        return {false, core::Reason::kType, "unknown type of a field"};
    }
    at += 8;
  }
  if (field.column != kUnused) taken_.push_back(field);
  return {};
}

FrameDecoder::Judgement FrameDecoder::judge(std::string_view frame, Time& time,
                                            std::string_view& stream) {
  taken_.clear();
  if (frame.size() < kHead) return {false};
  time.ns = get<std::int64_t>(frame.data());
  const auto count = get<std::uint32_t>(frame.data() + 8);
  const auto dataset_size = get<std::uint32_t>(frame.data() + 12);
  const auto stream_size = get<std::uint32_t>(frame.data() + 16);
  const std::uint64_t names = std::uint64_t{dataset_size} + stream_size;
  if (frame.size() - kHead < names) return {false};
  const std::string_view dataset = frame.substr(kHead, dataset_size);
  stream = frame.substr(kHead + dataset_size, stream_size);
  if (dataset.empty()) return {false, core::Reason::kMissing, "dataset"};
  if (stream.empty()) return {false, core::Reason::kMissing, "stream"};
  if (!is_utf8(stream)) return {false, core::Reason::kEncoding, "stream"};
  if (!plausible(time)) return {false, core::Reason::kTime, "implausible"};
  std::size_t at = kHead + names;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (Judgement judgement = judge_field(frame, at, i); !judgement.ok) return judgement;
  }
  if (at != frame.size()) return {false};
  if (dataset != dataset_name_) {
    if (!is_utf8(dataset)) return {false, core::Reason::kEncoding, "dataset"};
    dataset_ = keys_.dataset(dataset);
    dataset_name_ = dataset;
  }
  return {};
}

void FrameDecoder::write(std::uint32_t record, StreamId stream, Time time) {
  const std::uint32_t mark = sink_.tuples + 1;
  for (const Field& field : taken_) {
    if (column_tuple_[field.column] == mark) continue;  // of two with one name the first counts
    column_tuple_[field.column] = mark;
    if (field.value.kind == core::Kind::kText) {
      sink_.put_text(field.column, field.text);
    } else {
      sink_.put(field.column, field.value);
    }
  }
  for (std::size_t i = 0; i < column_tuple_.size(); ++i) {
    if (column_tuple_[i] != mark) sink_.put(i, core::Value{});
  }
  sink_.commit(record, stream, time.ns);
}

void FrameDecoder::decode(const core::Block& block, const core::FieldSet& fields,
                          core::Columns& out) {
  out.reset(fields.names.size());
  fields_ = &fields;
  places_.clear();
  column_tuple_.assign(fields.names.size(), 0);
  sink_.open(out, block.bytes.size() / kShortestFrame + 1);
  BlockWalk walk(block, out);
  std::uint32_t records = 0;
  const std::string_view bytes(block.bytes.data(), block.bytes.size());
  std::size_t at = 0;
  walk.take_skips(0, records);
  while (at < bytes.size()) {
    const std::size_t left = bytes.size() - at;
    const bool whole =
        left >= kFramePrefix && get<std::uint32_t>(bytes.data() + at) <= left - kFramePrefix;
    const std::size_t size = whole ? kFramePrefix + get<std::uint32_t>(bytes.data() + at) : left;
    Time time;
    std::string_view stream;
    Judgement judgement{false};
    if (whole)
      judgement = judge(bytes.substr(at + kFramePrefix, size - kFramePrefix), time, stream);
    if (judgement.ok) {
      write(records, keys_.find_or_add(dataset_, stream), time);
    } else {
      walk.reject(records, records, bytes.substr(at, size), judgement.reason, judgement.detail);
    }
    ++records;
    at += size;
  }
  sink_.close(out);
  out.records = records;
  out.lines = records;
}

}  // namespace

std::unique_ptr<Decoder> make_frame_decoder(core::KeyTable& keys) {
  return std::make_unique<FrameDecoder>(keys);
}

}  // namespace weir::ingest
