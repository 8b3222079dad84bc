#include "replay/item_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "engine/json_scan.h"
#include "replay/json_members.h"
#include "replay/table.h"

namespace weir::replay {
namespace {

std::string rounded(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc{} ? fmt::format("{:.4g}", value) : std::string(number);
}

// Without its quotes; escapes stay.
std::string_view unquoted(std::string_view text) {
  return text.size() < 2 || text.front() != '"' ? text : text.substr(1, text.size() - 2);
}

// "S0000-S0003 0.98".
std::string pair_text(std::string_view pair) {
  const Members members = members_of(pair);
  std::string text;
  for (const std::string_view stream : engine::json_children(value_of(members, "streams"))) {
    text += fmt::format("{}{}", text.empty() ? "" : "-", unquoted(stream));
  }
  return fmt::format("{} {}", text, rounded(value_of(members, "correlation")));
}

std::string item_text(std::string_view item) {
  const Members members = members_of(item);
  return fmt::format("{}: {}", value_of(members, "item"), value_of(members, "estimate"));
}

// The first few of `rows`, separated by commas.
std::string first_few(const std::vector<std::string_view>& rows,
                      std::string (*text_of)(std::string_view)) {
  constexpr std::size_t kEnough = 30;
  std::string text;
  std::size_t shown = 0;
  for (const std::string_view row : rows) {
    if (text.size() >= kEnough) break;
    text += (shown == 0 ? "" : ", ") + text_of(row);
    ++shown;
  }
  return shown == rows.size() ? text : fmt::format("{}, … {}", text, rows.size());
}

std::string pairs_line(std::string_view json) {
  const Members members = members_of(json);
  const std::string_view pairs = value_of(members, "pairs");
  if (!pairs.starts_with('[')) return {};
  const std::vector<std::string_view> rows = engine::json_children(pairs);
  std::string text = fmt::format("{} of {} pairs, {} compared", rows.size(),
                                 value_of(members, "possible"), value_of(members, "compared"));
  if (const auto left_out = value_of(members, "left_out"); !left_out.empty() && left_out != "0") {
    text += fmt::format(", {} streams left out", left_out);
  }
  return rows.empty() ? text : text + ": " + first_few(rows, pair_text);
}

}  // namespace

std::string items_line(std::string_view json) {
  if (json.starts_with('{')) return pairs_line(json);
  if (!json.starts_with('[')) return {};
  const std::vector<std::string_view> rows = engine::json_children(json);
  const bool items = !rows.empty() && std::all_of(rows.begin(), rows.end(), [](auto row) {
    if (!row.starts_with('{')) return false;
    const Members members = members_of(row);
    return !value_of(members, "item").empty() && !value_of(members, "estimate").empty();
  });
  return items ? first_few(rows, item_text) : std::string();
}

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
    for (const auto& [title, first_value] : titles) {
      cells.emplace_back(value_of(members, title));
    }
    table.add(std::move(cells));
  }
  return table.render(width);
}

}  // namespace weir::replay
