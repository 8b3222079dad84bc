#include "replay/replay_options.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "engine/config_check.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

using Values = std::span<const std::string>;
using Shown = std::vector<std::string>;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

Shown shown(const std::string& text) { return text.empty() ? Shown{} : Shown{text}; }

template <std::string ReplayOptions::*Member>
Status set_text(ReplayOptions& o, Values v) {
  if (v[0].empty()) return {Code::kInvalid, "'' is empty; expected a name"};
  o.*Member = v[0];
  return {};
}
template <std::string ReplayOptions::*Member>
Shown show_text(const ReplayOptions& o) {
  return shown(o.*Member);
}
// A directory that the engine uses; what it is used for says whether it must be there.
template <std::string Config::*Member>
Status set_directory(ReplayOptions& o, Values v) {
  if (v[0].empty()) return {Code::kInvalid, "'' is empty; expected a directory"};
  o.engine.*Member = v[0];
  return {};
}
template <std::string Config::*Member>
Shown show_directory(const ReplayOptions& o) {
  return shown(o.engine.*Member);
}
template <std::vector<std::string> ReplayOptions::*Member>
Status set_list(ReplayOptions& o, Values v) {
  o.*Member = {v.begin(), v.end()};
  return {};
}
template <std::vector<std::string> ReplayOptions::*Member>
Shown show_list(const ReplayOptions& o) {
  return o.*Member;
}

template <class T>
Status set_number(T& into, Result<std::uint64_t> parsed) {
  if (!parsed.ok()) return parsed.status();
  into = static_cast<T>(*parsed);
  return {};
}
template <unsigned Config::*Member>
Status set_threads(ReplayOptions& o, Values v) {
  return set_number(o.engine.*Member, parse_count(v[0], 0, engine::kMaxThreads));
}
template <unsigned Config::*Member>
Shown show_threads(const ReplayOptions& o) {
  return {std::to_string(o.engine.*Member)};
}

// What help and completion show of a setting that takes one of a few words, and what is checked.
constexpr const char* kPlacements = "auto|spread|none";
constexpr const char* kLayouts = "auto|saams|titan|ticks";
constexpr const char* kProgress = "auto|plain|none";

Status set_choice(std::string& into, Values v, std::string_view words) {
  if (const auto choice = parse_choice(v[0], words); !choice.ok()) return choice.status();
  into = v[0];
  return {};
}

Status set_bounded_size(std::size_t& into, const std::string& text, std::uint64_t min,
                        std::uint64_t max) {
  const Result<std::uint64_t> size = parse_size(text);
  if (!size.ok()) return size.status();
  if (*size < min || *size > max) {
    return {Code::kInvalid, fmt::format("'{}' is out of range; expected {} to {}", text,
                                        size_text(min), size_text(max))};
  }
  into = *size;
  return {};
}

Status set_bool(bool& into, Values v) {
  into = v[0] == "true";
  return {};
}
Shown show_bool(bool value) { return {value ? "true" : "false"}; }

// The setting of group_settings.h with this name, for all hierarchies.
template <const char* const& Name>
Setting of_groups() {
  static const GroupSetting& setting = *find_group_setting(Name);
  return {setting.name,
          setting.kind,
          setting.value_name,
          setting.help,
          [](ReplayOptions& o, Values v) { return setting.set(o.groups, v); },
          [](const ReplayOptions& o) { return setting.show(o.groups); }};
}
constexpr const char *kMode = "mode", *kGrace = "grace", *kWindow = "window", *kAdvance = "advance",
                     *kLate = "late", *kMaxAge = "max-age", *kDataset = "dataset",
                     *kField = "field";

