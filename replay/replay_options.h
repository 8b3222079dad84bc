// ReplayOptions: everything `weir replay` can be told, and the one table of settings from which the
// command line, the configuration file and `weir config show` are made.
//
// Thread safety: thread-compatible; the table is immutable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/paced_source.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::replay {

struct ReplayOptions {
  Config engine;                      // all but the mapping's text
  std::vector<std::string> inputs;    // files, directories, globs, "-"
  std::vector<std::string> requests;  // files
  std::string answers;                // "" = standard output, as a table on a terminal
  std::string rejects;                // "" = counted only
  std::string summary;                // "" = only the readable one
  std::string mapping;
  Speed speed;
  std::string progress = "auto";
  bool strict = false;
  bool json = false;        // the summary on standard error as JSON
  std::string config_file;  // the one that had a part in it
};

enum class SettingKind {
  kText,    // TOML string
  kList,    // TOML string or array of strings; repeatable on the command line
  kSwitch,  // TOML boolean; takes no value on the command line
  kCount,   // TOML integer
  kSize,    // TOML integer, or a string such as "64K"
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

// What single settings cannot see: kConfig if they do not go together.
Status check_together(const ReplayOptions& options);

// The effective configuration as TOML with every default; unset settings stand there as comments.
std::string options_as_toml(const ReplayOptions& options);

}  // namespace weir::replay
