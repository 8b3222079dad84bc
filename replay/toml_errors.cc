#include "replay/toml_errors.h"

#include <fmt/format.h>

namespace weir::replay {

Status toml_error(const std::string& file, const toml::source_region& at,
                  const std::string& message) {
  return {Code::kConfig,
          fmt::format("{}:{}:{}: {}", file, at.begin.line, at.begin.column, message)};
}

const char* type_name(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return toml_error(file, error.source(), std::string(error.description()));
  }
}

}  // namespace weir::replay
