#include "replay/registry_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/utf8.h"
#include "engine/json_scan.h"
#include "replay/json_members.h"
#include "replay/line_writer.h"

namespace weir::replay {
namespace {

Result<HierarchyConfig> read_registry(const std::string& file, std::optional<GroupOptions> groups) {
  Result<std::string> text = read_text(file);
  if (!text.ok()) return text.status().with("registry");
  return HierarchyConfig{std::move(*text), file, std::move(groups)};
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kChange = R"(a line is {"at":{"record":1000},"registry":{…}})";

// What is wrong with the registry itself is answered at its place, as that of a request is.
Status check_change(std::string_view text, const std::string& place) {
  engine::JsonScan scan(text);
  std::string_view object;
  std::string wrong;
  if (core::utf8_prefix(text) < text.size()) {
    wrong = "a byte that is not UTF-8";
  } else if (!scan.more() || !scan.value(object)) {
    wrong = scan.what();
  } else if (scan.more()) {
    wrong = "expected the end of the line";
  }
  if (!wrong.empty()) {
    return {Code::kConfig, fmt::format("{}:{}: this is not JSON: {}; {}", place, scan.offset() + 1,
                                       wrong, kChange)};
  }
  const Members members = members_of(object);
  for (const std::string_view key : {"registry", "workers", "change"}) {
    const std::string_view value = value_of(members, key);
    if (object.front() == '{' && !value.empty() && value != "null") return {};
  }
  return {Code::kConfig,
          fmt::format("{}: this is no change of a hierarchy; {}, or has \"workers\" or "
                      "\"change\"; other requests go to a requests file",
                      place, kChange)};
}

}  // namespace

Result<std::vector<HierarchyConfig>> read_registries(const ReplayOptions& options) {
  std::vector<HierarchyConfig> hierarchies;
  for (const std::string& file : options.registries) {
    Result<HierarchyConfig> read = read_registry(file, std::nullopt);
    if (!read.ok()) return read.status();
    hierarchies.push_back(std::move(*read));
  }
  for (const HierarchySettings& said : options.hierarchies) {
    Result<HierarchyConfig> read =
        read_registry(said.registry, group_options(options.groups, said.groups));
    if (!read.ok()) return read.status();
    hierarchies.push_back(std::move(*read));
  }
  return hierarchies;
}

Result<std::vector<ControlLine>> parse_control(std::string_view text, const std::string& file) {
  std::vector<ControlLine> lines;
  std::uint64_t number = 0;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (Status s = check_change(line, fmt::format("{}:{}", file, number)); !s.ok()) return s;
    lines.push_back({number, line});
  }
  if (lines.empty()) {
    return Status(Code::kConfig,
                  fmt::format("{}: it holds no change of a hierarchy; {}", file, kChange));
  }
  return lines;
}

}  // namespace weir::replay
