#include <fmt/format.h>

#include "replay/command.h"
#include "replay/completion.h"
#include "replay/exit_status.h"

namespace weir::replay {

Command add_completion(CLI::App& program) {
  CLI::App* app = program.add_subcommand("completion", "print a completion script for a shell");
  app->footer(
      "Examples:\n"
      "  weir completion bash > /etc/bash_completion.d/weir\n"
      "  weir completion zsh > \"${fpath[1]}/_weir\"\n"
      "  weir completion fish > ~/.config/fish/completions/weir.fish");
  auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "the shell that shall run it")->type_name("bash|zsh|fish");
  return {app, [root = &program, shell]() -> int {
            const std::string script = completion_script(*root, *shell);
            if (script.empty()) {
              return fail(kExitUsage, fmt::format("'{}' is no shell known here; expected bash, zsh "
                                                  "or fish",
                                                  *shell));
            }
            fmt::print("{}", script);
            return kExitOk;
          }};
}

}  // namespace weir::replay
