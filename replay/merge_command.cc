#include <fmt/format.h>

#include <filesystem>

#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/saved_state.h"
#include "replay/units.h"
#include "synopses/state_directory.h"

namespace weir::replay {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> files;
  std::string output, stream;
  bool has_stream = false;
  bool force = false;
  bool json = false;
};

// Two names of one file would count its values twice, which nobody wants.
Status check_distinct(const std::vector<std::string>& files) {
  std::error_code ignored;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (files[i] != files[k] && !fs::equivalent(files[i], files[k], ignored)) continue;
      return {Code::kInvalid, fmt::format("{} and {} are one file, whose values would count twice",
                                          files[k], files[i])};
    }
  }
  return {};
}

Status check_alike(const SavedState& into, const SavedState& from) {
  const auto refuse = [&](std::string_view what, std::string_view a, std::string_view b) {
    return Status(Code::kInvalid, fmt::format("cannot merge {} into {}: their {} differ, \"{}\" "
                                              "and \"{}\"",
                                              from.file, into.file, what, b, a));
  };
  const synopses::Identity& a = into.identity;
  const synopses::Identity& b = from.identity;
  if (a.dataset != b.dataset) return refuse("datasets", a.dataset, b.dataset);
  if (a.field != b.field) return refuse("fields", a.field, b.field);
  if (a.weight != b.weight) return refuse("weights", a.weight, b.weight);
  if (into.synopsis->window_spec() != from.synopsis->window_spec()) {
    return {Code::kInvalid,
            fmt::format("cannot merge {} into {}: their windows differ", from.file, into.file)};
  }
  return {};
}

// One file after the other, so that two states are in memory at most.
Result<SavedState> merge_files(const std::vector<std::string>& files) {
  Result<SavedState> merged = read_state(files.front());
  for (std::size_t i = 1; merged.ok() && i < files.size(); ++i) {
    const Result<SavedState> next = read_state(files[i]);
    if (!next.ok()) return next.status();
    if (const Status s = check_alike(*merged, *next); !s.ok()) return s;
    if (const Status s = merged->synopsis->merge(*next->synopsis); !s.ok()) {
      return s.with(files[i]);
    }
    // Over several streams it is what a synopsis of the whole dataset would be.
    if (merged->identity.stream != next->identity.stream) merged->identity.stream.clear();
  }
  return merged;
}

int merge(const MergeOptions& options) {
  if (options.files.size() < 2) return fail(kExitUsage, "merge needs two or more FILEs");
  if (options.output.empty()) {
    return fail(kExitUsage, "merge needs -o FILE, where the merged state goes");
  }
  if (const Status s = check_distinct(options.files); !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  std::error_code ignored;
  if (!options.force && fs::exists(fs::symlink_status(options.output, ignored))) {
    return fail(kExitRun, fmt::format("{} exists; --force replaces it", options.output));
  }
  Result<SavedState> merged = merge_files(options.files);
  if (!merged.ok()) return fail(kExitRun, merged.status().message());
  if (options.has_stream) merged->identity.stream = options.stream;
  if (const Status s = synopses::check_identity(merged->identity); !s.ok()) {
    return fail(kExitUsage, s.message());
  }
  const std::string bytes = synopses::save(*merged->synopsis, merged->identity);
  // What could not be read back must not take the place of anything.
  const Result<SavedState> written = state_of(options.output, bytes);
  if (!written.ok()) return fail(kExitRun, written.status().message());
  if (const Status s = synopses::write_file_atomically(options.output, bytes); !s.ok()) {
    return fail(kExitRun, s.message());
  }
  if (options.json) {
    fmt::print("{}\n", state_json(*written));
  } else {
    fmt::print("{}: {} of {}, {} values of {} files\n", options.output, written->type->name,
               subject_text(written->identity), grouped(written->synopsis->n()),
               options.files.size());
  }
  return kExitOk;
}

}  // namespace

Command add_merge(CLI::App& program) {
  CLI::App* app = program.add_subcommand("merge", "one state file out of several");
  app->footer(
      "The files must agree in kind, parameters, seed, window, dataset, field and\n"
      "weight. If their streams differ, the result is one over every stream (\"\"), or\n"
      "over what --stream says. The output appears whole or not at all. Examples:\n"
      "  weir merge monday.state tuesday.state -o week.state\n"
      "  weir merge east.state west.state -o all.state --stream all --force");
  auto options = std::make_shared<MergeOptions>();
  app->add_option("FILE", options->files, "state files, two or more")
      ->type_name("")
      ->allow_extra_args(true);
  app->add_option("-o,--output", options->output, "where the merged state goes")->type_name("FILE");
  CLI::Option* stream =
      app->add_option("--stream", options->stream, "the stream that the result is of")
          ->type_name("NAME");
  app->add_flag("--force", options->force, "replace the output if it exists");
  app->add_flag("--json", options->json, "what was written, as inspect shows it");
  return {app, [options, stream] {
            options->has_stream = stream->count() != 0;
            return merge(*options);
          }};
}

}  // namespace weir::replay
