#include "replay/group_lines.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/json_scan.h"
#include "engine/json_text.h"
#include "replay/json_members.h"

namespace weir::replay {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

// A number, or null: nothing. `value` is untouched by anything else, which is false.
bool read_optional(std::string_view text, std::optional<double>& value) {
  if (text == "null") return true;
  double number = 0;
  if (!read_number(text, number)) return false;
  value = number;
  return true;
}

std::string_view either(const Members& members, const char* ours, const char* titans) {
  const std::string_view value = value_of(members, ours);
  return value.empty() ? value_of(members, titans) : value;
}

std::string_view text_of(const Members& members, const char* key) {
  const std::string_view value = value_of(members, key);
  return value.starts_with('"') ? value : std::string_view();
}

Status no_result(std::string_view key) {
  return {
      Code::kInvalid,
      fmt::format("this is no result of a group: {} is missing or wrong; `weir replay --results "
                  "FILE` writes them",
                  key)};
}

// What is left of a result whose end was not written.
bool breaks_off(std::string_view line) {
  engine::JsonScan scan(line);
  std::string_view object;
  return line.starts_with('{') && scan.more() && !scan.value(object);
}

}  // namespace

Status GroupLines::add(std::string_view line) {
  engine::JsonScan scan(line);
  std::string_view object;
  if (!scan.more() || !scan.value(object) || scan.more()) {
    return {Code::kInvalid, "this is not JSON: " + (scan.what().empty() ? "expected the end of "
                                                                          "the line"
                                                                        : scan.what())};
  }
  const Members members = members_of(object);
  std::string names;
  for (const char* key : {"hierarchy", "identifier", "field"}) {
    const std::string_view name = text_of(members, key);
    if (name.empty()) return no_result(key);
    names += name;
  }
  GroupLine result;
  const struct {
    const char *ours, *titans;
    std::optional<double>& into;
  } reals[] = {{"sum", "sumInW", result.sum},
               {"average", "averageInW", result.average},
               {"min", "minInW", result.min},
               {"max", "maxInW", result.max}};
  for (const auto& real : reals) {
    if (!read_optional(either(members, real.ours, real.titans), real.into)) {
      return no_result(real.ours);
    }
  }
  const struct {
    const char* key;
    std::uint64_t& into;
  } counts[] = {{"count", result.count},
                {"members", result.members},
                {"missing", result.missing},
                {"seq", result.seq}};
  for (const auto& count : counts) {
    if (!read_number(value_of(members, count.key), count.into)) return no_result(count.key);
  }
  fields_.emplace(text_of(members, "field"));
  hierarchies_.emplace(text_of(members, "hierarchy"));
  GroupLine& newest = newest_[std::move(names)];
  if (!newest.json.empty() && newest.seq > result.seq) return {};
  result.json = object;
  newest = std::move(result);
  return {};
}

Status GroupLines::read(std::istream& lines, const std::string& name) {
  std::uint64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const bool newline = !lines.eof();
    if (!newline && breaks_off(line)) {
      unfinished_ = number;
      break;
    }
    if (const Status s = add(line); !s.ok()) return s.with(fmt::format("{}:{}", name, number));
  }
  if (lines.bad()) return {Code::kIo, "cannot read " + name};
  return {};
}

const GroupLine* GroupLines::find(std::string_view hierarchy, std::string_view group,
                                  const std::string& field) const {
  const auto found = newest_.find(engine::json_text(hierarchy) + engine::json_text(group) + field);
  return found == newest_.end() ? nullptr : &found->second;
}

}  // namespace weir::replay
