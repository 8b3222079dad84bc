#include "replay/config_file.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cstdlib>
#include <vector>

#include "core/nearest.h"
#include "replay/line_writer.h"

namespace weir::replay {
namespace {

Status config_error(const std::string& file, const toml::source_region& at,
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
  ValueReader(const std::string& file, const Setting& setting, const Environment& environment)
      : file_(file), setting_(setting), environment_(environment) {}

  Status read(const toml::node& item, std::vector<std::string>& values) const {
    const SettingKind kind = setting_.kind;
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
    return config_error(file_, item.source(),
                        fmt::format("{} must be {}, not {}", setting_.name, expected(setting_.kind),
                                    type_name(item.type())));
  }
  Status read_text(const toml::node& item, std::vector<std::string>& values) const {
    Result<std::string> text = expand_variables(item.as_string()->get(), environment_);
    if (!text.ok()) {
      return config_error(file_, item.source(),
                          fmt::format("{}: {}", setting_.name, text.status().message()));
    }
    values.push_back(std::move(*text));
    return {};
  }

  const std::string& file_;
  const Setting& setting_;
  const Environment& environment_;
};

Status unknown_key(const std::string& file, const toml::key& key) {
  std::vector<std::string> names;
  for (const Setting& setting : replay_settings()) names.emplace_back(setting.name);
  std::string hint = core::did_you_mean(key.str(), names);
  if (hint.empty()) hint = "; `weir config show` lists the keys there are";
  return config_error(file, key.source(), fmt::format("unknown key '{}'{}", key.str(), hint));
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
  toml::table table;
  try {
    table = toml::parse(toml, file);
  } catch (const toml::parse_error& error) {
    return config_error(file, error.source(), std::string(error.description()));
  }
  options.config_file = file;
  for (const auto& [key, item] : table) {
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) return unknown_key(file, key);
    std::vector<std::string> values;
    if (Status s = ValueReader(file, *setting, environment).read(item, values); !s.ok()) return s;
    if (Status s = setting->set(options, values); !s.ok()) {
      return config_error(file, item.source(), fmt::format("{}: {}", setting->name, s.message()));
    }
  }
  return {};
}

Status load_config(const std::string& path, ReplayOptions& options) {
  const Result<std::string> text = read_text(path);
  if (!text.ok()) return {Code::kConfig, text.status().message()};
  return parse_config(*text, path, process_environment, options);
}

}  // namespace weir::replay
