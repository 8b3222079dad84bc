#include "replay/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "core/nearest.h"
#include "replay/exit_status.h"

namespace weir::replay {
namespace {

constexpr const char* kAbout =
    "weir measures streams on one machine: it takes in tuples at parse speed, keeps\n"
    "synopses with stated bounds, and answers questions at exact cuts.";
constexpr const char* kExamples =
    "Examples:\n"
    "  weir generate stocks --records 1000000 -o stocks.ndjson\n"
    "  weir replay --requests requests.json stocks.ndjson\n"
    "  weir replay --registry plant.json --results results.ndjson sensors.ndjson\n"
    "  weir validate --requests requests.json\n"
    "  weir topology\n"
    "  weir synopses\n"
    "`weir help COMMAND` says more about each. Exit status: 0 ok, 1 run error,\n"
    "2 usage, 3 rejected records (--strict), 78 configuration, 130 and 143 signals.";

// The innermost command that the command line named.
CLI::App* selected(CLI::App* app) {
  for (;;) {
    const std::vector<CLI::App*> below = app->get_subcommands();
    if (below.empty()) return app;
    app = below.back();
  }
}

int unexpected(CLI::App* app, const std::string& argument) {
  const bool option = argument.size() > 1 && argument[0] == '-';
  std::vector<std::string> names;
  if (option) {
    for (const CLI::Option* known : app->get_options()) {
      if (known->nonpositional()) names.push_back(known->get_name());
    }
    const std::string name = argument.substr(0, argument.find('='));
    return fail(kExitUsage, fmt::format("unknown option '{}'{}; `{} --help` lists them", name,
                                        core::did_you_mean(name, names), full_name(app)));
  }
  for (const CLI::App* known : app->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(known->get_name());
  }
  if (names.empty()) {
    return fail(kExitUsage, fmt::format("unexpected argument '{}'; `{} --help` shows what is "
                                        "expected",
                                        argument, full_name(app)));
  }
  return fail(kExitUsage, fmt::format("unknown command '{}'{}; `{} --help` lists them", argument,
                                      core::did_you_mean(argument, names), full_name(app)));
}

// An option that is none: "-5" is a number, and what stands behind "--" is what it is.
const std::string* wrong_option(const std::vector<std::string>& extras) {
  for (const std::string& extra : extras) {
    if (extra == "--") return nullptr;
    const bool number = extra.size() > 1 && extra[1] >= '0' && extra[1] <= '9';
    if (extra.size() > 1 && extra[0] == '-' && !number) return &extra;
  }
  return nullptr;
}

// Commands report leftovers themselves, so that every message is one line that says what is right.
void allow_extras(CLI::App* app) {
  app->allow_extras();
  app->require_subcommand(0, 1);
  for (CLI::App* below : app->get_subcommands([](const CLI::App*) { return true; })) {
    allow_extras(below);
  }
}

}  // namespace

std::string full_name(const CLI::App* app) {
  std::string name = app->get_name();
  for (app = app->get_parent(); app != nullptr; app = app->get_parent()) {
    name = app->get_name() + " " + name;
  }
  return name;
}

std::vector<std::string> rest_of(const CLI::App& app) {
  std::vector<std::string> rest = app.remaining();
  const auto mark = std::find(rest.begin(), rest.end(), "--");
  if (mark != rest.end()) rest.erase(mark);
  return rest;
}

std::string help_of(const CLI::App* app) {
  return app->help(app->get_parent() == nullptr ? "" : full_name(app->get_parent()));
}

Program make_program() {
  Program program;
  program.app = std::make_unique<CLI::App>(kAbout, "weir");
  CLI::App& app = *program.app;
  app.footer(kExamples);
  app.set_help_flag("-h,--help", "show this and exit");
  program.commands.push_back(add_replay(app));

  CLI::App* generate =
      app.add_subcommand("generate", "write a workload, byte for byte reproducible");
  generate->footer(
      "Examples:\n  weir generate stocks --records 1000000 --seed 1 -o stocks.ndjson\n"
      "  weir generate sensors --records 1000 --streams 64");
  program.commands.push_back(add_generate_stocks(*generate));
  program.commands.push_back(add_generate_sensors(*generate));
  program.commands.push_back(add_convert(app));
  program.commands.push_back(add_validate(app));

  CLI::App* config = app.add_subcommand("config", "show the configuration of a replay");
  config->footer("Example:\n  weir config show --config run.toml --threads 2");
  program.commands.push_back(add_config_show(*config));
  program.commands.push_back(add_state(app));
  program.commands.push_back(add_inspect(app));
  program.commands.push_back(add_query(app));
  program.commands.push_back(add_merge(app));
  program.commands.push_back(add_synopses(app));
  program.commands.push_back(add_tree(app));
  program.commands.push_back(add_topology(app));
  program.commands.push_back(add_version(app));
  program.commands.push_back(add_completion(app));
  program.commands.push_back(add_help(app));
  allow_extras(&app);
  return program;
}

namespace {

int run_parsed(Program& program, int argc, const char* const* argv) {
  CLI::App& app = *program.app;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_of(selected(&app)));
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage,
                fmt::format("{}; see `{} --help`", error.what(), full_name(selected(&app))));
  }
  CLI::App* command = selected(&app);
  const std::vector<std::string> extras = command->remaining();
  const auto known = std::find_if(program.commands.begin(), program.commands.end(),
                                  [&](const Command& one) { return one.app == command; });
  const bool found = known != program.commands.end();
  if (found && known->takes_rest) {
    if (const std::string* wrong = wrong_option(extras)) return unexpected(command, *wrong);
  } else if (const auto left = rest_of(*command); !left.empty()) {
    return unexpected(command, left.front());
  }
  if (found) return known->run();
  // A group of commands alone: show what it holds, as a mistake.
  fmt::print(stderr, "{}", help_of(command));
  return kExitUsage;
}

// What was printed counts once it has left: a full disk is an error, a reader that went away is
// not.
int finish_output(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (errno == EPIPE) return status;
  return fail(kExitRun, fmt::format("cannot write standard output: {}", std::strerror(errno)));
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  Program program = make_program();
  try {
    return finish_output(run_parsed(program, argc, argv));
  } catch (const std::system_error& error) {  // fmt::print throws when the output takes no more
    if (error.code().value() == EPIPE) return kExitOk;
    return fail(kExitRun, fmt::format("cannot write standard output: {}",
                                      std::strerror(error.code().value())));
  }
}

}  // namespace weir::replay