const std::array kSettings = {
    Setting{kInputsSetting, SettingKind::kList, "INPUT",
            "files, directories, globs; - is standard input", set_list<&ReplayOptions::inputs>,
            show_list<&ReplayOptions::inputs>},
    Setting{"requests", SettingKind::kList, "FILE", "builds and queries, JSON; may be given again",
            set_list<&ReplayOptions::requests>, show_list<&ReplayOptions::requests>},
    Setting{"answers", SettingKind::kText, "FILE", "answers as NDJSON; default: standard output",
            set_text<&ReplayOptions::answers>, show_text<&ReplayOptions::answers>},
    Setting{"rejects", SettingKind::kText, "FILE", "rejected records with their reasons as NDJSON",
            set_text<&ReplayOptions::rejects>, show_text<&ReplayOptions::rejects>},
    Setting{"summary", SettingKind::kText, "FILE", "the summary as JSON",
            set_text<&ReplayOptions::summary>, show_text<&ReplayOptions::summary>},
    Setting{"registry", SettingKind::kList, "FILE",
            "groups of sensors, JSON or CSV; may be given again",
            set_list<&ReplayOptions::registries>, show_list<&ReplayOptions::registries>},
    Setting{"control", SettingKind::kText, "FILE", "changes, NDJSON; - takes them while it runs",
            set_text<&ReplayOptions::control>, show_text<&ReplayOptions::control>},
    Setting{"results", SettingKind::kText, "FILE", "results of groups as NDJSON",
            set_text<&ReplayOptions::results>, show_text<&ReplayOptions::results>},
    Setting{"titan-names", SettingKind::kSwitch, "",
            "results say sumInW, averageInW, minInW, maxInW",
            [](ReplayOptions& o, Values v) { return set_bool(o.titan_names, v); },
            [](const ReplayOptions& o) { return show_bool(o.titan_names); }},
    of_groups<kMode>(),
    of_groups<kGrace>(),
    of_groups<kWindow>(),
    of_groups<kAdvance>(),
    of_groups<kLate>(),
    of_groups<kMaxAge>(),
    of_groups<kDataset>(),
    of_groups<kField>(),
    Setting{"state-dir", SettingKind::kText, "DIR",
            "where saved synopses, snapshots, the journal are",
            set_directory<&Config::state_directory>, show_directory<&Config::state_directory>},
    Setting{"snapshot-every", SettingKind::kText, "PERIOD",
            "of elapsed time or records: 30s, \"1000000 records\"",
            [](ReplayOptions& o, Values v) {
              const Result<Period> period = Period::parse(v[0]);
              if (!period.ok()) return period.status();
              o.engine.snapshot_every = *period;
              return Status();
            },
            [](const ReplayOptions& o) {
              const Period& every = o.engine.snapshot_every;
              return every == Period{} ? Shown{} : Shown{period_text(every)};
            }},
    Setting{"journal", SettingKind::kSwitch, "", "keep what pipes bring until a snapshot holds it",
            [](ReplayOptions& o, Values v) { return set_bool(o.engine.journal, v); },
            [](const ReplayOptions& o) { return show_bool(o.engine.journal); }},
    Setting{"resume", SettingKind::kSwitch, "", "go on from the newest snapshot in --state-dir",
            [](ReplayOptions& o, Values v) { return set_bool(o.engine.resume, v); },
            [](const ReplayOptions& o) { return show_bool(o.engine.resume); }},
    Setting{"faults", SettingKind::kText, "FILE", "what is to go wrong, TOML (for tests)",
            set_text<&ReplayOptions::faults>, show_text<&ReplayOptions::faults>},
    Setting{"plugin-dir", SettingKind::kText, "DIR", "where plugin requests find theirs",
            set_directory<&Config::plugin_directory>, show_directory<&Config::plugin_directory>},
    Setting{"digest", SettingKind::kSwitch, "", "compute a digest of the final state",
            [](ReplayOptions& o, Values v) { return set_bool(o.engine.digest, v); },
            [](const ReplayOptions& o) { return show_bool(o.engine.digest); }},
    Setting{"threads", SettingKind::kCount, "N", "threads in all; 0 = one for each core",
            set_threads<&Config::threads>, show_threads<&Config::threads>},
    Setting{"ingest-threads", SettingKind::kCount, "N",
            "threads that only parse; needs --shard-threads", set_threads<&Config::ingest_threads>,
            show_threads<&Config::ingest_threads>},
    Setting{"shard-threads", SettingKind::kCount, "N",
            "threads that only apply; needs --ingest-threads", set_threads<&Config::shard_threads>,
            show_threads<&Config::shard_threads>},
    Setting{
        "placement", SettingKind::kText, kPlacements, "auto is compact, none pins no thread",
        [](ReplayOptions& o, Values v) { return set_choice(o.engine.placement, v, kPlacements); },
        [](const ReplayOptions& o) { return shown(o.engine.placement); }},
    Setting{"block-size", SettingKind::kSize, "SIZE", "bytes cut at a time, 4K to 8M",
            [](ReplayOptions& o, Values v) {
              return set_bounded_size(o.engine.block_size, v[0], engine::kMinBlockSize,
                                      engine::kMaxBlockSize);
            },
            [](const ReplayOptions& o) { return shown(size_text(o.engine.block_size)); }},
    Setting{"max-record-bytes", SettingKind::kSize, "SIZE", "longer records are rejected",
            [](ReplayOptions& o, Values v) {
              return set_bounded_size(o.engine.max_record_bytes, v[0], engine::kMinRecordBytes,
                                      engine::kMaxRecordBytes);
            },
            [](const ReplayOptions& o) { return shown(size_text(o.engine.max_record_bytes)); }},
    Setting{
        "max-rejects", SettingKind::kCount, "N",
        "rejects written at most; further ones are counted",
        [](ReplayOptions& o, Values v) {
          return set_number(o.engine.max_reject_samples, parse_count(v[0], 0, kNoLimit));
        },
        [](const ReplayOptions& o) { return Shown{std::to_string(o.engine.max_reject_samples)}; }},
    Setting{"layout", SettingKind::kText, kLayouts, "of the records (docs/inputs.md)",
            [](ReplayOptions& o, Values v) { return set_choice(o.engine.layout, v, kLayouts); },
            [](const ReplayOptions& o) { return shown(o.engine.layout); }},
    Setting{"mapping", SettingKind::kText, "FILE", "a layout of your own, TOML (docs/inputs.md)",
            set_text<&ReplayOptions::mapping>, show_text<&ReplayOptions::mapping>},
    Setting{"speed", SettingKind::kText, "SPEED", "max, 60x (of the records' own time), or 50000/s",
            [](ReplayOptions& o, Values v) {
              const Result<Speed> speed = parse_speed(v[0]);
              if (!speed.ok()) return speed.status();
              o.speed = *speed;
              return Status();
            },
            [](const ReplayOptions& o) { return Shown{o.speed.text()}; }},
    Setting{"emit", SettingKind::kText, "PERIOD",
            "of answers, results: 60s, 5m, \"100000 records\"",
            [](ReplayOptions& o, Values v) {
              Result<Period> period = Period::parse(v[0]);
              if (!period.ok()) return period.status();
              o.engine.emit = *period;
              return Status();
            },
            [](const ReplayOptions& o) { return shown(period_text(o.engine.emit)); }},
    Setting{"max-jump", SettingKind::kText, "DURATION", "records dated further ahead are rejected",
            [](ReplayOptions& o, Values v) {
              const Result<std::int64_t> ns = parse_duration(v[0]);
              if (!ns.ok()) return ns.status();
              o.engine.max_jump = *ns;
              return Status();
            },
            [](const ReplayOptions& o) {
              return o.engine.max_jump == 0 ? Shown{} : Shown{period_text({o.engine.max_jump, 0})};
            }},
    Setting{"progress", SettingKind::kText, kProgress,
            "auto is a bar, on a terminal only; plain: lines",
            [](ReplayOptions& o, Values v) { return set_choice(o.progress, v, kProgress); },
            show_text<&ReplayOptions::progress>},
    Setting{"strict", SettingKind::kSwitch, "", "exit with status 3 if a record was rejected",
            [](ReplayOptions& o, Values v) { return set_bool(o.strict, v); },
            [](const ReplayOptions& o) { return show_bool(o.strict); }},
    Setting{"json", SettingKind::kSwitch, "", "the summary on standard error as JSON",
            [](ReplayOptions& o, Values v) { return set_bool(o.json, v); },
            [](const ReplayOptions& o) { return show_bool(o.json); }},
};

