// What settings of a replay mean together, and whether they go together.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/config_check.h"
#include "replay/replay_options.h"

namespace weir::replay {
namespace {

Status without_hierarchies(const ReplayOptions& options) {
  constexpr const char* kRight = "give registry FILE, or control FILE that brings hierarchies";
  if (const GroupSetting* said = setting_without_effect(options.groups, 0)) {
    return {Code::kConfig,
            fmt::format("{} has no effect without hierarchies; {}", said->name, kRight)};
  }
  if (!options.results.empty()) {
    return {Code::kConfig, fmt::format("results {} would stay empty without hierarchies; {}",
                                       options.results, kRight)};
  }
  return {};
}

Status without_effect(const GroupSetting& setting, ModeSet modes) {
  return {Code::kConfig, fmt::format("{} has no effect with mode {}; it is of {}", setting.name,
                                     modes_text(modes), modes_text(setting.modes))};
}

Status check_hierarchies(const ReplayOptions& options) {
  // What stands for all may serve one that has another mode.
  ModeSet modes = mode_set(group_options(options.groups).mode);
  for (const HierarchySettings& hierarchy : options.hierarchies) {
    const GroupOptions own = group_options(options.groups, hierarchy.groups);
    modes |= mode_set(own.mode);
    if (const auto* said = setting_without_effect(hierarchy.groups, mode_set(own.mode))) {
      return without_effect(*said, mode_set(own.mode)).with(hierarchy.registry);
    }
  }
  if (const auto* said = setting_without_effect(options.groups, modes)) {
    return without_effect(*said, modes);
  }
  return {};
}

}  // namespace

bool has_hierarchies(const ReplayOptions& options) {
  return !options.registries.empty() || !options.hierarchies.empty() || !options.control.empty();
}

bool answers_on_standard_output(const ReplayOptions& options) {
  const bool asked = !options.requests.empty() || !options.control.empty();
  return options.answers.empty() && (options.results != "-" || asked);
}

Config engine_config(const ReplayOptions& options) {
  Config config = options.engine;
  config.groups = group_options(options.groups);
  return config;
}

Status check_together(const ReplayOptions& options) {
  if (options.engine.layout != "auto" && !options.mapping.empty()) {
    return {Code::kConfig, fmt::format("layout {} and mapping {} both say what records look like; "
                                       "give one of them",
                                       options.engine.layout, options.mapping)};
  }
  const auto reads_standard = [](const std::vector<std::string>& files) {
    return std::find(files.begin(), files.end(), "-") != files.end();
  };
  if (options.control == "-" &&
      (reads_standard(options.inputs) || reads_standard(options.requests))) {
    return {Code::kConfig, fmt::format("control - and {} - both read standard input; name a file",
                                       reads_standard(options.inputs) ? "inputs" : "requests")};
  }
  const bool hierarchies = has_hierarchies(options);
  const Status s = hierarchies ? check_hierarchies(options) : without_hierarchies(options);
  if (!s.ok()) return s;
  if (options.titan_names && options.results.empty()) {
    return {Code::kConfig, "titan-names has no effect without results FILE"};
  }
  // The texts of registries are not known yet; what is said about each is.
  Config config = engine_config(options);
  for (const HierarchySettings& hierarchy : options.hierarchies) {
    config.hierarchies.push_back(
        {"", hierarchy.registry, group_options(options.groups, hierarchy.groups)});
  }
  return engine::check_config(config);
}

}  // namespace weir::replay
