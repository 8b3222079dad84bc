#include <fmt/format.h>

#include "engine/json_text.h"
#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/saved_state.h"

namespace weir::replay {
namespace {

struct InspectOptions {
  std::vector<std::string> files;
  bool json = false;
};

// A file that cannot be read keeps no other from being shown.
int inspect(const InspectOptions& options) {
  if (options.files.empty()) {
    return fail(kExitUsage, "inspect needs a FILE; see `weir inspect --help`");
  }
  int status = kExitOk;
  bool first = true;
  for (const std::string& file : options.files) {
    const Result<SavedState> state = read_state(file);
    if (!state.ok()) {
      status = fail(kExitRun, state.status().message());
      if (options.json) {
        engine::JsonObject object;
        fmt::print("{}\n",
                   object.text("file", file).text("error", state.status().message()).finish());
      }
    } else if (options.json) {
      fmt::print("{}\n", state_json(*state));
    } else {
      fmt::print("{}{}", first ? "" : "\n", readable_state(*state));
      first = false;
    }
  }
  return status;
}

}  // namespace

Command add_inspect(CLI::App& program) {
  CLI::App* app = program.add_subcommand("inspect", "what is in state files");
  app->footer(
      "Checks each file whole: checksum, parameters, state. One that is damaged is an\n"
      "error, and the others are shown all the same. Examples:\n"
      "  weir inspect price.state\n"
      "  weir inspect --json states/*.state");
  auto options = std::make_shared<InspectOptions>();
  app->add_option("FILE", options->files, "state files")->type_name("")->allow_extra_args(true);
  app->add_flag("--json", options->json, "one JSON object a line");
  return {app, [options] { return inspect(*options); }};
}

}  // namespace weir::replay
