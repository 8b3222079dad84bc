// The decoder of NDJSON once more, written for clarity: one record at a time, every part looked up
// by simdjson's dom on a padded copy, nothing remembered. The oracle of the tests and of the
// fuzzer.
//
// Thread safety: single-writer.
#pragma once

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/block.h"
#include "core/keys.h"
#include "ingest/layout.h"
#include "ingest/time_format.h"
#include "ingest/times.h"

namespace weir::ingest {

struct ReferenceRecord {
  bool tuple = false;
  core::Reason reason = core::Reason::kJson;
  std::string raw;
  std::uint32_t line = 0;
  std::uint64_t offset = 0;
  std::string dataset, stream;
  std::int64_t time = kNoTime.ns;
  std::vector<core::Value> values;  // bits of kText: none
  std::vector<std::string> texts;   // of kText values, else empty
};

class JsonReference {
 public:
  explicit JsonReference(const Layout& layout) : layout_(layout) {
    if (layout.kind == LayoutKind::kMapping) {
      format_ = *TimeFormat::make(layout.mapping.time_unit, layout.mapping.zone);
    }
  }

  std::vector<ReferenceRecord> decode(std::string_view bytes, const core::FieldSet& fields) {
    std::vector<ReferenceRecord> records;
    std::uint32_t line = 0;
    for (std::size_t at = 0; at < bytes.size(); ++line) {
      std::size_t end = bytes.find('\n', at);
      if (end == std::string_view::npos) end = bytes.size();
      const std::string_view text = bytes.substr(at, end - at);
      if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
        ReferenceRecord record = read(text, fields);
        record.line = line;
        record.offset = at;
        record.raw = text;
        records.push_back(std::move(record));
      }
      at = end + 1;
    }
    return records;
  }

 private:
  struct Refused {
    core::Reason reason;
  };

  ReferenceRecord read(std::string_view text, const core::FieldSet& fields) {
    ReferenceRecord record;
    try {
      const simdjson::padded_string padded(text);
      simdjson::dom::element root;
      const auto error = parser_.parse(padded).get(root);
      if (error == simdjson::UTF8_ERROR) throw Refused{core::Reason::kEncoding};
      if (error == simdjson::NUMBER_ERROR) throw Refused{core::Reason::kNumber};
      if (error != simdjson::SUCCESS || !root.is_object()) throw Refused{core::Reason::kJson};
      root_ = root;
      padded_ = &padded;
      switch (layout_.kind) {
        case LayoutKind::kSaams:
          saams(record);
          break;
        case LayoutKind::kTitan:
          titan(record);
          break;
        default:
          mapped(record);
          break;
      }
      for (const std::string& name : fields.names) field(name, record);
      record.tuple = true;
    } catch (const Refused& refused) {
      record.reason = refused.reason;
    }
    return record;
  }

  static std::string pointer_of(std::string_view key) {
    if (!key.empty() && key[0] == '/') return std::string(key);
    std::string pointer = "/";
    for (const char c : key) {
      if (c == '~') {
        pointer += "~0";
      } else if (c == '/') {
        pointer += "~1";
      } else {
        pointer += c;
      }
    }
    return pointer;
  }
  bool has(std::string_view pointer, simdjson::dom::element& value) {
    return root_.at_pointer(pointer).get(value) == simdjson::SUCCESS;
  }
  // The text of a number as it is written, by the other interface of simdjson.
  std::string written(std::string_view pointer) {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::value value;
    if (parser.iterate(*padded_).get(document) != simdjson::SUCCESS) std::abort();
    if (document.at_pointer(pointer).get(value) != simdjson::SUCCESS) return "?";
    std::string_view token = value.raw_json_token();
    return std::string(token.substr(0, token.find_first_of(" \t\r\n,]}")));
  }
  std::string text(std::string_view pointer, bool numbers, bool* is_string = nullptr) {
    simdjson::dom::element value;
    if (!has(pointer, value)) throw Refused{core::Reason::kMissing};
    if (is_string != nullptr) *is_string = value.is_string();
    if (value.is_string()) return std::string(std::string_view(value));
    if (value.is_number() && numbers) return written(pointer);
    throw Refused{core::Reason::kType};
  }
  std::string key(std::string_view pointer, bool numbers) {
    std::string found = text(pointer, numbers);
    if (found.empty()) throw Refused{core::Reason::kMissing};
    return found;
  }

