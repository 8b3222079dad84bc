// ReplayOptions: everything `weir replay` can be told, and the one table of settings from which the
// command line, the configuration file and `weir config show` are made.
//
// Thread safety: thread-compatible; the table is immutable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/group_settings.h"
#include "replay/paced_source.h"
#include "replay/setting_kind.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::replay {

struct ReplayOptions {
  Config engine;                      // all but texts of files, and groups
  std::vector<std::string> inputs;    // files, directories, globs, "-"
  std::vector<std::string> requests;  // files
  std::string answers;                // "" = standard output, as a table on a terminal
  std::string rejects;                // "" = counted only
  std::string summary;                // "" = only the readable one
  std::string mapping;
  std::vector<std::string> registries;         // files
  std::vector<HierarchySettings> hierarchies;  // [[hierarchy]] of the configuration file
  GroupSettings groups;                        // of all hierarchies that say nothing else
  std::string control;
  std::string results;  // "" = counted only
  std::string faults;   // a fault plan, "" = none
  bool titan_names = false;
  Speed speed;
  std::string progress = "auto";
  bool strict = false;
  bool json = false;        // the summary on standard error as JSON
  std::string config_file;  // the one that had a part in it
};

struct Setting {
  const char* name;  // key in TOML, "--name" on the command line
  SettingKind kind;
  const char* value_name;  // in help: "FILE"; or the words there are, "auto|none"
  const char* help;
  // Checks and takes one value, or all values of a list. An error says what was expected, without
  // the name of the setting. REQUIRES: exactly one value unless kList.
  Status (*set)(ReplayOptions&, std::span<const std::string>);
  // The current values as set() takes them; none = unset.
  std::vector<std::string> (*show)(const ReplayOptions&);
};

// In the order of help and of `weir config show`. `inputs` is the only one without an option.
std::span<const Setting> replay_settings();
const Setting* find_setting(std::string_view name);
inline constexpr const char* kInputsSetting = "inputs";

// There are hierarchies, or will be.
bool has_hierarchies(const ReplayOptions& options);
// Answers go to standard output: unless they have a file, or the results go there and nothing is
// asked.
bool answers_on_standard_output(const ReplayOptions& options);

// The engine's configuration, but for what stands in files: mapping and registries.
Config engine_config(const ReplayOptions& options);

// What single settings cannot see: kConfig if they do not go together.
Status check_together(const ReplayOptions& options);

// The effective configuration as TOML with every default; unset settings stand there as comments.
std::string options_as_toml(const ReplayOptions& options);

}  // namespace weir::replay
