#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/config_check.h"
#include "engine/json_text.h"
#include "engine/registry_text.h"
#include "hierarchy/groups.h"
#include "ingest/layout.h"
#include "replay/command.h"
#include "replay/config_file.h"
#include "replay/exit_status.h"
#include "replay/line_writer.h"
#include "replay/registry_files.h"
#include "replay/request_check.h"
#include "weir/engine.h"

namespace weir::replay {
namespace {

struct ValidateOptions {
  std::vector<std::string> configs, mappings, requests, registries, controls;
  std::string plugins, emit;  // as replay will be given them; "" = what a configuration says
  bool json = false;
};

struct Verdict {
  std::string file;
  std::string kind;
  std::vector<std::string> errors;
  std::string what;  // of a good file: "12 requests"
};

std::string counted(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

class Validation {
 public:
  explicit Validation(const ValidateOptions& options) : options_(options) {}

  int run() {
    // A period that only the command line of a run will tell is not known.
    RunSettings settings{options_.plugins, std::nullopt};
    if (!options_.emit.empty()) {
      const Result<Period> period = Period::parse(options_.emit);
      if (!period.ok()) return fail(kExitUsage, period.status().with("--emit").message());
      settings.emit = *period;
    }
    for (const std::string& file : options_.configs) config(file, settings);
    // Files that stand beside a configuration are run with it.
    if (of_config_.has_value()) settings = *of_config_;
    for (const std::string& file : options_.mappings) mapping(file);
    for (const std::string& file : options_.requests) requests(file, settings);
    begin_run();
    for (const std::string& file : options_.registries) registry(file, std::nullopt);
    for (const std::string& file : options_.controls) control(file);
    check_all_requests();
    return report();
  }

 private:
  // What requests depend on of the run that they are for.
  struct RunSettings {
    std::string plugins;
    std::optional<Period> emit;
  };

  // A file that is named twice, or by a configuration too, is looked at once.
  bool known(const std::string& file, std::string_view kind) const {
    return known(file, kind, verdicts_.size());
  }
  // Among the first so many verdicts.
  bool known(const std::string& file, std::string_view kind, std::size_t first) const {
    const auto end = verdicts_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::any_of(verdicts_.begin(), end, [&](const Verdict& verdict) {
      return verdict.kind == kind && verdict.file == file;
    });
  }

  Verdict& begin(const std::string& file, const char* kind) {
    verdicts_.push_back({file, kind, {}, kind});
    return verdicts_.back();
  }

  // The mapping and requests that a configuration names are part of it.
  void config(const std::string& file, RunSettings settings) {
    if (known(file, "configuration")) return;
    ReplayOptions replay;
    Verdict& verdict = begin(file, "configuration");
    const Result<std::string> text = read_text(file);
    if (!text.ok()) {
      verdict.errors.push_back(text.status().message());
      return;
    }
    if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
      verdict.errors.push_back(file + ": it is empty; `weir config show` prints a configuration");
      return;
    }
    if (const Status s = parse_config(*text, file, process_environment, replay); !s.ok()) {
      verdict.errors.push_back(s.message());
      return;
    }
    if (const Status s = check_together(replay); !s.ok()) {
      verdict.errors.push_back(s.with(file).message());
    } else if (const auto engine = Engine::create(replay.engine); !engine.ok()) {
      verdict.errors.push_back(engine.status().with(file).message());
    }
    if (!replay.mapping.empty()) mapping(replay.mapping);
    if (settings.plugins.empty()) settings.plugins = replay.engine.plugin_directory;
    if (!settings.emit.has_value()) settings.emit = replay.engine.emit;
    for (const std::string& named : replay.requests) requests(named, settings);
    const Config config = engine_config(replay);
    begin_run();
    for (const std::string& named : replay.registries) {
      registry(named, engine::with_emit(config.groups, config.emit));
    }
    for (const HierarchySettings& said : replay.hierarchies) {
      registry(said.registry,
               engine::with_emit(group_options(replay.groups, said.groups), config.emit));
    }
    if (!replay.control.empty() && replay.control != "-") control(replay.control);
    of_config_ = std::move(settings);
  }

  void mapping(const std::string& file) {
    if (known(file, "mapping")) return;
    Verdict& verdict = begin(file, "mapping");
    const Result<std::string> text = read_text(file);
    if (!text.ok()) {
      verdict.errors.push_back(text.status().message());
    } else if (const auto layout = ingest::parse_mapping(*text, file); !layout.ok()) {
      verdict.errors.push_back(layout.status().message());
    }
  }

  // What is named from here on goes into one run, which takes no registry twice.
  void begin_run() { before_run_ = verdicts_.size(); }

  // How its groups will be aggregated bounds how large it may be, if that is known.
  void registry(const std::string& file, const std::optional<GroupOptions>& groups) {
    if (known(file, "registry", before_run_)) return;
    Verdict& verdict = begin(file, "registry");
    const Result<std::string> text = read_text(file);
    if (!text.ok()) {
      verdict.errors.push_back(text.status().message());
      return;
    }
    auto parsed = engine::parse_registries(*text, file);
    if (!parsed.ok()) {
      verdict.errors.push_back(parsed.status().message());
      return;
    }
    std::size_t sensors = 0, groups_in_all = 0;
    for (hierarchy::Registry& one : *parsed) {
      sensors += one.sensors().size();
      groups_in_all += one.groups().size();
      add_hierarchy(std::make_shared<const hierarchy::Registry>(std::move(one)), groups, verdict);
    }
    verdict.what = fmt::format("{}, {}, {}", counted(parsed->size(), "hierarchy", "hierarchies"),
                               counted(groups_in_all, "group", "groups"),
                               counted(sensors, "sensor", "sensors"));
  }

  // Hierarchies stand beside each other, so they are looked at together.
  void add_hierarchy(const std::shared_ptr<const hierarchy::Registry>& registry,
                     const std::optional<GroupOptions>& groups, Verdict& verdict) {
    if (const Status s = registries_.add(registry); !s.ok()) {
      verdict.errors.push_back(s.with(verdict.file).message());
    }
    if (!groups) return;
    const Status fits = hierarchy::Groups::check_size(*registry, {*groups, {}});
    if (!fits.ok()) verdict.errors.push_back(fits.with(verdict.file).message());
  }

  // Beside changes of hierarchies there may be others.
  void control(const std::string& file) {
    if (known(file, "control")) return;
    Verdict& verdict = begin(file, "control");
    const Result<std::string> text = read_text(file);
    if (!text.ok()) {
      verdict.errors.push_back(text.status().message());
      return;
    }
    const auto lines = parse_control(*text, file);
    if (!lines.ok()) {
      verdict.errors.push_back(lines.status().message());
      return;
    }
    // What is wrong beside the registry, such as its place.
    for (const ControlLine& line : *lines) {
      const auto requests = engine::parse_requests(line.text);
      if (!requests.ok()) {
        verdict.errors.push_back(
            fmt::format("{}:{}: {}", file, line.line, requests.status().message()));
        continue;
      }
      for (const engine::Request& request : *requests) {
        if (request.error.empty()) continue;
        verdict.errors.push_back(fmt::format("{}:{}: {}", file, line.line, request.error));
      }
    }
    verdict.what = counted(lines->size(), "change", "changes");
  }

  void requests(const std::string& file, const RunSettings& settings) {
    if (known(file, "requests")) return;
    Verdict& verdict = begin(file, "requests");
    const Result<std::string> text = read_text(file);
    if (!text.ok()) {
      verdict.errors.push_back(text.status().message());
      return;
    }
    auto parsed = read_requests(*text, file, kinds(settings.plugins));
    if (!parsed.ok()) {
      verdict.errors.push_back(parsed.status().message());
      return;
    }
    verdict.what = fmt::format("{} requests", parsed->requests.size());
    if (parsed->requests.empty()) verdict.errors.push_back(file + ": it holds no request");
    parsed->emit = settings.emit;
    files_.push_back(std::move(*parsed));
    verdict_of_.push_back(verdicts_.size() - 1);
  }

  // Those that requests with plug-ins of this directory may name.
  engine::Kinds& kinds(const std::string& plugins) {
    auto& kinds = kinds_[plugins];
    if (kinds == nullptr) kinds = std::make_unique<engine::Kinds>(plugins);
    return *kinds;
  }

  // Builds of one file may be asked by queries of another, so all are looked at together.
  void check_all_requests() {
    for (RequestError& error : check_requests(files_)) {
      verdicts_[verdict_of_[error.file]].errors.push_back(std::move(error.text));
    }
  }

  int report() const {
    bool good = true;
    std::string json;
    for (const Verdict& verdict : verdicts_) {
      good = good && verdict.errors.empty();
      std::string errors;
      for (const std::string& error : verdict.errors) {
        errors += (errors.empty() ? "" : ",") + engine::json_text(error);
        if (!options_.json) fail(kExitConfig, error);
      }
      if (verdict.errors.empty() && !options_.json) {
        fmt::print("ok: {}: {}\n", verdict.file, verdict.what);
      }
      json += fmt::format("{}{{\"file\":{},\"kind\":{},\"ok\":{},\"errors\":[{}]}}",
                          json.empty() ? "" : ",", engine::json_text(verdict.file),
                          engine::json_text(verdict.kind), verdict.errors.empty(), errors);
    }
    if (options_.json) fmt::print("[{}]\n", json);
    return good ? kExitOk : kExitConfig;
  }

  const ValidateOptions& options_;
  std::vector<Verdict> verdicts_;
  std::map<std::string, std::unique_ptr<engine::Kinds>> kinds_;  // by directory; before files_
  std::optional<RunSettings> of_config_;                         // of the last one
  hierarchy::Registries registries_;
  std::size_t before_run_ = 0;  // verdicts
  std::vector<RequestFile> files_;
  std::vector<std::size_t> verdict_of_;  // by file
};

}  // namespace

Command add_validate(CLI::App& program) {
  CLI::App* app = program.add_subcommand("validate", "check the files that a replay is given");
  app->footer(
      "Opens no socket, reads no data and no state files; plug-ins are loaded. Prints a\n"
      "line for each good file, and each error with where it stands and what would be\n"
      "right. Exit status: 0 if all are good, else 78. Examples:\n"
      "  weir validate --config run.toml\n"
      "  weir validate --requests builds.json --emit 10s --plugin-dir plugins\n"
      "  weir validate --registry plant.json --control moves.ndjson\n"
      "  weir validate --mapping taxi.toml --requests builds.json --requests more.json");
  auto options = std::make_shared<ValidateOptions>();
  const auto files = [app](const char* name, std::vector<std::string>& into, const char* help) {
    app->add_option(name, into, help)
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->take_all();
  };
  files("--config", options->configs, "a configuration of `weir replay` and what it names");
  files("--mapping", options->mappings, "a mapping");
  files("--requests", options->requests, "requests");
  files("--registry", options->registries, "a hierarchy, JSON or CSV");
  files("--control", options->controls, "changes of hierarchies");
  app->add_option("--plugin-dir", options->plugins, "where plugin requests find their files")
      ->type_name("DIR");
  app->add_option("--emit", options->emit, "the period of the run, if it will be told one")
      ->type_name("PERIOD");
  app->add_flag("--json", options->json, "the verdicts as JSON");
  return {app, [options]() -> int {
            if (options->configs.empty() && options->mappings.empty() &&
                options->requests.empty() && options->registries.empty() &&
                options->controls.empty()) {
              return fail(kExitUsage,
                          "validate needs --config, --mapping, --requests, --registry or --control "
                          "FILE");
            }
            return Validation(*options).run();
          }};
}

}  // namespace weir::replay
