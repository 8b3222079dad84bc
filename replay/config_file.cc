#include "replay/config_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "core/nearest.h"
#include "replay/line_writer.h"
#include "replay/toml_errors.h"

namespace weir::replay {
namespace {

const char* expected(SettingKind kind) {
  switch (kind) {
    case SettingKind::kText:
      return "a string";
    case SettingKind::kList:
      return "a string or an array of strings";
    case SettingKind::kSwitch:
      return "true or false";
    case SettingKind::kCount:
      return "an integer";
    case SettingKind::kSize:
      return "a size such as \"64K\" or an integer";
  }
  return "";
}

// Reads one TOML value of a setting as the texts that Setting::set takes.
class ValueReader {
 public:
  ValueReader(const std::string& file, const char* name, SettingKind kind,
              const Environment& environment)
      : file_(file), name_(name), kind_(kind), environment_(environment) {}

  Status read(const toml::node& item, std::vector<std::string>& values) const {
    const SettingKind kind = kind_;
    if (kind == SettingKind::kList && item.is_array()) {
      for (const toml::node& element : *item.as_array()) {
        if (!element.is_string()) return wrong_type(element);
        if (Status s = read_text(element, values); !s.ok()) return s;
      }
      return {};
    }
    const bool text_allowed =
        kind == SettingKind::kText || kind == SettingKind::kList || kind == SettingKind::kSize;
    const bool number_allowed = kind == SettingKind::kCount || kind == SettingKind::kSize;
    if (item.is_string() && text_allowed) return read_text(item, values);
    if (item.is_integer() && number_allowed) {
      values.push_back(std::to_string(item.as_integer()->get()));
      return {};
    }
    if (item.is_boolean() && kind == SettingKind::kSwitch) {
      values.emplace_back(item.as_boolean()->get() ? "true" : "false");
      return {};
    }
    return wrong_type(item);
  }

 private:
  Status wrong_type(const toml::node& item) const {
    return toml_error(
        file_, item.source(),
        fmt::format("{} must be {}, not {}", name_, expected(kind_), type_name(item.type())));
  }
  Status read_text(const toml::node& item, std::vector<std::string>& values) const {
    Result<std::string> text = expand_variables(item.as_string()->get(), environment_);
    if (!text.ok()) {
      return toml_error(file_, item.source(),
                        fmt::format("{}: {}", name_, text.status().message()));
    }
    values.push_back(std::move(*text));
    return {};
  }

  const std::string& file_;
  const char* name_;
  SettingKind kind_;
  const Environment& environment_;
};

constexpr const char* kHierarchy = "hierarchy";
constexpr const char* kRegistry = "registry";

Status unknown_key(const std::string& file, const toml::key& key, const char* table,
                   std::vector<std::string> names) {
  std::string hint = core::did_you_mean(key.str(), names);
  if (hint.empty() && *table == 0) hint = "; `weir config show` lists the keys there are";
  if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(names, ", "));
  return toml_error(file, key.source(),
                    fmt::format("unknown key '{}'{}{}", key.str(), table, hint));
}

Status unknown_key(const std::string& file, const toml::key& key) {
  std::vector<std::string> names = {kHierarchy};
  for (const Setting& setting : replay_settings()) names.emplace_back(setting.name);
  return unknown_key(file, key, "", std::move(names));
}

// Reads one item as values and gives them to `set`.
template <class Set>
Status read_item(const std::string& file, const char* name, SettingKind kind,
                 const toml::node& item, const Environment& environment, const Set& set) {
  std::vector<std::string> values;
  if (Status s = ValueReader(file, name, kind, environment).read(item, values); !s.ok()) return s;
  if (Status s = set(values); !s.ok()) {
    return toml_error(file, item.source(), fmt::format("{}: {}", name, s.message()));
  }
  return {};
}

Status read_hierarchy(const std::string& file, const toml::table& table,
                      const Environment& environment, HierarchySettings& into) {
  for (const auto& [key, item] : table) {
    Status s;
    if (key.str() == kRegistry) {
      s = read_item(file, kRegistry, SettingKind::kText, item, environment,
                    [&](const std::vector<std::string>& values) {
                      into.registry = values[0];
                      return values[0].empty()
                                 ? Status(Code::kInvalid, "'' is empty; expected a file")
                                 : Status();
                    });
    } else if (const GroupSetting* setting = find_group_setting(key.str())) {
      s = read_item(file, setting->name, setting->kind, item, environment,
                    [&](const std::vector<std::string>& values) {
                      return setting->set(into.groups, values);
                    });
    } else {
      std::vector<std::string> names = {kRegistry};
      for (const GroupSetting& known : group_settings()) names.emplace_back(known.name);
      s = unknown_key(file, key, " of [[hierarchy]]", std::move(names));
    }
    if (!s.ok()) return s;
  }
  if (!into.registry.empty()) return {};
  return toml_error(file, table.source(), "[[hierarchy]] needs registry = \"FILE\"");
}

// The array of tables [[hierarchy]].
Status read_hierarchies(const std::string& file, const toml::node& item,
                        const Environment& environment, ReplayOptions& options) {
  const toml::array* tables = item.as_array();
  if (tables == nullptr || tables->empty() || !tables->is_homogeneous<toml::table>()) {
    return toml_error(file, item.source(),
                      "hierarchy must be a table in double brackets, [[hierarchy]], one for each");
  }
  options.hierarchies.clear();
  for (const toml::node& table : *tables) {
    HierarchySettings& hierarchy = options.hierarchies.emplace_back();
    if (Status s = read_hierarchy(file, *table.as_table(), environment, hierarchy); !s.ok()) {
      return s;
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

Result<std::string> expand_variables(std::string_view text, const Environment& environment) {
  std::string expanded;
  while (!text.empty()) {
    const std::size_t dollar = text.find('$');
    expanded += text.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('$')) {
      expanded += '$';
      text.remove_prefix(1);
      continue;
    }
    if (!text.starts_with('{')) {
      expanded += '$';
      continue;
    }
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos) {
      return Status(Code::kConfig, "'${' without '}'; expected ${NAME}, or $$ for a dollar sign");
    }
    const std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    const std::size_t bar = inside.find(":-");
    const std::string name(inside.substr(0, bar));
    if (const std::optional<std::string> value = environment(name); value && !value->empty()) {
      expanded += *value;
    } else if (bar != std::string_view::npos) {
      expanded += inside.substr(bar + 2);
    } else if (value) {
      continue;  // set, and empty
    } else {
      return Status(Code::kConfig, fmt::format("environment variable {} is not set; set it, or "
                                               "write ${{{}:-default}}",
                                               name, name));
    }
  }
  return expanded;
}

Status parse_config(std::string_view toml, const std::string& file, const Environment& environment,
                    ReplayOptions& options) {
  const Result<toml::table> parsed = parse_toml(toml, file);
  if (!parsed.ok()) return parsed.status();
  options.config_file = file;
  for (const auto& [key, item] : *parsed) {
    if (key.str() == kHierarchy) {
      if (Status s = read_hierarchies(file, item, environment, options); !s.ok()) return s;
      continue;
    }
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) return unknown_key(file, key);
    const Status s =
        read_item(file, setting->name, setting->kind, item, environment,
                  [&](const std::vector<std::string>& v) { return setting->set(options, v); });
    if (!s.ok()) return s;
  }
  return {};
}

Status load_config(const std::string& path, ReplayOptions& options) {
  const Result<std::string> text = read_text(path);
  if (!text.ok()) return {Code::kConfig, text.status().message()};
  return parse_config(*text, path, process_environment, options);
}

}  // namespace weir::replay
