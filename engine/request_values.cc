#include "engine/request_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/utf8.h"
#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "synopses/registry.h"

namespace weir::engine {

using simdjson::dom::element;
using simdjson::dom::element_type;

std::string shortened(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  text.resize(limit);
  text.resize(core::utf8_prefix(text));
  return text + "...";
}

std::string shown(std::string_view raw) { return shortened(json_compact(raw), 60); }

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string quoted_list(std::span<const char* const> words) {
  std::string list;
  std::size_t left = words.size();
  for (const char* word : words) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : left == 1 ? " or " : ", ", word);
    --left;
  }
  return list;
}

std::optional<std::uint64_t> whole_number(const element& value) {
  std::uint64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || text.empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view text_of(const element& value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::optional<synopses::Scalar> scalar_of(const element& value) {
  switch (value.type()) {
    case element_type::NULL_VALUE:
      return synopses::Scalar{};
    case element_type::BOOL:
      return synopses::Scalar{bool(value)};
    case element_type::STRING:
      return synopses::Scalar{std::string(std::string_view(value))};
    case element_type::INT64:
      return synopses::Scalar{core::integer(std::int64_t(value))};
    case element_type::UINT64:
      return synopses::Scalar{core::integer(std::uint64_t(value))};
    case element_type::DOUBLE:
      return synopses::Scalar{core::number(double(value))};
    default:
      return std::nullopt;
  }
}

}  // namespace weir::engine