std::string toml_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else if (c == '$') {
      quoted += "$$";  // config_file.cc reads it back as one
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

std::span<const Setting> replay_settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kSettings) {
    if (name == setting.name) return &setting;
  }
  return nullptr;
}

namespace {

// "[a, b]" or what the kind of the setting looks like. REQUIRES: at least one value, unless kList.
std::string toml_value(SettingKind kind, const Shown& values) {
  if (kind == SettingKind::kSwitch || kind == SettingKind::kCount) return values[0];
  if (kind != SettingKind::kList) return toml_string(values[0]);
  std::string list;
  for (const std::string& v : values) list += (list.empty() ? "" : ", ") + toml_string(v);
  return "[" + list + "]";
}

std::string hierarchy_as_toml(const HierarchySettings& hierarchy) {
  std::string text = "\n[[hierarchy]]\nregistry = " + toml_string(hierarchy.registry) + "\n";
  for (const GroupSetting& setting : group_settings()) {
    const Shown values = setting.show(hierarchy.groups);
    if (values.empty()) continue;
    text += fmt::format("{} = {}\n", setting.name, toml_value(setting.kind, values));
  }
  return text;
}

}  // namespace

std::string options_as_toml(const ReplayOptions& options) {
  std::string text;
  for (const Setting& setting : kSettings) {
    const Shown values = setting.show(options);
    const bool list = setting.kind == SettingKind::kList;
    if (values.empty() && !list) {
      text += fmt::format("# {} = \"{}\"  # unset: {}\n", setting.name, setting.value_name,
                          setting.help);
      continue;
    }
    const std::string value = toml_value(setting.kind, values);
    const bool words = std::string_view(setting.value_name).find('|') != std::string_view::npos;
    text += fmt::format("{} = {}  # {}{}{}\n", setting.name, value, words ? setting.value_name : "",
                        words ? "; " : "", setting.help);
  }
  // Tables come last: what stands behind one would be its own.
  for (const HierarchySettings& hierarchy : options.hierarchies) {
    text += hierarchy_as_toml(hierarchy);
  }
  return text;
}

}  // namespace weir::replay
