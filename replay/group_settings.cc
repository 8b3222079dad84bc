#include "replay/group_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "replay/units.h"

namespace weir::replay {
namespace {

using Mode = GroupOptions::Mode;
using Late = GroupOptions::Late;
using Values = std::span<const std::string>;
using Shown = std::vector<std::string>;

constexpr std::array kModeWords = {"changelog", "tumbling", "sliding", "latest"};  // as Mode
constexpr std::array kLateWords = {"reject", "arrival"};                           // as Late

template <class Enum>
Status set_word(std::optional<Enum>& into, const std::string& text, std::string_view words) {
  const Result<std::size_t> choice = parse_choice(text, words);
  if (!choice.ok()) return choice.status();
  into = static_cast<Enum>(*choice);
  return {};
}

template <std::optional<std::int64_t> GroupSettings::*Member>
Status set_duration(GroupSettings& s, Values v) {
  const Result<std::int64_t> ns = parse_duration(v[0]);
  if (!ns.ok()) return ns.status();
  s.*Member = *ns;
  return {};
}
template <std::optional<std::int64_t> GroupSettings::*Member>
Shown show_duration(const GroupSettings& s) {
  return s.*Member ? Shown{period_text({*(s.*Member), 0})} : Shown{};
}

Status set_fields(GroupSettings& s, Values v) {
  if (std::any_of(v.begin(), v.end(), [](const std::string& name) { return name.empty(); })) {
    return {Code::kInvalid, "'' is empty; expected the name of a field"};
  }
  s.fields = {v.begin(), v.end()};
  return {};
}

constexpr const char* kModes = "changelog|tumbling|sliding|latest";
constexpr const char* kLates = "reject|arrival";
constexpr ModeSet kSliding = mode_set(Mode::kSliding);
constexpr ModeSet kWindowed = kSliding | mode_set(Mode::kTumbling);
constexpr ModeSet kWindowless = mode_set(Mode::kChangelog) | mode_set(Mode::kLatest);
constexpr ModeSet kPeriodic = kWindowed | mode_set(Mode::kLatest);
constexpr ModeSet kAll = kWindowed | kWindowless;

// Constant: the table of replay_options.cc is made of it before main().
constexpr std::array kSettings = {
    GroupSetting{"mode", SettingKind::kText, kModes, "of hierarchies; default: latest",
                 [](GroupSettings& s, Values v) { return set_word(s.mode, v[0], kModes); },
                 [](const GroupSettings& s) {
                   return s.mode ? Shown{kModeWords[static_cast<std::size_t>(*s.mode)]} : Shown{};
                 },
                 kAll},
    GroupSetting{
        "emit", SettingKind::kText, "PERIOD", "of this hierarchy's results",
        [](GroupSettings& s, Values v) {
          const Result<Period> period = Period::parse(v[0]);
          if (!period.ok()) return period.status();
          s.emit = *period;
          return Status();
        },
        [](const GroupSettings& s) { return s.emit ? Shown{period_text(*s.emit)} : Shown{}; },
        kPeriodic},
    GroupSetting{
        "grace", SettingKind::kText, "DURATION", "that records may come after their window's end",
        set_duration<&GroupSettings::grace>, show_duration<&GroupSettings::grace>, kWindowed},
    GroupSetting{"window", SettingKind::kText, "DURATION", "length of sliding windows",
                 set_duration<&GroupSettings::window>, show_duration<&GroupSettings::window>,
                 kSliding},
    GroupSetting{"advance", SettingKind::kText, "DURATION", "from one sliding window to the next",
                 set_duration<&GroupSettings::advance>, show_duration<&GroupSettings::advance>,
                 kSliding},
    GroupSetting{"late", SettingKind::kText, kLates, "what is older than its sensor's newest",
                 [](GroupSettings& s, Values v) { return set_word(s.late, v[0], kLates); },
                 [](const GroupSettings& s) {
                   return s.late ? Shown{kLateWords[static_cast<std::size_t>(*s.late)]} : Shown{};
                 },
                 kWindowless},
    GroupSetting{"max-age", SettingKind::kText, "DURATION", "after which a sensor's value is none",
                 set_duration<&GroupSettings::max_age>, show_duration<&GroupSettings::max_age>,
                 kWindowless},
    GroupSetting{"dataset", SettingKind::kText, "NAME", "of the sensors; default: any",
                 [](GroupSettings& s, Values v) {
                   if (v[0].empty()) {
                     return Status(Code::kInvalid, "'' is empty; expected the name of a dataset");
                   }
                   s.dataset = v[0];
                   return Status();
                 },
                 [](const GroupSettings& s) { return s.dataset ? Shown{*s.dataset} : Shown{}; },
                 kAll},
    GroupSetting{"field", SettingKind::kList, "NAME",
                 "to aggregate; default: the only one, or valueInW", set_fields,
                 [](const GroupSettings& s) { return s.fields; }, kAll},
};

bool has_effect(const char* name, Mode mode) {
  return (find_group_setting(name)->modes & mode_set(mode)) != 0;
}

}  // namespace

std::span<const GroupSetting> group_settings() { return kSettings; }

const GroupSetting* find_group_setting(std::string_view name) {
  const auto found = std::find_if(kSettings.begin(), kSettings.end(),
                                  [name](const GroupSetting& s) { return name == s.name; });
  return found == kSettings.end() ? nullptr : &*found;
}

GroupOptions group_options(const GroupSettings& all, const GroupSettings& own) {
  GroupOptions options;
  const auto take = [](auto& into, const auto& mine, const auto& others, bool inherits) {
    if (mine) {
      into = *mine;
    } else if (others && inherits) {
      into = *others;
    }
  };
  take(options.mode, own.mode, all.mode, true);
  const auto inherits = [&options](const char* name) { return has_effect(name, options.mode); };
  take(options.emit, own.emit, all.emit, inherits("emit"));
  take(options.grace, own.grace, all.grace, inherits("grace"));
  take(options.window, own.window, all.window, inherits("window"));
  take(options.advance, own.advance, all.advance, inherits("advance"));
  take(options.late, own.late, all.late, inherits("late"));
  take(options.max_age, own.max_age, all.max_age, inherits("max-age"));
  take(options.dataset, own.dataset, all.dataset, true);
  options.fields = own.fields.empty() ? all.fields : own.fields;
  return options;
}

const GroupSetting* setting_without_effect(const GroupSettings& said, ModeSet modes) {
  const auto found = std::find_if(kSettings.begin(), kSettings.end(), [&](const auto& setting) {
    return (setting.modes & modes) == 0 && !setting.show(said).empty();
  });
  return found == kSettings.end() ? nullptr : &*found;
}

std::string modes_text(ModeSet modes) {
  std::vector<std::string_view> words;
  for (std::size_t mode = 0; mode < kModeWords.size(); ++mode) {
    if ((modes & mode_set(static_cast<Mode>(mode))) != 0) words.push_back(kModeWords[mode]);
  }
  if (words.size() < 2) return std::string(words.empty() ? "" : words[0]);
  const std::string_view last = words.back();
  words.pop_back();
  return fmt::format("{} and {}", fmt::join(words, ", "), last);
}

}  // namespace weir::replay
