#include "engine/run.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/clock.h"
#include "engine/config_check.h"
#include "engine/digest.h"

namespace weir::engine {
namespace {

using core::now_ns;

std::vector<std::string> names_of(const std::vector<std::unique_ptr<Source>>& sources) {
  std::vector<std::string> names;
  for (const auto& source : sources) names.push_back(source->name());
  return names;
}

// Two blocks a thread, so that nobody waits for a slower one at once, and at least four: more would
// only push blocks out of the second-level cache before their memory is used again.
std::size_t ring_entries(const Config& config, const core::Placement& placement) {
  if (config.ring_entries != 0) return config.ring_entries;
  return std::max<std::size_t>(4, std::bit_ceil(2 * placement.threads.size()));
}

}  // namespace

Run::Run(RunParts parts, Names& names, Collector& collector)
    : parts_(std::move(parts)),
      names_(names),
      source_names_(names_of(parts_.sources)),
      ring_(ring_entries(parts_.config, parts_.placement), parts_.routes->workers,
            core::kMaxThreads),
      splitter_(std::move(parts_.sources), {.block_size = parts_.config.block_size,
                                            .max_record_bytes = parts_.config.max_record_bytes}),
      plans_(names,
             {parts_.config.emit, parts_.config.state_directory, parts_.kinds,
              std::move(parts_.hierarchies), with_emit(parts_.config.groups, parts_.config.emit),
              [this](unsigned workers, unsigned ingest) { return rescale(workers, ingest); },
              [this](const Cut& cut) { return keep(cut); }}),
      gate_(parts_.config.max_jump, names.keys()),
      shared_{ring_,
              names,
              plans_,
              collector,
              std::move(parts_.requests),
              parts_.repeats,
              parts_.config.emit,
              source_names_,
              parts_.config.max_reject_samples,
              counters_,
              with_emit(parts_.config.groups, parts_.config.emit),
              std::move(parts_.on_result),
              gate_},
      faults_(WorkerFaults::of(parts_.config.faults)),
      stalls_(parts_.notice),
      intake_(std::make_unique<Intake>(ring_, names, parts_.routes, splitter_, parker_,
                                       std::move(parts_.intake))),
      crew_{shared_,
            *intake_,
            parker_,
            parts_.config.block_size,
            [this] {
              ended_ns_.store(now_ns(), std::memory_order_release);
              ended_ns_.notify_all();
            },
            faults_.get(),
            parts_.notice},
      started_ns_(now_ns()) {
  const std::size_t fields = names.fields()->names.size();
  for (std::uint64_t seq = 0; seq < ring_.size(); ++seq) {
    Entry& entry = ring_.at(Seq{seq});
    entry.batches.resize(parts_.routes->workers);
    for (core::Batch& batch : entry.batches) batch.fields.resize(fields);
  }
}

Status Run::start() {
  std::shared_ptr<HandOver> from;
  if (parts_.durable != nullptr) {
    if (const Snapshot* snapshot = parts_.durable->snapshot()) {
      auto restored = restore(*snapshot);
      if (!restored.ok()) return restored.status().with("the snapshot");
      from = *std::move(restored);
      parts_.durable->forget_snapshot();
    }
    snapshotter_ = std::make_unique<Snapshotter>(
        *parts_.durable,
        SharedState{names_, plans_, gate_, shared_.collector, [this] { return changes_; }},
        Snapshotter::Options{parts_.config.snapshot_every, parts_.settings, parts_.outputs,
                             parts_.notice, [this] { return counters_.total("records"); }});
    intake_->take_snapshots(*snapshotter_);
    if (!parts_.repeats.empty()) intake_->begin_at_once();
  }
  start(parts_.placement, parts_.routes, 0, Seq{0}, std::move(from));
  return {};
}

Result<bool> Run::keep(const Cut& cut) {
  bool kept = true;
  if (!cut.repeated && parts_.durable != nullptr) {
    auto outcome = parts_.durable->keep({cut.seq, cut.columns, *cut.live}, changes_);
    if (outcome.ok() && !*outcome && intake_->interrupted()) {
      outcome = Status(Code::kIo, "the disk is full");
    }
    if (!outcome.ok()) {
      const Status why = outcome.status().with("a live change cannot be kept");
      intake_->abandon(why);
      return why;
    }
    kept = *outcome;
  }
  if (kept) ++changes_;
  return kept;
}

void Run::start(core::Placement placement, std::shared_ptr<const core::Routes> routes,
                std::uint32_t number, Seq first, std::shared_ptr<HandOver> from) {
  const std::scoped_lock lock(mutex_);
  shared_.collector.use_threads(static_cast<unsigned>(placement.threads.size()));
  // The one before the last has handed over, or this one would not begin: its threads end now.
  while (generations_.size() > 1) {
    generations_.front()->join();
    note_waits(*generations_.front());
    generations_.pop_front();
  }
  generations_.push_back(std::make_unique<Generation>(
      crew_, std::move(placement), std::move(routes), number, first, std::move(from)));
}

void Run::note_waits(const Generation& generation) {
  if (generation.from() == nullptr || generation.number() == 0) return;
  ++rescales_;
  const auto& waits = generation.from()->waits();
  waits_.insert(waits_.end(), waits.begin(), waits.end());
}

Status Run::rescale(unsigned workers, unsigned ingest) {
  const auto begin = [this](const RunParts::Crewing& crewing) {
    const auto placement = std::make_shared<const core::Placement>(crewing.placement);
    intake_->begin_generation(
        crewing.routes,
        [this, placement](std::uint32_t number, Seq first, std::shared_ptr<HandOver> hand_over) {
          const auto routes = hand_over->to();
          start(*placement, routes, number, first, std::move(hand_over));
        });
  };
  if (Status s = parts_.crewing(workers, ingest, begin); !s.ok()) return s;
  wake();
  return {};
}

Run::~Run() {
  if (generations_.empty()) return;
  intake_->interrupt();
  join();
}

Progress Run::progress() const {
  Progress progress;
  progress.records = counters_.total("records");
  progress.tuples = counters_.total("tuples");
  progress.rejected = counters_.total("rejected");
  progress.bytes = counters_.total("bytes");
  progress.position = splitter_.position();
  progress.total = splitter_.total();
  {
    const std::scoped_lock lock(mutex_);
    if (!generations_.empty()) progress.workers = generations_.back()->workers();
  }
  if (parts_.durable != nullptr) {
    for (std::uint32_t source = 0; source < source_names_.size(); ++source) {
      progress.durable = std::max(progress.durable, parts_.durable->journal().durable(source));
    }
  }
  progress.stalled = stalls_.look(ring_, progress.workers, now_ns());
  const std::int64_t ended = ended_ns_.load(std::memory_order_acquire);
  progress.done = ended != 0;
  progress.seconds = static_cast<double>((progress.done ? ended : now_ns()) - started_ns_) * 1e-9;
  return progress;
}

void Run::join() {
  // Once the end has been applied, no generation begins any more.
  ended_ns_.wait(0, std::memory_order_acquire);
  {
    const std::scoped_lock lock(mutex_);
    for (auto& generation : generations_) generation->join();
  }
  // Without the lock: the host may ask for progress meanwhile, also from a notice.
  if (snapshotter_ != nullptr) snapshotter_->finish();
}

namespace {

// The first three names by bytes, each once.
void keep_least(std::vector<std::string>& names, std::string_view name) {
  constexpr std::size_t kKept = 3;
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  if (at == names.end() ? names.size() >= kKept : *at == name) return;
  names.emplace(at, name);
  if (names.size() > kKept) names.pop_back();
}

Summary::Rescales rescales_of(std::uint64_t count, std::vector<std::int64_t> waits) {
  Summary::Rescales rescales{count};
  if (waits.empty()) return rescales;
  std::sort(waits.begin(), waits.end());
  rescales.median_wait_ns = waits[(waits.size() - 1) / 2];
  rescales.p99_wait_ns = waits[(waits.size() - 1) * 99 / 100];
  rescales.longest_wait_ns = waits.back();
  return rescales;
}

}  // namespace

Summary Run::summarize() {
  const Progress progress = this->progress();
  for (const auto& generation : generations_) note_waits(*generation);
  const Generation& last = *generations_.back();
  const std::vector<ShardWorker*> workers = last.shard_workers();
  Summary summary;
  summary.records = progress.records;
  summary.tuples = progress.tuples;
  summary.bytes = progress.bytes;
  summary.seconds = progress.seconds;
  summary.threads = static_cast<unsigned>(last.placement().threads.size());
  summary.placement = last.placement().summary;
  summary.rescales = rescales_of(rescales_, waits_);
  summary.resumed_from = resumed_from_;
  if (snapshotter_ != nullptr) {
    summary.snapshots = snapshotter_->kept();
    summary.snapshots_failed = snapshotter_->failed();
  }
  summary.epoch = plans_.current()->epoch;
  if (const auto layout = intake_->detected()) summary.layout = layout->name();

  const HeaderFold& headers = *workers.front()->headers();
  const auto& rejected = headers.rejected();
  for (std::size_t reason = 0; reason < rejected.size(); ++reason) {
    if (rejected[reason] == 0) continue;
    summary.rejected[core::reason_name(static_cast<core::Reason>(reason))] = rejected[reason];
  }
  summary.leap = headers.leap();
  std::vector<std::vector<Instance>> instances;
  std::vector<bool> dataset_seen;
  std::string groups_state;
  for (ShardWorker* worker : workers) {
    summary.applied += worker->counts().applied;
    summary.late += worker->counts().late;
    summary.unrouted += worker->counts().unrouted;
    for (std::uint32_t id = 0; id < worker->seen_streams().size(); ++id) {
      if (!worker->seen_streams()[id]) continue;
      ++summary.streams;
      const core::Key& key = names_.keys().key(StreamId{id});
      keep_least(summary.some_streams, key.stream);
      const std::uint32_t dataset = raw(key.dataset_id);
      if (dataset >= dataset_seen.size()) dataset_seen.resize(dataset + 1);
      dataset_seen[dataset] = true;
    }
    if (const GroupLane* lane = worker->lane()) {
      summary.hierarchies = lane->summary(progress.tuples);
      summary.state_bytes += lane->groups().memory_bytes();
      lane->groups().serialize(groups_state);
    }
    instances.push_back(worker->take_instances());
  }
  summary.datasets =
      static_cast<std::uint64_t>(std::count(dataset_seen.begin(), dataset_seen.end(), true));

  const std::vector<Standing> standing =
      merge_workers(std::move(instances), summary.threads, names_.keys());
  for (const auto& [root, of] : summary.hierarchies) summary.results += of.results;
  std::map<std::string, std::uint64_t> values;  // of each build, over all its streams
  std::vector<std::string> names;               // in the order of their identities
  for (const Standing& one : standing) {
    summary.state_bytes += one.synopsis->memory_bytes();
    const std::string name = place_of(*one.build->request) + " " + one.build->type->name;
    if (values.try_emplace(name, 0).second) names.push_back(name);
    values[name] += one.synopsis->n();
    Summary::Refused refused{one.synopsis->late(), one.synopsis->without_time(),
                             one.without_weight};
    std::string fault = one.synopsis->fault();
    if (fault.empty() && !one.status.ok()) fault = one.status.message();
    if (!fault.empty()) summary.faults.push_back(name + ": " + fault);
    if (refused.late + refused.without_time + refused.without_weight == 0) continue;
    Summary::Refused& all = summary.refused[name];
    all.late += refused.late;
    all.without_time += refused.without_time;
    all.without_weight += refused.without_weight;
  }
  for (const std::string& name : names) {
    if (values[name] == 0) summary.builds_without_tuples.push_back(name);
  }
  if (parts_.config.digest) {
    summary.digest = digest_of(
        standing, {summary.applied, summary.late, summary.unrouted, groups_state}, summary.threads);
  }
  return summary;
}

}  // namespace weir::engine
