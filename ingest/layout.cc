#include "ingest/layout.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "ingest/csv_rejects.h"
#include "ingest/csv_values.h"
#include "ingest/times.h"

namespace weir::ingest {
namespace {

constexpr std::size_t kProbedRecords = 16;
constexpr std::string_view kDot = "\xC2\xB7";  // U+00B7
constexpr std::string_view kHowToName =
    "name one with --layout saams|titan|ticks or --mapping FILE";

Layout built_in(LayoutKind kind) {
  Layout layout;
  layout.kind = kind;
  return layout;
}

// Text from an input, short and printable, for a message of one line.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  if (text.size() > kMost) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80) {
      shown.pop_back();  // do not end inside a character
    }
    if (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80) != 0) shown.pop_back();
    shown += "…";
  }
  return simdjson::validate_utf8(shown) ? shown : "bytes that are not UTF-8";
}

struct Probe {
  bool fits = false;
  LayoutKind kind = LayoutKind::kSaams;
  std::string looks_like;  // what a record that fits nothing is, in a few words
};

Probe probe_json(std::string_view record, simdjson::dom::parser& parser) {
  simdjson::dom::element root;
  if (parser.parse(record.data(), record.size()).get(root) != simdjson::SUCCESS) {
    const bool opens = record.front() == '{' || record.front() == '[';
    return {
        false, {}, opens ? "JSON spread over lines, or broken (one object a line is read)" : ""};
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    return {false, {}, root.is_array() ? "a JSON array (one object a line is read)" : ""};
  }
  const auto has = [&object](std::string_view key) {
    return object.at_key(key).error() == simdjson::SUCCESS;
  };
  if (has("streamID") && has("dataSetKey")) return {true, LayoutKind::kSaams, ""};
  if (has("identifier") && has("timestamp")) return {true, LayoutKind::kTitan, ""};
  std::string keys;
  std::size_t count = 0;
  for (const auto& member : object) {
    if (count == 6) {
      keys += ", …";
      break;
    }
    keys += count++ == 0 ? "" : ", ";
    keys += excerpt(member.key);
  }
  return {
      false, {}, fmt::format("a JSON object with {}", keys.empty() ? "no keys" : "keys " + keys)};
}

bool looks_like_ticks(std::string_view record) {
  if (record.size() < 23 || record[10] != ',') return false;
  std::int64_t days = 0, clock = 0;
  const std::size_t comma = record.find(',', 11);
  if (comma == std::string_view::npos || !parse_us_date(record.substr(0, 10), days) ||
      !parse_clock(record.substr(11, comma - 11), clock)) {
    return false;
  }
  const std::size_t last = record.find(',', comma + 1);
  if (last == std::string_view::npos) return false;
  core::Value value;
  const std::string_view price = record.substr(comma + 1, last - comma - 1);
  const std::string_view volume = record.substr(last + 1);
  return !price.empty() && !volume.empty() && csv_value(price, value) == CsvValue::kNumber &&
         csv_value(volume, value) == CsvValue::kNumber;
}

Probe probe_record(std::string_view record, simdjson::dom::parser& parser) {
  if (looks_like_ticks(record)) return {true, LayoutKind::kTicks, ""};
  return probe_json(record, parser);
}

Status unknown_layout(std::string_view bytes, std::string_view source, std::size_t records,
                      std::string_view first, const std::string& looks_like) {
  if (records == 0) {
    return {Code::kInvalid,
            fmt::format("{}: the input has no records, so no layout can be detected; {}", source,
                        kHowToName)};
  }
  if (bytes.find('\0') != std::string_view::npos) {
    return {Code::kInvalid,
            fmt::format(
                "{}: binary data (it has NUL bytes), not records of text; weir reads NDJSON and "
                "CSV, plain or compressed by gzip or zstd",
                source)};
  }
  return {Code::kInvalid,
          fmt::format(
              "{}: no layout fits the first {} record(s); tried saams (JSON with streamID and "
              "dataSetKey), titan (JSON with identifier and timestamp) and ticks "
              "(MM/DD/YYYY,HH:MM:SS,price,volume), but the first is {}; {}",
              source, records,
              looks_like.empty() ? fmt::format("\"{}\"", excerpt(first)) : looks_like, kHowToName)};
}

}  // namespace

Framing Layout::framing() const {
  if (kind == LayoutKind::kTuples) return Framing::kFrames;
  if (kind == LayoutKind::kMapping && mapping.format == Mapping::Format::kCsv) return Framing::kCsv;
  return Framing::kLines;
}

bool Layout::has_header() const {
  return kind == LayoutKind::kMapping && mapping.format == Mapping::Format::kCsv && mapping.header;
}

std::string Layout::name() const {
  switch (kind) {
    case LayoutKind::kSaams:
      return "saams";
    case LayoutKind::kTitan:
      return "titan";
    case LayoutKind::kTicks:
      return "ticks";
    case LayoutKind::kMapping:
      return "mapping";
    case LayoutKind::kTuples:
      return "tuples";
  }
  return {};
}

Result<Layout> layout_by_name(std::string_view name) {
  for (const LayoutKind kind : {LayoutKind::kSaams, LayoutKind::kTitan, LayoutKind::kTicks}) {
    if (built_in(kind).name() == name) return built_in(kind);
  }
  return Status(
      Code::kInvalid,
      fmt::format("layout \"{}\" is unknown; there are saams, titan and ticks, and auto to "
                  "detect one of them",
                  excerpt(name)));
}

Result<TicksName> parse_ticks_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 = 0
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::size_t first = name.find(kDot);
  const std::size_t last = name.rfind(kDot);
  if (first == std::string_view::npos || first == last || first == 0 ||
      last == first + kDot.size() || !simdjson::validate_utf8(name.data(), name.size())) {
    return Status(
        Code::kInvalid,
        fmt::format("\"{}\" does not follow the rule for ticks files, which gives their keys: "
                    "<dataset>·<stream>·<suffix>.txt with · = U+00B7, such as "
                    "\"Forex·EURTRY·NoExpiry.txt\"",
                    excerpt(name)));
  }
  TicksName keys;
  keys.dataset = name.substr(0, first);
  keys.stream = name.substr(first + kDot.size(), last - first - kDot.size());
  return keys;
}

Result<Layout> detect_layout(std::string_view bytes, std::string_view source_name) {
  std::string_view rest = bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  simdjson::dom::parser parser;
  std::size_t records = 0;
  std::string_view first;
  std::string looks_like;
  while (!rest.empty() && records < kProbedRecords) {
    const std::size_t newline = std::min(rest.find('\n'), rest.size());
    std::string_view record = rest.substr(0, newline);
    rest.remove_prefix(std::min(newline + 1, rest.size()));
    if (blank_line(record.data(), record.data() + record.size())) continue;
    if (record.ends_with('\r')) record.remove_suffix(1);
    Probe probe = probe_record(record, parser);
    if (probe.fits) {
      if (probe.kind == LayoutKind::kTicks) {
        if (const auto keys = parse_ticks_name(source_name); !keys.ok()) return keys.status();
      }
      return built_in(probe.kind);
    }
    if (records++ == 0) {
      first = record;
      looks_like = std::move(probe.looks_like);
    }
  }
  return unknown_layout(bytes, source_name, records, first, looks_like);
}

}  // namespace weir::ingest
