// SettingKind: what the values of a setting look like, in TOML and on the command line.
//
// Thread safety: immutable values.
#pragma once

namespace weir::replay {

enum class SettingKind {
  kText,    // TOML string
  kList,    // TOML string or array of strings; repeatable on the command line
  kSwitch,  // TOML boolean; takes no value on the command line
  kCount,   // TOML integer
  kSize,    // TOML integer, or a string such as "64K"
};

}  // namespace weir::replay
