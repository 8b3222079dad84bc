#include "replay/item_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/json_scan.h"
#include "replay/table.h"

namespace weir::replay {
namespace {

using Members = std::vector<std::pair<std::string_view, std::string_view>>;

// Keys without their quotes, values as they are written.
Members members_of(std::string_view object) {
  Members members;
  engine::JsonScan scan(object);
  scan.take('{');
  for (std::string_view key, value; scan.more() && scan.value(key);) {
    if (!scan.take(':') || !scan.more() || !scan.value(value)) break;
    members.emplace_back(key.substr(1, key.size() - 2), value);
    if (!scan.take(',')) break;
  }
  return members;
}

}  // namespace

std::string item_table(std::string_view json, int width) {
  if (json.empty() || json.front() != '[') return {};
  const std::vector<std::string_view> rows = engine::json_children(json);
  const bool objects = !rows.empty() && std::all_of(rows.begin(), rows.end(),
                                                    [](auto row) { return row.starts_with('{'); });
  if (!objects) return {};
  const Members titles = members_of(rows.front());
  std::vector<Table::Column> columns;
  for (const auto& [title, value] : titles) {
    const bool text = value.starts_with('"');
    columns.push_back({std::string(title), text ? Table::Align::kLeft : Table::Align::kRight});
  }
  Table table(std::move(columns));
  for (const std::string_view row : rows) {
    const Members members = members_of(row);
    std::vector<std::string> cells;
    for (const auto& [title, unused] : titles) {
      const auto at = std::find_if(members.begin(), members.end(),
                                   [&](const auto& member) { return member.first == title; });
      cells.emplace_back(at == members.end() ? std::string_view() : at->second);
    }
    table.add(std::move(cells));
  }
  return table.render(width);
}

}  // namespace weir::replay
