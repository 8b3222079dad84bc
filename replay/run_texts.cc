#include "replay/run_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/placement.h"
#include "core/topology.h"
#include "replay/line_writer.h"
#include "replay/registry_files.h"

namespace weir::replay {
namespace {

// Files whose texts are compared, not their names; and threads, which can be others at any time.
bool may_change(std::string_view setting) {
  static constexpr std::array kMay = {"requests", "registry", "threads", "ingest-threads",
                                      "shard-threads"};
  return std::find(kMay.begin(), kMay.end(), setting) != kMay.end();
}

Status check_settings(const ReplayOptions& was, const ReplayOptions& now) {
  for (const Setting& setting : replay_settings()) {
    if (may_change(setting.name) || setting.show(was) == setting.show(now)) continue;
    return {Code::kConfig, fmt::format("{} cannot be changed while it runs", setting.name)};
  }
  return {};
}

Status reload_threads(const Config& was, const Config& now, Reload& reload) {
  const auto same = [&](unsigned Config::*threads) { return was.*threads == now.*threads; };
  if (same(&Config::threads) && same(&Config::ingest_threads) && same(&Config::shard_threads)) {
    return {};
  }
  const auto topology = core::Topology::of_machine();
  if (!topology.ok()) return topology.status();
  const auto placement = core::place(*topology, {.threads = now.threads,
                                                 .ingest_threads = now.ingest_threads,
                                                 .shard_threads = now.shard_threads,
                                                 .policy = now.placement});
  if (!placement.ok()) return placement.status();
  reload.workers = placement->shard_workers();
  const std::size_t only_parse = placement->threads.size() - reload.workers;
  reload.parts.push_back(
      fmt::format(R"({{"workers":{},"ingest":{}}})", reload.workers, only_parse));
  return {};
}

}  // namespace

Result<RunTexts> read_run_texts(ReplayOptions options) {
  RunTexts texts;
  for (const std::string& file : options.requests) {
    if (file == "-") {
      return Status(Code::kConfig, "requests - came from standard input, which is read once");
    }
    Result<std::string> text = read_text(file);
    if (!text.ok()) return text.status().with("requests");
    texts.requests.emplace_back(file, std::move(*text));
  }
  auto hierarchies = read_registries(options);
  if (!hierarchies.ok()) return hierarchies.status();
  texts.hierarchies = std::move(*hierarchies);
  texts.options = std::move(options);
  return texts;
}

Result<Reload> reload_between(const RunTexts& was, const RunTexts& now, engine::Kinds& kinds) {
  if (Status s = check_settings(was.options, now.options); !s.ok()) return s;
  Reload reload;
  auto requests = reload_requests(was, now, kinds, reload);
  if (!requests.ok()) return requests.status();
  reload.parts = std::move(requests->before);
  if (Status s = reload_registries(was, now, reload); !s.ok()) return s;
  std::move(requests->after.begin(), requests->after.end(), std::back_inserter(reload.parts));
  const Status s = reload_threads(was.options.engine, now.options.engine, reload);
  if (!s.ok()) return s;
  return reload;
}

std::string Reload::summary() const {
  std::string text;
  const auto say = [&text](std::uint64_t n, std::string_view what) {
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, what);
  };
  say(added, "added");
  say(removed, "removed");
  say(registries, registries == 1 ? "registry" : "registries");
  say(workers, workers == 1 ? "worker" : "workers");
  return text.empty() ? "nothing has changed" : text;
}

std::string Reload::request(const std::string& id) const {
  return fmt::format(R"({{"requestID":{},"change":[{}]}})", id, fmt::join(parts, ",\n"));
}

}  // namespace weir::replay
