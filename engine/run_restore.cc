// Run: what a snapshot holds becomes the holdings that the first generation takes.
#include <algorithm>
#include <utility>

#include "engine/run.h"

namespace weir::engine {
namespace {

bool brings_hierarchy(const Request& request) {
  return request.op == Op::kRegistry ||
         std::any_of(request.change.begin(), request.change.end(), brings_hierarchy);
}

}  // namespace

Result<std::shared_ptr<HandOver>> Run::restore(const Snapshot& snapshot) {
  core::Reader plan(snapshot.plan);
  if (Status s = plans_.restore(plan, *parts_.kinds); !s.ok()) return s;
  const auto builds = plans_.builds();
  CutCursor cursor(parts_.config.emit);
  core::Reader at(snapshot.cursor);
  if (Status s = cursor.restore(at, *parts_.kinds); !s.ok()) return s;
  if (cursor.next_ordinal() != plans_.next_ordinal() || cursor.position() != snapshot.records) {
    return Status(Code::kInvalid, "its plan and its cuts are of different places");
  }
  next_order_ = cursor.next_order();
  bool hierarchies = !plans_.hierarchies().empty();
  for (const auto& request : cursor.waiting()) {
    parts_.routes = parts_.prepare(*request);
    hierarchies |= brings_hierarchy(*request);
  }
  if (hierarchies) intake_->share_verdicts();
  cursor.repeat(parts_.repeats);
  shared_.collector.start_at(cursor.next_ordinal());
  core::Reader gate(snapshot.gate);
  if (Status s = gate_.restore(gate); !s.ok()) return s;
  if (Status s = splitter_.resume(snapshot.position); !s.ok()) return s;
  changes_ = snapshot.changes;
  resumed_from_ = snapshot.records;

  for (const auto& [number, build] : builds) {
    if (!build->whole_dataset()) parts_.routes = parts_.route(build->stream, build->parts);
  }
  intake_->resume(parts_.routes);
  auto hand_over = std::make_shared<HandOver>(parts_.routes,
                                              static_cast<std::uint32_t>(snapshot.workers.size()));
  for (std::uint32_t worker = 0; worker < snapshot.workers.size(); ++worker) {
    core::Reader in(snapshot.workers[worker]);
    auto holdings = restore_worker(in, builds, *parts_.kinds, names_.keys());
    if (!holdings.ok()) return holdings.status();
    if (worker == 0) {
      holdings->headers = std::make_unique<HeaderFold>(
          counters_, shared_.source_names, shared_.collector, shared_.max_reject_samples);
      core::Reader headers(snapshot.headers);
      if (Status s = holdings->headers->restore(headers); !s.ok()) return s;
      holdings->lane = std::make_unique<GroupLane>(names_, shared_.groups, shared_.on_result);
      core::Reader lane(snapshot.lane);
      if (Status s = holdings->lane->restore(lane); !s.ok()) return s;
    }
    hand_over->give(worker, *std::move(holdings), cursor, names_.keys());
  }
  if (!hand_over->complete()) return Status(Code::kInvalid, "it holds no workers");
  return hand_over;
}

}  // namespace weir::engine
