// Table: rows of texts as aligned columns for a terminal.
//
// Thread safety: thread-compatible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::replay {

// Columns that a terminal shows for a UTF-8 text (one for each code point).
std::size_t columns_of(std::string_view text);
// At most `columns` columns; a text that is cut ends in "…".
std::string cut_to(std::string_view text, std::size_t columns);

// Control characters as blanks, so that a hostile stream name cannot steer the terminal.
std::string without_control(const std::string& text);

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty; cells beyond the columns are left out; cells are without_control().
  void add(std::vector<std::string> cells);
  // Columns of a terminal that holds it uncut.
  std::size_t wanted_width() const;
  // Lines with newlines. Wider than `width`, the widest columns are cut first; a width of 0 or less
  // means no limit.
  std::string render(int width) const;

 private:
  std::vector<std::size_t> widths(int width) const;
  void line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
            std::string& into) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weir::replay
