#include <fmt/format.h>

#include "replay/command.h"
#include "replay/config_file.h"

namespace weir::replay {

SettingArguments::SettingArguments(CLI::App& app) {
  app.add_option("--config", config_, "TOML with the same names; the command line wins")
      ->type_name("FILE");
  for (const Setting& setting : replay_settings()) {
    Given& given = *given_.emplace_back(std::make_unique<Given>());
    given.setting = &setting;
    const std::string name = std::string("--") + setting.name;
    if (setting.name == std::string_view(kInputsSetting)) {
      given.option = app.add_option("INPUT", given.values, setting.help)->type_name("");
    } else if (setting.kind == SettingKind::kSwitch) {
      given.option = app.add_flag(name, given.on, setting.help);
    } else {
      given.option = app.add_option(name, given.values, setting.help)
                         ->type_name(setting.value_name)
                         ->expected(1)
                         ->allow_extra_args(false)
                         ->take_all();
      const std::vector<std::string> shown = setting.show(ReplayOptions());
      if (!shown.empty()) given.option->default_str(shown[0]);
    }
  }
}

Status SettingArguments::read(ReplayOptions& options) const {
  Status of_file;
  if (!config_.empty()) {
    if (Status s = load_config(config_, options); !s.ok()) return s;
    of_file = check_together(options);
  }
  if (Status s = read_command_line(options); !s.ok()) return s;
  // The command line may have put right what was wrong in the file; what it has not is the file's.
  const Status s = check_together(options);
  if (s.ok()) return s;
  return of_file.ok() ? Status(Code::kInvalid, s.message()) : s.with(config_);
}

Status SettingArguments::read_command_line(ReplayOptions& options) const {
  for (const auto& given : given_) {
    if (given->option->count() == 0) continue;
    const Setting& setting = *given->setting;
    std::vector<std::string> values = given->values;
    if (setting.kind == SettingKind::kSwitch) values = {given->on ? "true" : "false"};
    if (setting.kind != SettingKind::kList && values.size() > 1) values = {values.back()};
    if (Status s = setting.set(options, values); !s.ok()) {
      return {Code::kInvalid, fmt::format("--{}: {}", setting.name, s.message())};
    }
  }
  return {};
}

}  // namespace weir::replay
