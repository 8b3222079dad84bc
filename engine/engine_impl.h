// Engine::Impl: what an engine is between its calls: before the start the parts of a run, then the
// run.
//
// Thread safety: as Engine; what needs the mutex is told.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/placement.h"
#include "core/topology.h"
#include "engine/durable.h"
#include "engine/push_source.h"
#include "engine/request.h"
#include "engine/routing.h"
#include "engine/run.h"
#include "ingest/layout.h"
#include "weir/engine.h"

namespace weir {

struct Engine::Impl {
  Config config;
  core::Topology topology;
  core::Placement placement;
  std::optional<ingest::Layout> layout;
  std::unique_ptr<engine::Kinds> kinds;
  core::KeyTable keys;
  engine::Names names{keys};
  engine::Collector collector;
  engine::Routing routing{keys};
  std::vector<engine::HierarchyChange> hierarchies;  // until the run has them
  std::map<std::string, GroupOptions> roots;  // of those; they keep their options, so these stay
  std::function<void(const GroupResult&)> on_result;
  std::unique_ptr<engine::Durable> durable;  // null: nothing is kept
  OutputLengths outputs;
  std::function<void(const std::string&)> notice;
  std::mutex notice_mutex;
  std::string start_texts;  // of requests before the start
  std::optional<Resumed> resumed;
  std::vector<std::unique_ptr<Source>> sources;
  std::shared_ptr<engine::PushSource> pushed;  // null: the engine reads sources
  std::atomic<bool> interrupted{false};
  std::atomic<engine::Run*> running{nullptr};

  // Guards what requests change: routing, start, order, and the kind of push.
  std::mutex mutex;
  std::vector<engine::Scheduled> start;
  std::uint64_t order = 0;
  bool registries_to_come = false;
  enum class Pushed { kNothing, kBytes, kTuples } pushing = Pushed::kNothing;
  // What the journal has of a pushed tuple that it has not whole: the next one goes on behind it.
  std::string begun_tuple;
  std::unique_ptr<engine::Run> run;
  bool finished = false;

  Status read_hierarchies();
  // What is wrong with the size of a registry that comes later. A look at all of it, so not for
  // where others wait. Needs no lock.
  Status check_size(const engine::Request& request) const;
  void check_sizes(engine::Request& request) const;
  // Sees to it that the field of a hierarchy that comes later is known by then. An error when it is
  // the layout's, which is not asked for it any more.
  Status name_group_fields(const engine::Request& request);
  void name_fields_of(const engine::Request& load);
  void route_parts(const engine::Request& request);
  // For a run that changes the number of its threads.
  Status crewing(unsigned workers, unsigned ingest,
                 const std::function<void(const engine::RunParts::Crewing&)>& begin);
  // What the request needs before records come: fields, parts.
  void prepare(engine::Request& request);
  Status find_where_it_stood();
  // The rest of what the journal has of tuples, from this byte on: how many are whole.
  Result<std::uint64_t> count_tuples(std::uint64_t offset);
  bool holds_tuples() const;
  // Wraps what cannot be read again, or says that it would have to be.
  Status journal_sources();
  // What an earlier run left, for this one to begin with.
  Status resume(engine::RunParts& parts);
  void find_kind_of_pushes(engine::RunParts& parts);
  // Tuples, as frames, behind what was begun.
  Push push_frames(std::string frames);
  void tell(const std::string& text);
  // The run that takes pushes of this kind, or null.
  engine::Run* pushable(Pushed kind);
};

}  // namespace weir
