#include "replay/completion.h"

#include <fmt/format.h>

#include <vector>

namespace weir::replay {
namespace {

// One command: the words that lead to it, and what may follow.
struct Place {
  std::string path;  // "weir generate stocks"
  std::vector<const CLI::App*> commands;
  std::vector<const CLI::Option*> options;
};

void walk(const CLI::App& app, const std::string& before, std::vector<Place>& places) {
  Place place{before.empty() ? app.get_name() : before + " " + app.get_name(), {}, {}};
  place.commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) place.options.push_back(option);
  }
  const std::string path = place.path;
  const std::vector<const CLI::App*> below = place.commands;
  places.push_back(std::move(place));
  for (const CLI::App* command : below) walk(*command, path, places);
}

std::string words_of(const Place& place) {
  std::string words;
  for (const CLI::App* command : place.commands) words += command->get_name() + " ";
  for (const CLI::Option* option : place.options) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

// The command so far is the words that are no options; values of options are looked past, since no
// command bears the name of one.
std::string bash(const std::vector<Place>& places) {
  std::string cases;
  for (const Place& place : places) {
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", place.path, words_of(place));
  }
  std::string paths;
  for (const Place& place : places) paths += fmt::format("|{}", place.path);
  return fmt::format(R"(# bash completion for weir
_weir() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path="weir" words="" i
  local known="{}|"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ "$known" == *"|$path ${{COMP_WORDS[i]}}|"* ]]; then path="$path ${{COMP_WORDS[i]}}"; fi
  done
  case "$path" in
{}  esac
  if [[ "$current" == -* || "$words" != -* && "$path" =~ ^weir( generate| config)?$ ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _weir weir
)",
                     paths, cases);
}

std::string zsh(const std::vector<Place>& places) {
  return "#compdef weir\nautoload -U +X bashcompinit && bashcompinit\n" + bash(places);
}

std::string fish_text(std::string text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted;
}

std::string fish(const std::vector<Place>& places) {
  std::string script = "# fish completion for weir\n";
  for (const Place& place : places) {
    // Words of the path after "weir", each of which must have been seen; at a group of commands
    // none of its members may have been.
    std::string condition;
    std::string rest = place.path.substr(std::string("weir").size());
    while (!rest.empty()) {
      const std::size_t end = rest.find(' ', 1);
      condition += (condition.empty() ? "" : "; and ") +
                   fmt::format("__fish_seen_subcommand_from{}", rest.substr(0, end));
      rest = end == std::string::npos ? "" : rest.substr(end);
    }
    std::string members;
    for (const CLI::App* command : place.commands) members += " " + command->get_name();
    if (!members.empty()) {
      condition += (condition.empty() ? "" : "; and ") +
                   fmt::format("not __fish_seen_subcommand_from{}", members);
    }
    for (const CLI::App* command : place.commands) {
      script += fmt::format("complete -c weir -f -n '{}' -a {} -d '{}'\n", condition,
                            command->get_name(), fish_text(command->get_description()));
    }
    for (const CLI::Option* option : place.options) {
      for (const std::string& name : option->get_lnames()) {
        script += fmt::format("complete -c weir -n '{}' -l {}{} -d '{}'\n", condition, name,
                              option->get_expected_max() > 0 ? " -r" : "",
                              fish_text(option->get_description()));
      }
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
  std::vector<Place> places;
  walk(program, "", places);
  if (shell == "bash") return bash(places);
  if (shell == "zsh") return zsh(places);
  if (shell == "fish") return fish(places);
  return {};
}

}  // namespace weir::replay
