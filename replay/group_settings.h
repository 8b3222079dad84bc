// GroupSettings: what has been said about how the groups of hierarchies are aggregated, for all of
// them (options, top-level keys) or for one ([[hierarchy]]); and the one table of these settings.
//
// Invariants
//  1. What has not been said is told from what has been said to be as by default: only the former
//     is taken from elsewhere, and only the latter can be without effect.
// Thread safety: immutable values; the table is immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/setting_kind.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::replay {

struct GroupSettings {
  std::optional<GroupOptions::Mode> mode;
  std::optional<Period> emit;  // of one hierarchy only; that of all is Config::emit
  std::optional<std::int64_t> grace, window, advance, max_age;  // ns
  std::optional<GroupOptions::Late> late;
  std::optional<std::string> dataset;
  std::vector<std::string> fields;  // empty = not said
  friend bool operator==(const GroupSettings&, const GroupSettings&) = default;
};

// A [[hierarchy]] of a configuration file.
struct HierarchySettings {
  std::string registry;  // the file
  GroupSettings groups;
  friend bool operator==(const HierarchySettings&, const HierarchySettings&) = default;
};

// A bit for each GroupOptions::Mode.
using ModeSet = unsigned;
constexpr ModeSet mode_set(GroupOptions::Mode mode) { return 1u << static_cast<unsigned>(mode); }
// "changelog and latest".
std::string modes_text(ModeSet modes);

struct GroupSetting {
  const char* name;
  SettingKind kind;
  const char* value_name;
  const char* help;
  // As Setting::set and Setting::show (replay_options.h).
  Status (*set)(GroupSettings&, std::span<const std::string>);
  std::vector<std::string> (*show)(const GroupSettings&);
  ModeSet modes;  // in these it does something
};

std::span<const GroupSetting> group_settings();
const GroupSetting* find_group_setting(std::string_view name);

// Windowless modes have no grace, and so on: what `all` says is taken where the mode has it and
// `own` says nothing.
GroupOptions group_options(const GroupSettings& all, const GroupSettings& own = {});

// The first setting that is said and does nothing in any of the modes; null if there is none.
const GroupSetting* setting_without_effect(const GroupSettings& said, ModeSet modes);

}  // namespace weir::replay
