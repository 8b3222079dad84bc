#include "replay/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace weir::replay {
namespace {

// One command: the words that lead to it, and what may follow.
struct Place {
  std::string path;  // "weir generate stocks"
  std::vector<const CLI::App*> commands;
  std::vector<const CLI::Option*> options;
  std::string arguments;  // the words that its argument may be; "" = files, or nothing
};

// The words an option takes where its value is named by them ("auto|none") and not by what it is
// ("FILE"), with blanks between them.
std::string words_of(const CLI::Option& option) {
  std::string words = option.get_type_name();
  if (std::any_of(words.begin(), words.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    return {};
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

void walk(const CLI::App& app, const std::string& before, std::vector<Place>& places) {
  Place place{before.empty() ? app.get_name() : before + " " + app.get_name(), {}, {}, {}};
  place.commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      place.options.push_back(option);
    } else {
      place.arguments = words_of(*option);
    }
  }
  const std::string path = place.path;
  const std::vector<const CLI::App*> below = place.commands;
  places.push_back(std::move(place));
  for (const CLI::App* command : below) walk(*command, path, places);
}

// `weir help` is followed by the commands that `weir` is followed by, and so on.
void add_help_places(std::vector<Place>& places) {
  const std::string root = places.front().path;
  std::vector<Place> helped;
  for (const Place& place : places) {
    if (place.commands.empty()) continue;
    helped.push_back({place.path, place.commands, {}, {}});
    helped.back().path.insert(root.size(), " help");
    std::erase_if(helped.back().commands,
                  [](const CLI::App* command) { return command->get_name() == "help"; });
  }
  std::erase_if(places, [&root](const Place& place) { return place.path == root + " help"; });
  places.insert(places.end(), helped.begin(), helped.end());
}

std::string names_of(const std::vector<const CLI::App*>& commands) {
  std::string names;
  for (const CLI::App* command : commands) {
    names += (names.empty() ? "" : " ") + command->get_name();
  }
  return names;
}

// The command so far is the words that are no options; values of options are looked past, since no
// command bears the name of one.
std::string bash(const std::vector<Place>& places) {
  std::string paths, cases, values;
  for (const Place& place : places) {
    paths += fmt::format("|{}", place.path);
    std::string options;
    for (const CLI::Option* option : place.options) {
      const std::string words = words_of(*option);
      for (const std::string& name : option->get_lnames()) {
        options += (options.empty() ? "--" : " --") + name;
        if (words.empty()) continue;
        values += fmt::format("    \"{} --{}\") words=\"{}\" ;;\n", place.path, name, words);
      }
    }
    const std::string words = place.commands.empty() ? place.arguments : names_of(place.commands);
    cases +=
        fmt::format("    \"{}\") words=\"{}\" options=\"{}\" ;;\n", place.path, words, options);
  }
  return fmt::format(R"(# bash completion for weir
_weir() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path="weir" words="" options="" i
  local previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$previous" == "=" ]]; then
    previous="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  local known="{}|"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ "$known" == *"|$path ${{COMP_WORDS[i]}}|"* ]]; then path="$path ${{COMP_WORDS[i]}}"; fi
  done
  case "$path" in
{}  esac
  case "$path $previous" in
{}  esac
  if [[ "$current" == -* ]]; then words="$options"; fi
  if [[ -n "$words" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _weir weir
)",
                     paths, cases, values);
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
    if (!place.commands.empty()) {
      condition += (condition.empty() ? "" : "; and ") +
                   fmt::format("not __fish_seen_subcommand_from {}", names_of(place.commands));
    }
    for (const CLI::App* command : place.commands) {
      script += fmt::format("complete -c weir -f -n '{}' -a {} -d '{}'\n", condition,
                            command->get_name(), fish_text(command->get_description()));
    }
    if (!place.arguments.empty()) {
      script += fmt::format("complete -c weir -f -n '{}' -a '{}'\n", condition, place.arguments);
    }
    for (const CLI::Option* option : place.options) {
      for (const std::string& name : option->get_lnames()) {
        const std::string words = words_of(*option);
        const std::string value = !words.empty() ? fmt::format(" -x -a '{}'", words)
                                  : option->get_expected_max() > 0 ? " -r"
                                                                   : "";
        script += fmt::format("complete -c weir -n '{}' -l {}{} -d '{}'\n", condition, name, value,
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
  add_help_places(places);
  if (shell == "bash") return bash(places);
  if (shell == "zsh") return zsh(places);
  if (shell == "fish") return fish(places);
  return {};
}

}  // namespace weir::replay
