#include <fmt/format.h>

#include "core/nearest.h"
#include "replay/command.h"
#include "replay/exit_status.h"

namespace weir::replay {
namespace {

int print_help(CLI::App* app, const std::vector<std::string>& path) {
  for (const std::string& name : path) {
    CLI::App* below = nullptr;
    std::vector<std::string> names;
    for (CLI::App* known : app->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(known->get_name());
      if (known->get_name() == name) below = known;
    }
    if (below == nullptr) {
      return fail(kExitUsage, fmt::format("unknown command '{}'{}; `weir help` lists them", name,
                                          core::did_you_mean(name, names)));
    }
    app = below;
  }
  // help() of an app shows that of the command it has just parsed ("help" itself), so clear it.
  CLI::App* root = app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  root->clear();
  fmt::print("{}", help_of(app));
  return kExitOk;
}

}  // namespace

Command add_help(CLI::App& program) {
  CLI::App* app = program.add_subcommand("help", "what a command does, with examples");
  app->footer("Example:\n  weir help generate stocks");
  auto path = std::make_shared<std::vector<std::string>>();
  app->add_option("COMMAND", *path, "a command, and one below it")->type_name("");
  return {app, [root = &program, path] { return print_help(root, *path); }};
}

}  // namespace weir::replay
