#include <fmt/format.h>

#include "replay/command.h"
#include "replay/exit_status.h"

namespace weir::replay {

Command add_config_show(CLI::App& config) {
  CLI::App* app = config.add_subcommand("show", "print the effective configuration as TOML");
  app->footer(
      "Takes every option of `weir replay`. Example:\n"
      "  weir config show --config run.toml --threads 2 > effective.toml");
  auto arguments = std::make_shared<SettingArguments>(*app);
  return {app, [arguments] {
            ReplayOptions options;
            if (const Status s = arguments->read(options); !s.ok()) {
              return fail(s.code() == Code::kConfig ? kExitConfig : kExitUsage, s.message());
            }
            fmt::print("{}", options_as_toml(options));
            return static_cast<int>(kExitOk);
          }};
}

}  // namespace weir::replay
