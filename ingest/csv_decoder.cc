// The decoder of CSV by a mapping. The places of a mapping are compiled against a header once, then
// every record is split and judged column by column.
#include "ingest/csv_decoder.h"

#include <simdjson.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <utility>

#include "ingest/csv_rejects.h"
#include "ingest/csv_split.h"
#include "ingest/csv_values.h"
#include "ingest/time_format.h"

namespace weir::ingest {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// Where things stand in the records under one header.
struct Places {
  struct Field {
    std::string name;
    std::size_t column;
  };
  bool exact = false;  // every record has `columns` of them, else at least so many
  std::size_t columns = 0;
  std::size_t stream = kNowhere, dataset = kNowhere, time = kNowhere, date = kNowhere;
  std::vector<Field> fields;
  bool every_other = false;  // without a header: every column that is none of the above
  std::string lacks;         // a key's place that the header does not have; empty = all there
};

// The columns of `header` by name, then by number. `count` is 0 if there is no header.
std::size_t find_place(const std::string& at, const CsvFields& header, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (header[i] == at) return i;
  }
  if (at.empty() || at.size() > 9 || at.find_first_not_of("0123456789") != std::string::npos) {
    return kNowhere;
  }
  const std::size_t column = std::stoul(at);
  return count == 0 || column < count ? column : kNowhere;
}

Places compile(const Mapping& mapping, const std::string* header_text) {
  CsvFields header(mapping.delimiter);
  const bool named = mapping.header && header_text != nullptr;
  Places places;
  if (named && !header.split(*header_text)) {
    places.lacks = "header: broken quoting";
    return places;
  }
  const std::size_t count = named ? header.size() : 0;
  const auto key = [&](const std::string& at, std::size_t& column) {
    if (at.empty()) return;
    column = find_place(at, header, count);
    if (column == kNowhere && places.lacks.empty()) places.lacks = "header: no column " + at;
    if (column != kNowhere) places.columns = std::max(places.columns, column + 1);
  };
  key(mapping.stream, places.stream);
  key(mapping.dataset, places.dataset);
  key(mapping.time, places.time);
  key(mapping.date, places.date);
  for (const Mapping::Field& field : mapping.fields) {
    const std::size_t column = find_place(field.at.empty() ? field.name : field.at, header, count);
    places.fields.push_back({field.name, column});
    if (column != kNowhere) places.columns = std::max(places.columns, column + 1);
  }
  places.every_other = mapping.fields.empty();
  if (named && places.every_other) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool taken =
          i == places.stream || i == places.dataset || i == places.time || i == places.date;
      if (!taken) places.fields.push_back({std::string(header[i]), i});
    }
    places.every_other = false;
  }
  places.exact = named;
  if (named) places.columns = count;
  return places;
}

class CsvDecoder final : public Decoder {
 public:
  CsvDecoder(const Mapping& mapping, core::KeyTable& keys, TimeFormat times)
      : mapping_(mapping), keys_(keys), times_(std::move(times)), split_(mapping.delimiter) {
    if (mapping_.dataset.empty()) dataset_ = keys_.dataset(mapping_.dataset_constant);
  }

  void decode(const core::Block& block, const core::FieldSet& fields, core::Columns& out) override;

 private:
  struct Judgement {
    bool ok = true;
    core::Reason reason = core::Reason::kCsv;
    std::string detail;
  };
  struct Key {
    std::string_view dataset, stream;
    std::int64_t time = kNoTime.ns;
  };

  void select(const core::FieldSet& fields, std::size_t columns);
  void add(std::string_view record, std::uint32_t& records, std::uint32_t newlines,
           core::Columns& out, BlockWalk& walk);
  Judgement judge(std::string_view record, Key& key);
  Judgement judge_key(Key& key);
  Judgement judge_values();
  void append(const Key& key, std::uint32_t record, core::Columns& out);

  Mapping mapping_;
  core::KeyTable& keys_;
  TimeFormat times_;
  CsvFields split_;
  DatasetId dataset_{};
  std::string last_dataset_;
  bool dataset_known_ = false;

  std::shared_ptr<const std::string> header_;  // that `places_` was compiled for
  bool compiled_ = false;
  Places places_;
  // For every name of the FieldSet its entry in `values_`, or kNowhere.
  std::vector<std::size_t> selected_;
  std::vector<core::Value> values_;  // of one record, by entry of places_.fields (or by column)
  bool utf8_ = false;                // the whole block is, so that no record need be looked at
};

CsvDecoder::Judgement CsvDecoder::judge_key(Key& key) {
  const auto column = [this](std::size_t at) {
    return at == kNowhere ? std::string_view() : split_[at];
  };
  key.stream = column(places_.stream);
  if (key.stream.empty()) return {false, core::Reason::kMissing, mapping_.stream};
  key.dataset = column(places_.dataset);
  if (places_.dataset != kNowhere && key.dataset.empty()) {
    return {false, core::Reason::kMissing, mapping_.dataset};
  }
  for (const auto& [at, name] :
       {std::pair{places_.date, &mapping_.date}, std::pair{places_.time, &mapping_.time}}) {
    if (at != kNowhere && split_[at].empty()) return {false, core::Reason::kMissing, *name};
  }
  if (places_.time == kNowhere && places_.date == kNowhere) return {};
  if (!times_.parse(column(places_.date), column(places_.time), key.time)) {
    return {false, core::Reason::kTime, places_.time == kNowhere ? mapping_.date : mapping_.time};
  }
  return {};
}

