#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>

#include "engine/json_text.h"
#include "engine/registry_text.h"
#include "hierarchy/tree.h"
#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/line_writer.h"
#include "replay/progress.h"
#include "replay/tree_view.h"

namespace weir::replay {
namespace {

struct TreeOptions {
  std::vector<std::string> registries;
  std::string results, field;
  bool json = false;
};

using Registries = std::vector<std::shared_ptr<const hierarchy::Registry>>;

Result<Registries> read_all(const std::vector<std::string>& files) {
  Registries all;
  for (const std::string& file : files) {
    const Result<std::string> text = read_text(file);
    if (!text.ok()) return Status(Code::kConfig, text.status().message());
    auto registries = engine::parse_registries(*text, file);
    if (!registries.ok()) return Status(Code::kConfig, registries.status().message());
    for (hierarchy::Registry& registry : *registries) {
      const Status fits = hierarchy::Tree::check(registry);
      if (!fits.ok()) return Status(Code::kConfig, fits.with(file).message());
      all.push_back(std::make_shared<const hierarchy::Registry>(std::move(registry)));
    }
  }
  return all;
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

Status read_results(const std::string& file, GroupLines& into) {
  if (file.empty()) return {};
  if (file == "-") return into.read(std::cin, shown_name(file));
  errno = 0;
  std::ifstream lines(file);
  if (!lines) {
    return {Code::kNotFound, fmt::format("cannot read {}: {}", file, std::strerror(errno))};
  }
  return into.read(lines, shown_name(file));
}

bool is_of_any(const GroupLines& results, const Registries& registries) {
  for (const auto& registry : registries) {
    for (const hierarchy::Group& group : registry->groups()) {
      for (const std::string& field : results.fields()) {
        if (results.find(registry->root().identifier, group.identifier, field) != nullptr) {
          return true;
        }
      }
    }
  }
  return false;
}

// What the results tell beside the tree. REQUIRES: they were read.
void note_oddities(const std::string& file, const GroupLines& results,
                   const Registries& registries) {
  constexpr std::size_t kSome = 5;  // hierarchies that are named
  if (results.unfinished() != 0) {
    note(fmt::format("{}:{}: the unfinished last line was passed over", shown_name(file),
                     results.unfinished()));
  }
  if (results.size() == 0 || is_of_any(results, registries)) return;
  const std::set<std::string>& all = results.hierarchies();
  const std::vector<std::string> some(all.begin(),
                                      std::next(all.begin(), std::min(kSome, all.size())));
  note(
      fmt::format("{}: no result is of a group of the registry; there are results of hierarchies "
                  "{}{}",
                  shown_name(file), fmt::join(some, ", "), all.size() > some.size() ? ", …" : ""));
}

int print_tree(const TreeOptions& options) {
  if (options.registries.empty()) {
    return fail(kExitUsage, "tree needs --registry FILE; see `weir tree --help`");
  }
  const Result<Registries> registries = read_all(options.registries);
  if (!registries.ok()) return fail(kExitConfig, registries.status().message());
  GroupLines results;
  if (const Status s = read_results(options.results, results); !s.ok()) {
    return fail(kExitRun, s.message());
  }
  note_oddities(options.results, results, *registries);
  std::vector<std::string> fields(results.fields().begin(), results.fields().end());
  if (!options.field.empty()) {
    const std::string wanted = engine::json_text(options.field);
    if (results.fields().count(wanted) == 0) {
      return fail(kExitUsage,
                  fmt::format("--field: no result is of {}; there are {}", wanted,
                              fields.empty() ? "none" : fmt::to_string(fmt::join(fields, ", "))));
    }
    fields = {wanted};
  }
  if (fields.empty()) fields = {""};
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const TreeLook look{utf8_locale(), terminal ? terminal_width(STDOUT_FILENO) : 0};
  const char* between = "";
  for (const auto& registry : *registries) {
    if (options.json) {
      fmt::print("{}", tree_json(registry, results));
      continue;
    }
    for (const std::string& field : fields) {
      fmt::print("{}", between);
      if (fields.size() > 1) fmt::print("{}:\n", field);
      fmt::print("{}", tree_text(registry, results, field, look));
      between = "\n";
    }
  }
  return kExitOk;
}

}  // namespace

Command add_tree(CLI::App& program) {
  CLI::App* app = program.add_subcommand("tree", "show a hierarchy, with its newest results");
  app->footer(
      "With results: the newest of each group, the last in the file where several\n"
      "are of one place. count: members with a value of all members; missing: sensors\n"
      "without one; record: the place of the result. A group that stands in several is\n"
      "shown in full once. Examples:\n"
      "  weir tree --registry plant.json\n"
      "  weir tree --registry plant.json --results results.ndjson\n"
      "  weir tree --registry plant.csv --json");
  auto options = std::make_shared<TreeOptions>();
  app->add_option("--registry", options->registries,
                  "groups of sensors, JSON or CSV; may be given again")
      ->type_name("FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app->add_option("--results", options->results, "of replay --results; - is standard input")
      ->type_name("FILE");
  app->add_option("--field", options->field, "only results of this field")->type_name("NAME");
  app->add_flag("--json", options->json, "one JSON object a line, a group or sensor");
  return {app, [options] { return print_tree(*options); }};
}

}  // namespace weir::replay
