// RunTexts: what a replay was told, with the texts of the files that may change while it runs, and
// what would make one such run another.
//
// Thread safety: immutable values; the functions are pure but for reading files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/kinds.h"
#include "replay/replay_options.h"
#include "weir/config.h"
#include "weir/status.h"

namespace weir::replay {

struct RunTexts {
  ReplayOptions options;
  std::vector<std::pair<std::string, std::string>> requests;  // file and text
  std::vector<HierarchyConfig> hierarchies;
};
// Errors name the file. What is in a text is not looked at.
Result<RunTexts> read_run_texts(ReplayOptions options);

// What a reload comes to: a change for Engine::request(), or nothing where both are alike.
struct Reload {
  std::vector<std::string> parts;  // of the change, in order
  std::uint64_t added = 0, removed = 0, registries = 0;
  unsigned workers = 0;  // 0: as before
  // "2 added, 1 removed, 1 registry"; "nothing has changed".
  std::string summary() const;
  // {"requestID":…,"change":[…]}. REQUIRES: some part.
  std::string request(const std::string& id) const;
};

// An error where the texts are wrong, or something differs that cannot change in a run.
Result<Reload> reload_between(const RunTexts& was, const RunTexts& now, engine::Kinds& kinds);

// run_texts_registries.cc, run_texts_requests.cc: each adds its own.
Status reload_registries(const RunTexts& was, const RunTexts& now, Reload& reload);
// Queries that end come before the builds that are deleted, those that begin behind all builds.
struct ReloadedRequests {
  std::vector<std::string> before, after;
};
Result<ReloadedRequests> reload_requests(const RunTexts& was, const RunTexts& now,
                                         engine::Kinds& kinds, Reload& reload);

}  // namespace weir::replay
