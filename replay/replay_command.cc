#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/replay_run.h"

namespace weir::replay {

Command add_replay(CLI::App& program) {
  CLI::App* app = program.add_subcommand("replay", "read tuples and answer requests about them");
  app->footer(
      "Standard output carries answers only: NDJSON, or a table on a terminal.\n"
      "Progress and the summary go to standard error. See docs/requests.md for what\n"
      "can be asked, docs/inputs.md for what is read, docs/hierarchies.md for groups.\n"
      "Examples:\n"
      "  weir replay --requests requests.json stocks.ndjson > answers.ndjson\n"
      "  weir replay --requests r.json --rejects bad.ndjson 'ticks/*.txt'\n"
      "  zcat day.ndjson.gz | weir replay --requests r.json --answers a.ndjson -\n"
      "  weir replay --registry plant.json --mode changelog --results - s.ndjson\n"
      "  weir replay --requests r.json --state-dir d --snapshot-every 30s s.csv\n"
      "  weir replay --config run.toml --speed 60x --emit 60s\n"
      "SIGHUP reads the configuration, requests and registries again.\n"
      "Exit status: 0 ok, 1 run error or a request answered with an error, 2 usage,\n"
      "3 records were rejected (--strict), 78 configuration, 130 and 143 signals.");
  auto arguments = std::make_shared<SettingArguments>(*app);
  return {app, [arguments]() -> int {
            ReplayOptions options;
            if (const Status s = arguments->read(options); !s.ok()) {
              return fail(s.code() == Code::kConfig ? kExitConfig : kExitUsage, s.message());
            }
            return run_replay(options,
                              [arguments](ReplayOptions& again) { return arguments->read(again); });
          }};
}

}  // namespace weir::replay