  void saams(ReferenceRecord& record) {
    record.stream = key("/streamID", false);
    record.dataset = key("/dataSetKey", false);
    simdjson::dom::element ignored;
    if (has("/date", ignored) && has("/time", ignored)) {
      const std::string date = text("/date", false), time = text("/time", false);
      std::int64_t days = 0, nanos = 0;
      if (!parse_us_date(date, days) || !parse_clock(time, nanos)) {
        throw Refused{core::Reason::kTime};
      }
      record.time = days * 86'400'000'000'000 + nanos;
      return;
    }
    bool is_string = false;
    const std::string stamp = text("/timestamp", true, &is_string);
    if (!(is_string && parse_iso(stamp, record.time)) &&
        !parse_epoch(stamp, EpochUnit::kAuto, record.time)) {
      throw Refused{core::Reason::kTime};
    }
  }

  void titan(ReferenceRecord& record) {
    record.stream = key("/identifier", false);
    record.dataset = "titan";
    simdjson::dom::element value;
    if (!has("/timestamp", value)) throw Refused{core::Reason::kMissing};
    if (value.type() == simdjson::dom::element_type::UINT64) throw Refused{core::Reason::kTime};
    if (value.type() != simdjson::dom::element_type::INT64) throw Refused{core::Reason::kType};
    if (!epoch_to_nanos(std::int64_t(value), EpochUnit::kMillis, record.time)) {
      throw Refused{core::Reason::kTime};
    }
  }

  void mapped(ReferenceRecord& record) {
    const Mapping& mapping = layout_.mapping;
    record.stream = key(pointer_of(mapping.stream), true);
    record.dataset =
        mapping.dataset.empty() ? mapping.dataset_constant : key(pointer_of(mapping.dataset), true);
    if (mapping.date.empty() && mapping.time.empty()) return;
    std::string date, time;
    if (!mapping.date.empty()) date = text(pointer_of(mapping.date), true);
    if (!mapping.time.empty()) time = text(pointer_of(mapping.time), true);
    if (!format_.parse(date, time, record.time)) throw Refused{core::Reason::kTime};
  }

  std::string field_pointer(const std::string& name) {
    switch (layout_.kind) {
      case LayoutKind::kSaams:
        for (const char* taken :
             {"streamID", "dataSetKey", "objectID", "date", "time", "timestamp"}) {
          if (name == taken) return "";
        }
        return pointer_of(name.empty() || name[0] != '/' ? name : "~1" + name.substr(1));
      case LayoutKind::kTitan:
        return name == "identifier" || name == "timestamp" ? "" : pointer_of(name);
      default:
        break;
    }
    if (layout_.mapping.fields.empty()) return pointer_of(name);
    for (const Mapping::Field& field : layout_.mapping.fields) {
      if (field.name == name) return pointer_of(field.at.empty() ? field.name : field.at);
    }
    return "";
  }
  void field(const std::string& name, ReferenceRecord& record) {
    core::Value& value = record.values.emplace_back();
    std::string& bytes = record.texts.emplace_back();
    const std::string pointer = field_pointer(name);
    simdjson::dom::element element;
    if (pointer.empty() || !has(pointer, element)) return;
    switch (element.type()) {
      case simdjson::dom::element_type::INT64:
        value = core::integer(std::int64_t(element));
        break;
      case simdjson::dom::element_type::UINT64:
        value = core::integer(std::uint64_t(element));
        break;
      case simdjson::dom::element_type::DOUBLE:
        value = core::number(double(element));
        break;
      case simdjson::dom::element_type::STRING:
        value.kind = core::Kind::kText;
        bytes = std::string_view(element);
        break;
      default:
        break;
    }
  }

