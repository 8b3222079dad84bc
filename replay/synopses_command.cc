#include <fmt/format.h>

#include "core/nearest.h"
#include "engine/json_text.h"
#include "replay/command.h"
#include "replay/exit_status.h"
#include "synopses/registry.h"

namespace weir::replay {
namespace {

using synopses::ParamForm;
using synopses::ParamSpec;
using synopses::SynopsisType;

struct SynopsesOptions {
  std::vector<std::string> names;
  bool json = false;
};

std::string joined(const std::vector<const char*>& words, const char* between) {
  std::string text;
  for (const char* word : words) text += (text.empty() ? "" : between) + std::string(word);
  return text;
}

const char* weights_name(synopses::Weights weights) {
  switch (weights) {
    case synopses::Weights::kNone:
      return "none";
    case synopses::Weights::kPositive:
      return "positive";
    case synopses::Weights::kSigned:
      return "signed";
  }
  return "none";
}

std::string param_text(const ParamSpec& spec) {
  std::string text = fmt::format("{:<13} {}{} to {}", spec.name, spec.integral ? "whole, " : "",
                                 synopses::json_number(spec.min), synopses::json_number(spec.max));
  if (spec.duration) text += " s, or as \"500ms\"";
  if (spec.has_default)
    text += fmt::format("; default {}", synopses::json_number(spec.default_value));
  return text;
}

std::string names_of(const SynopsisType& type) {
  std::string text = type.name;
  std::string aliases;
  for (const char* alias : type.aliases) {
    aliases += (aliases.empty() ? "" : ", ") + std::string(alias);
  }
  return aliases.empty() ? text : fmt::format("{} ({})", text, aliases);
}

void print_readable(const SynopsisType& type) {
  fmt::print("{:>2}  {}\n", type.id, names_of(type));
  const auto row = [](const char* title, const std::string& value) {
    fmt::print("    {:<11} {}\n", title, value);
  };
  const char* title = "parameters";
  for (const ParamForm& form : type.forms) {
    for (const ParamSpec& spec : form) {
      row(title, param_text(spec));
      title = "";
    }
    title = "or";
  }
  row("queries", joined(type.queries, ", "));
  row("merges", type.linear      ? "yes, bit for bit"
                : type.mergeable ? "yes, within its bound"
                                 : "no: order matters");
  row("takes", fmt::format("{}; weights: {}", type.numeric_only ? "numbers" : "numbers and texts",
                           weights_name(type.weights)));
  row("promises", type.guarantee);
}

std::string json_of(const std::vector<const char*>& words) {
  std::string text;
  for (const char* word : words) text += (text.empty() ? "" : ",") + engine::json_text(word);
  return "[" + text + "]";
}

std::string json_of(const SynopsisType& type) {
  std::string forms;
  for (const ParamForm& form : type.forms) {
    std::string params;
    for (const ParamSpec& spec : form) {
      engine::JsonObject object;
      object.text("name", spec.name).real("min", spec.min).real("max", spec.max);
      object.flag("integral", spec.integral).flag("duration", spec.duration);
      object.real("default", spec.has_default ? std::optional(spec.default_value) : std::nullopt);
      params += (params.empty() ? "" : ",") + object.finish();
    }
    forms += (forms.empty() ? "[" : ",[") + params + "]";
  }
  engine::JsonObject object;
  object.count("synopsisID", static_cast<std::uint64_t>(type.id)).text("synopsis", type.name);
  object.json("aliases", json_of(type.aliases)).json("forms", "[" + forms + "]");
  object.json("queries", json_of(type.queries)).json("pair_queries", json_of(type.pair_queries));
  object.flag("mergeable", type.mergeable).flag("linear", type.linear);
  object.text("weights", weights_name(type.weights)).flag("numeric_only", type.numeric_only);
  object.text("guarantee", type.guarantee);
  return object.finish();
}

int print_synopses(const SynopsesOptions& options) {
  std::vector<const SynopsisType*> chosen;
  for (const std::string& name : options.names) {
    const SynopsisType* type = synopses::find_type(name);
    if (type == nullptr) {
      std::vector<const char*> known;
      for (const SynopsisType& one : synopses::types()) known.push_back(one.name);
      return fail(kExitUsage, fmt::format("unknown synopsis '{}'{}; `weir synopses` lists them",
                                          name, core::did_you_mean(name, known)));
    }
    chosen.push_back(type);
  }
  if (chosen.empty()) {
    for (const SynopsisType& type : synopses::types()) chosen.push_back(&type);
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (options.json) {
      fmt::print("{}\n", json_of(*chosen[i]));
    } else {
      if (i != 0) fmt::print("\n");
      print_readable(*chosen[i]);
    }
  }
  return kExitOk;
}

}  // namespace

Command add_synopses(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("synopses", "the kinds of synopses, their queries and bounds");
  app->footer(
      "Examples:\n"
      "  weir synopses\n"
      "  weir synopses CountMin HyperLogLog\n"
      "  weir synopses --json");
  auto options = std::make_shared<SynopsesOptions>();
  app->add_option("NAME", options->names, "those to show; default: all")->type_name("");
  app->add_flag("--json", options->json, "one JSON object a line");
  return {app, [options] { return print_synopses(*options); }};
}

}  // namespace weir::replay