CsvDecoder::Judgement CsvDecoder::judge_values() {
  const std::size_t count = places_.every_other ? split_.size() : places_.fields.size();
  values_.assign(count, core::Value{});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = places_.every_other ? i : places_.fields[i].column;
    if (at == kNowhere || split_[at].empty()) continue;
    if (places_.every_other && (at == places_.stream || at == places_.dataset ||
                                at == places_.time || at == places_.date)) {
      continue;
    }
    switch (csv_value(split_[at], values_[i])) {
      case CsvValue::kNumber:
        break;
      case CsvValue::kText:
        values_[i].kind = core::Kind::kText;  // its place is known when the record is taken
        break;
      case CsvValue::kBadNumber:
        return {false, core::Reason::kNumber,
                places_.every_other ? std::to_string(at) : places_.fields[i].name};
    }
  }
  return {};
}

CsvDecoder::Judgement CsvDecoder::judge(std::string_view record, Key& key) {
  if (!utf8_ && !simdjson::validate_utf8(record.data(), record.size())) {
    return {false, core::Reason::kEncoding, "not UTF-8"};
  }
  if (!split_.split(record)) return {false, core::Reason::kCsv, "broken quoting"};
  if (!places_.lacks.empty()) return {false, core::Reason::kMissing, places_.lacks};
  if (places_.exact ? split_.size() != places_.columns : split_.size() < places_.columns) {
    return {false, core::Reason::kCsv, wrong_columns(places_.columns, split_.size())};
  }
  if (Judgement judgement = judge_key(key); !judgement.ok) return judgement;
  return judge_values();
}

void CsvDecoder::append(const Key& key, std::uint32_t record, core::Columns& out) {
  if (places_.dataset != kNowhere && (!dataset_known_ || key.dataset != last_dataset_)) {
    dataset_ = keys_.dataset(key.dataset);
    last_dataset_ = key.dataset;
    dataset_known_ = true;
  }
  const std::uint32_t tuple = out.tuples();
  out.record.push_back(record);
  out.stream.push_back(keys_.find_or_add(dataset_, key.stream));
  out.time.push_back(key.time);
  out.max_time = std::max(out.max_time, key.time);
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    core::Value value;
    if (const std::size_t entry = selected_[i]; entry < values_.size()) value = values_[entry];
    if (value.kind == core::Kind::kText) {
      const std::size_t entry = selected_[i];
      const std::string_view text =
          split_[places_.every_other ? entry : places_.fields[entry].column];
      value = core::text(static_cast<std::uint32_t>(out.text.size()),
                         static_cast<std::uint32_t>(text.size()));
      out.text.append(text.data(), text.size());
    }
    push_value(out.fields[i], tuple, value);
  }
}

void CsvDecoder::add(std::string_view record, std::uint32_t& records, std::uint32_t newlines,
                     core::Columns& out, BlockWalk& walk) {
  if (blank_line(record.data(), record.data() + record.size())) return;
  Key key;
  Judgement judgement = judge(record, key);
  if (judgement.ok) {
    append(key, records, out);
  } else {
    walk.reject(records, newlines, record, judgement.reason, std::move(judgement.detail));
  }
  ++records;
}

void CsvDecoder::select(const core::FieldSet& fields, std::size_t columns) {
  selected_.assign(fields.names.size(), kNowhere);
  for (std::size_t i = 0; i < fields.names.size(); ++i) {
    const std::string& name = fields.names[i];
    if (places_.every_other) {
      // Columns without a header are called by their numbers, written the shortest way.
      const std::size_t column = find_place(name, split_, 0);
      if (column < columns && std::to_string(column) == name) selected_[i] = column;
      continue;
    }
    for (std::size_t f = 0; f < places_.fields.size() && selected_[i] == kNowhere; ++f) {
      if (places_.fields[f].name == name) selected_[i] = f;
    }
  }
}

void CsvDecoder::decode(const core::Block& block, const core::FieldSet& fields,
                        core::Columns& out) {
  out.reset(fields.names.size());
  if (!compiled_ || block.header != header_) {
    header_ = block.header;
    places_ = compile(mapping_, header_.get());
    compiled_ = true;
  }
  select(fields, block.bytes.size() + 1);
  utf8_ = simdjson::validate_utf8(block.bytes.data(), block.bytes.size());
  BlockWalk walk(block, out);
  std::uint32_t records = 0, newlines = 0;
  const char* at = block.bytes.data();
  const char* const end = at + block.bytes.size();
  while (at < end) {
    if (walk.next_skip() <= newlines) walk.take_skips(newlines, records);
    const char* stop = csv_record_end(at, end);
    const std::string_view record(at, static_cast<std::size_t>(stop - at));
    const auto inner = static_cast<std::uint32_t>(std::count(at, stop, '\n'));
    if (inner == 0 || split_.split(record)) {
      add(record, records, newlines, out, walk);
    } else {
      // Broken quoting over several lines: a stray quote swallowed its neighbours. Each line is
      // judged alone, so that the good ones live; where this ends does not depend on it.
      std::uint32_t line = newlines;
      for (const char* from = at; from <= stop; ++line) {
        const char* next = std::find(from, stop, '\n');
        add({from, static_cast<std::size_t>(next - from)}, records, line, out, walk);
        from = next + 1;
      }
    }
    newlines += inner + (stop != end);
    at = stop + (stop != end);
  }
  walk.take_skips(BlockWalk::kNoSkip - 1, records);
  out.records = records;
  out.lines = walk.line(newlines);
}

}  // namespace

std::unique_ptr<Decoder> make_csv_decoder(const Mapping& mapping, core::KeyTable& keys) {
  auto times = TimeFormat::make(mapping.time_unit, mapping.zone);
  assert(times.ok() && "parse_mapping checks both");
  return std::make_unique<CsvDecoder>(mapping, keys, *std::move(times));
}

}  // namespace weir::ingest
