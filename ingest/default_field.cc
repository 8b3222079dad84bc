#include "ingest/default_field.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "ingest/csv_split.h"
#include "ingest/json_layout.h"

namespace weir::ingest {
namespace {

using Names = std::vector<std::string>;
using Field = std::optional<std::string>;

// REQUIRES: !numbers.empty().
Result<Field> choose(const Names& numbers) {
  if (numbers.size() == 1) return Field(numbers.front());
  if (std::find(numbers.begin(), numbers.end(), kTitanField) != numbers.end()) {
    return Field(std::string(kTitanField));
  }
  return Status(Code::kConfig, fmt::format("field: the records have {}; name one of them",
                                           fmt::join(numbers, " and ")));
}

std::string_view next_line(std::string_view& bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return line;
}

// Has the record the keys that its layout needs? Others are rejected, and say nothing.
bool has(const simdjson::dom::object& record, const JsonPath& path) {
  return path.empty() || record[path.tokens.front()].error() == simdjson::SUCCESS;
}

// The top-level numbers of the first record that has any, without keys and times.
Result<Field> of_json(const JsonLayout& layout, std::string_view bytes) {
  Names taken = layout.reserved;
  for (const JsonPath* path :
       {&layout.stream, &layout.dataset, &layout.date, &layout.time, &layout.timestamp}) {
    if (!path->empty()) taken.push_back(path->tokens.front());
  }
  simdjson::dom::parser parser;
  while (!bytes.empty()) {
    const simdjson::padded_string line(next_line(bytes));
    simdjson::dom::object object;
    if (parser.parse(line).get(object) != simdjson::SUCCESS) continue;
    if (!has(object, layout.stream) || !has(object, layout.dataset)) continue;
    Names numbers;
    for (const auto field : object) {
      const std::string name(field.key);
      if (!field.value.is_number() || std::find(taken.begin(), taken.end(), name) != taken.end()) {
        continue;
      }
      if (std::find(numbers.begin(), numbers.end(), name) == numbers.end()) {
        numbers.push_back(name);
      }
    }
    if (!numbers.empty()) return choose(numbers);
  }
  return Field();
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// The columns that are numbers in the first record that has any, without keys and times.
Result<Field> of_csv(const Mapping& mapping, std::string_view bytes) {
  const auto next = [&]() -> std::string_view {
    const char* end = csv_record_end(bytes.data(), bytes.data() + bytes.size());
    const std::string_view record(bytes.data(), static_cast<std::size_t>(end - bytes.data()));
    bytes.remove_prefix(std::min(record.size() + 1, bytes.size()));
    return record;
  };
  CsvFields header(mapping.delimiter), values(mapping.delimiter);
  Names names;
  if (mapping.header) {
    while (names.empty() && !bytes.empty()) {
      const std::string_view record = next();
      if (record.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (!header.split(record)) return Field();
      for (std::size_t i = 0; i < header.size(); ++i) names.emplace_back(header[i]);
    }
  }
  while (!bytes.empty()) {
    const std::string_view record = next();
    if (record.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!values.split(record)) continue;
    Names numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string number = std::to_string(i);
      const std::string name = i < names.size() ? names[i] : number;
      bool taken = false;
      for (const std::string* key :
           {&mapping.stream, &mapping.dataset, &mapping.time, &mapping.date}) {
        taken |= *key == name || *key == number;
      }
      if (!taken && is_number(values[i])) numbers.push_back(name);
    }
    if (!numbers.empty()) return choose(numbers);
  }
  return Field();
}

}  // namespace

Result<Field> default_field(const Layout& layout, std::string_view bytes) {
  switch (layout.kind) {
    case LayoutKind::kTuples:  // a host names its fields itself
      return Field(std::string(kTitanField));
    case LayoutKind::kTicks:
      return choose({"price", "volume"});
    case LayoutKind::kMapping:
      if (!layout.mapping.fields.empty()) {
        Names names;
        for (const Mapping::Field& field : layout.mapping.fields) names.push_back(field.name);
        return choose(names);
      }
      if (layout.mapping.format == Mapping::Format::kCsv) return of_csv(layout.mapping, bytes);
      break;
    case LayoutKind::kSaams:
    case LayoutKind::kTitan:
      break;
  }
  return of_json(compile_json_layout(layout), bytes);
}

}  // namespace weir::ingest
