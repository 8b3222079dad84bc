#include "ingest/json_layout.h"

#include <algorithm>
#include <utility>

namespace weir::ingest {
namespace {

JsonPath key(std::string_view name) { return JsonPath{{std::string(name)}}; }

JsonLayout saams() {
  JsonLayout layout;
  layout.stream = key("streamID");
  layout.dataset = key("dataSetKey");
  layout.how = JsonTime::kSaams;
  layout.date = key("date");
  layout.time = key("time");
  layout.timestamp = key("timestamp");
  layout.reserved = {"streamID", "dataSetKey", "objectID", "date", "time", "timestamp"};
  return layout;
}

JsonLayout titan() {
  JsonLayout layout;
  layout.stream = key("identifier");
  layout.dataset_constant = "titan";
  layout.how = JsonTime::kMillis;
  layout.timestamp = key("timestamp");
  layout.reserved = {"identifier", "timestamp"};
  return layout;
}

JsonLayout mapped(const Mapping& mapping) {
  JsonLayout layout;
  layout.stream = parse_json_path(mapping.stream);
  layout.stream_may_be_number = true;
  layout.dataset = parse_json_path(mapping.dataset);
  layout.dataset_constant = mapping.dataset_constant;
  layout.date = parse_json_path(mapping.date);
  layout.time = parse_json_path(mapping.time);
  layout.how = layout.date.empty() && layout.time.empty() ? JsonTime::kNone : JsonTime::kFormat;
  layout.time_unit = mapping.time_unit;
  layout.zone = mapping.zone;
  layout.listed_fields = !mapping.fields.empty();
  for (const Mapping::Field& field : mapping.fields) {
    JsonPath at = field.at.empty() ? key(field.name) : parse_json_path(field.at);
    layout.fields.emplace_back(field.name, std::move(at));
  }
  return layout;
}

}  // namespace

std::string JsonPath::name() const {
  if (top_level()) return tokens[0];
  std::string name;
  for (const std::string& token : tokens) name += "/" + token;
  return name;
}

JsonPath parse_json_path(std::string_view pointer) {
  if (pointer.empty()) return {};
  if (pointer[0] != '/') return key(pointer);
  JsonPath path;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      path.tokens.emplace_back();
    } else if (pointer[i] == '~' && i + 1 < pointer.size() &&
               (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
      path.tokens.back() += pointer[++i] == '0' ? '~' : '/';
    } else {
      path.tokens.back() += pointer[i];
    }
  }
  return path;
}

JsonPath JsonLayout::field(std::string_view name) const {
  if (!listed_fields) {
    const bool taken = std::find(reserved.begin(), reserved.end(), name) != reserved.end();
    return taken ? JsonPath{} : key(name);
  }
  for (const auto& [field, at] : fields) {
    if (field == name) return at;
  }
  return {};
}

JsonLayout compile_json_layout(const Layout& layout) {
  switch (layout.kind) {
    case LayoutKind::kSaams:
      return saams();
    case LayoutKind::kTitan:
      return titan();
    default:
      return mapped(layout.mapping);
  }
}

}  // namespace weir::ingest