  Layout layout_;
  TimeFormat format_;
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
  const simdjson::padded_string* padded_ = nullptr;
};

// A block with `bytes`, and behind them what `padding` repeats: a decoder must not be led astray by
// it.
inline core::Block block_of(std::string_view bytes, std::string_view padding = "}\n") {
  core::Block block;
  block.bytes.reserve(bytes.size() + core::kBlockPadding);
  block.bytes.append(bytes.data(), bytes.size());
  for (std::size_t i = 0; i < core::kBlockPadding; ++i) {
    block.bytes.data()[bytes.size() + i] = padding[i % padding.size()];
  }
  return block;
}

// What differs between the reference's records and the decoder's columns; empty: nothing.
inline std::string difference(const std::vector<ReferenceRecord>& expected,
                              const core::Columns& got, const core::KeyTable& keys) {
  if (got.records != expected.size()) {
    return fmt::format("{} records expected, {} found", expected.size(), got.records);
  }
  std::size_t tuple = 0, reject = 0;
  std::vector<bool> odd(got.fields.size(), false);
  std::int64_t max_time = kNoTime.ns;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ReferenceRecord& want = expected[i];
    const auto said = [&](std::string_view what) {
      return fmt::format("record {}: {}: {}", i, what, want.raw.substr(0, 400));
    };
    const bool is_tuple = tuple < got.tuples() && got.record[tuple] == i;
    if (is_tuple != want.tuple) return said(want.tuple ? "was refused" : "was taken");
    if (!is_tuple) {
      if (reject >= got.rejects.size()) return said("has no reject");
      const core::Reject& have = got.rejects[reject++];
      if (have.record != i || have.line != want.line || have.byte_offset != want.offset ||
          have.length != want.raw.size() || have.raw != want.raw.substr(0, core::kRejectSample)) {
        return said("reject stands elsewhere");
      }
      if (have.reason != want.reason) {
        return said(fmt::format("{} expected, {} found", core::reason_name(want.reason),
                                core::reason_name(have.reason)));
      }
      continue;
    }
    const core::Key& key = keys.key(got.stream[tuple]);
    if (key.dataset != want.dataset || key.stream != want.stream) {
      return said(fmt::format("key is {} {}", key.dataset, key.stream));
    }
    if (got.time[tuple] != want.time) return said(fmt::format("time is {}", got.time[tuple]));
    max_time = std::max(max_time, want.time);
    for (std::size_t f = 0; f < got.fields.size(); ++f) {
      const core::Column& column = got.fields[f];
      if (column.bits.size() != got.tuples()) return said("column is of wrong length");
      const core::Kind kind = column.kinds.empty() ? core::Kind::kNumber : column.kinds[tuple];
      odd[f] = odd[f] || want.values[f].kind != core::Kind::kNumber;
      if (kind != want.values[f].kind) {
        return said(fmt::format("field {} is of kind {}", f, static_cast<int>(kind)));
      }
      const core::Value value{column.bits[tuple], kind};
      if (kind == core::Kind::kText) {
        if (core::text_of(value, got.text.data()) != want.texts[f]) return said("text differs");
      } else if (kind != core::Kind::kMissing && value.bits != want.values[f].bits) {
        return said(fmt::format("field {} has bits {:x}", f, value.bits));
      }
    }
    ++tuple;
  }
  if (tuple != got.tuples() || reject != got.rejects.size()) return "too many tuples or rejects";
  if (got.max_time != max_time) return "max_time";
  for (std::size_t f = 0; f < got.fields.size(); ++f) {
    if (got.fields[f].kinds.size() != (odd[f] ? got.tuples() : 0)) return "kinds";
  }
  return "";
}

}  // namespace weir::ingest
