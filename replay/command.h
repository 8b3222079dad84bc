// Command: one subcommand of the program: where it stands in the tree of commands, and what it does
// once the command line has been read.
//
// Thread safety: thread-compatible.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replay/replay_options.h"
#include "weir/status.h"

namespace weir::replay {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;  // gives the exit status
  // Arguments that no option takes are its own, see rest_of(). (A list of positionals would do, but
  // that reads "[a,b]" as a list.)
  bool takes_rest = false;
};
// The arguments left over, without a "--" that ended the options.
std::vector<std::string> rest_of(const CLI::App& app);

// "weir generate stocks".
std::string full_name(const CLI::App* app);
// What --help shows of a command.
std::string help_of(const CLI::App* app);

// Each adds its subcommand to `program`.
Command add_replay(CLI::App& program);
Command add_generate_stocks(CLI::App& generate);
Command add_generate_sensors(CLI::App& generate);
Command add_convert(CLI::App& program);
Command add_validate(CLI::App& program);
Command add_config_show(CLI::App& config);
Command add_state(CLI::App& program);
Command add_inspect(CLI::App& program);
Command add_query(CLI::App& program);
Command add_merge(CLI::App& program);
Command add_synopses(CLI::App& program);
Command add_tree(CLI::App& program);
Command add_topology(CLI::App& program);
Command add_version(CLI::App& program);
Command add_help(CLI::App& program);
Command add_completion(CLI::App& program);

// The settings of replay_options.h as options of a command, with --config beside them.
class SettingArguments {
 public:
  // The options refer to *this, which must stay where it is.
  explicit SettingArguments(CLI::App& app);
  SettingArguments(const SettingArguments&) = delete;
  SettingArguments& operator=(const SettingArguments&) = delete;

  // The configuration file first, then the command line, which wins. Errors: Code::kConfig in the
  // file, Code::kInvalid on the command line.
  Status read(ReplayOptions& options) const;

 private:
  Status read_command_line(ReplayOptions& options) const;
  struct Given {
    const Setting* setting;
    CLI::Option* option;
    std::vector<std::string> values;
    bool on = false;
  };
  std::vector<std::unique_ptr<Given>> given_;
  std::string config_;
};

}  // namespace weir::replay
