#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "core/placement.h"
#include "core/topology.h"
#include "replay/command.h"
#include "replay/exit_status.h"
#include "replay/progress.h"
#include "replay/table.h"
#include "replay/units.h"

namespace weir::replay {
namespace {

struct TopologyOptions {
  std::string synthetic;
  std::string threads = "0", ingest_threads = "0", shard_threads = "0";
  std::string placement = "auto";
  bool json = false;
};

// What a reason word of a placed thread means.
constexpr const char* kReasons =
    "core: a core of its own; smt: shares a core; shared: more threads than processing units;\n"
    "unpinned: the system chooses\n";

std::string number(const std::optional<std::uint32_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string described(const core::Topology& topology) {
  std::string text =
      fmt::format("{}: {} NUMA group{}, {} core{}, {} processing unit{}, {} allowed",
                  topology.origin, topology.groups, topology.groups == 1 ? "" : "s", topology.cores,
                  topology.cores == 1 ? "" : "s", topology.pus.size(),
                  topology.pus.size() == 1 ? "" : "s", topology.allowed_pus());
  if (topology.cpu_quota) text += fmt::format(", quota of {:.3g} CPUs", *topology.cpu_quota);
  if (topology.l2_bytes != 0)
    text += fmt::format(", L2 {}", short_bytes(double(topology.l2_bytes)));
  return text;
}

void print_table(const core::Topology& topology, const core::Placement& placement) {
  using Align = Table::Align;
  Table table({{"thread", Align::kRight},
               {"role"},
               {"shard", Align::kRight},
               {"ingest", Align::kRight},
               {"pu", Align::kRight},
               {"core", Align::kRight},
               {"numa", Align::kRight},
               {"reason"}});
  for (const core::PlacedThread& thread : placement.threads) {
    table.add({std::to_string(thread.number), thread.role(), number(thread.shard),
               number(thread.ingest), number(thread.pu), number(thread.core), number(thread.group),
               thread.reason});
  }
  fmt::print("{}\n{}\n{}{}", described(topology), placement.summary,
             table.render(isatty(STDOUT_FILENO) != 0 ? terminal_width(STDOUT_FILENO) : 0),
             kReasons);
}

int print_topology(const TopologyOptions& options) {
  core::PlacementOptions wanted;
  wanted.policy = options.placement;
  const struct {
    const char* name;
    const std::string& text;
    unsigned& into;
  } counts[] = {{"--threads", options.threads, wanted.threads},
                {"--ingest-threads", options.ingest_threads, wanted.ingest_threads},
                {"--shard-threads", options.shard_threads, wanted.shard_threads}};
  for (const auto& count : counts) {
    const Result<std::uint64_t> parsed = parse_count(count.text, 0, core::kMaxThreads);
    if (!parsed.ok()) return fail(kExitUsage, parsed.status().with(count.name).message());
    count.into = static_cast<unsigned>(*parsed);
  }
  const Result<core::Topology> topology = options.synthetic.empty()
                                              ? core::Topology::of_machine()
                                              : core::Topology::synthetic(options.synthetic);
  if (!topology.ok()) {
    const bool usage = !options.synthetic.empty();
    return fail(usage ? kExitUsage : kExitRun, usage
                                                   ? topology.status().with("--synthetic").message()
                                                   : topology.status().message());
  }
  const Result<core::Placement> placement = core::place(*topology, wanted);
  if (!placement.ok()) return fail(kExitUsage, placement.status().message());
  if (options.json) {
    fmt::print("{}\n", core::to_json(*placement));
  } else {
    print_table(*topology, *placement);
  }
  return kExitOk;
}

}  // namespace

Command add_topology(CLI::App& program) {
  CLI::App* app = program.add_subcommand("topology", "which thread runs where, and why");
  app->footer(
      "Examples:\n"
      "  weir topology --threads 4\n"
      "  weir topology --synthetic \"numa:2 core:8 pu:2\" --placement spread\n"
      "  weir topology --ingest-threads 1 --shard-threads 1 --json");
  auto options = std::make_shared<TopologyOptions>();
  app->add_option("--synthetic", options->synthetic,
                  "a machine in hwloc's words: \"numa:2 core:8 pu:2\"")
      ->type_name("TEXT");
  app->add_option("--threads", options->threads, "threads in all; 0 = one for each core")
      ->type_name("N");
  app->add_option("--ingest-threads", options->ingest_threads, "threads that only parse")
      ->type_name("N");
  app->add_option("--shard-threads", options->shard_threads, "threads that only apply")
      ->type_name("N");
  app->add_option("--placement", options->placement, "auto is compact, none pins no thread")
      ->type_name("auto|spread|none");
  app->add_flag("--json", options->json, "as JSON");
  return {app, [options] { return print_topology(*options); }};
}

}  // namespace weir::replay
