#include "replay/table.h"

#include <algorithm>
#include <numeric>

namespace weir::replay {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastColumn = 4;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (!continues(text[at]) && ++seen == columns) break;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string without_control(const std::string& text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F
    shown += byte < 0x20 || byte == 0x7f || c1 ? ' ' : text[i];
    if (c1) ++i;
  }
  return shown;
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = without_control(cell);
  rows_.push_back(std::move(cells));
}

std::size_t Table::wanted_width() const {
  const std::vector<std::size_t> wanted = widths(0);
  return std::accumulate(wanted.begin(), wanted.end(), std::size_t{0}) +
         kGap * (std::max<std::size_t>(wanted.size(), 1) - 1);
}

std::vector<std::size_t> Table::widths(int width) const {
  std::vector<std::size_t> wanted(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) wanted[i] = columns_of(columns_[i].title);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      wanted[i] = std::max(wanted[i], columns_of(row[i]));
  }
  if (width <= 0 || wanted.empty()) return wanted;
  const std::size_t gaps = kGap * (wanted.size() - 1);
  const std::size_t limit = std::max<std::size_t>(static_cast<std::size_t>(width), gaps) - gaps;
  while (std::accumulate(wanted.begin(), wanted.end(), std::size_t{0}) > limit) {
    const auto widest = std::max_element(wanted.begin(), wanted.end());
    if (*widest <= kLeastColumn) break;  // narrower would say nothing
    --*widest;
  }
  return wanted;
}

void Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                 std::string& into) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = cut_to(cells[i], widths[i]);
    const std::string blanks(widths[i] - columns_of(cell), ' ');
    if (i != 0) text.append(kGap, ' ');
    text += columns_[i].align == Align::kRight ? blanks + cell : cell + blanks;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  into += text + "\n";
}

std::string Table::render(int width) const {
  const std::vector<std::size_t> columns = widths(width);
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text;
  line(titles, columns, text);
  for (const auto& row : rows_) line(row, columns, text);
  return text;
}

}  // namespace weir::replay
