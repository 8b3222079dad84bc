#include <fmt/format.h>

#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/state_listing.h"

namespace weir::replay {
namespace {

struct StateOptions {
  std::string directory;
  bool json = false;
};

int show_state(const StateOptions& options) {
  if (options.directory.empty()) {
    return fail(kExitUsage, "state needs a DIR; see `weir state --help`");
  }
  const Result<StateListing> listing = list_state(options.directory);
  if (!listing.ok()) return fail(kExitRun, listing.status().message());
  if (options.json) {
    fmt::print("{}\n", listing_json(*listing));
  } else {
    fmt::print("{}", readable_listing(*listing));
  }
  return kExitOk;
}

}  // namespace

Command add_state(CLI::App& program) {
  CLI::App* app = program.add_subcommand("state", "what a state directory keeps of a run");
  app->footer(
      "Snapshots with their places, and where `replay --resume` goes on: what a sender\n"
      "need not send again. Every file is checked whole, and none is changed. Examples:\n"
      "  weir state states\n"
      "  weir state --json states");
  auto options = std::make_shared<StateOptions>();
  app->add_option("DIR", options->directory, "as replay --state-dir")->type_name("");
  app->add_flag("--json", options->json, "one JSON object");
  return {app, [options] { return show_state(*options); }};
}

}  // namespace weir::replay
