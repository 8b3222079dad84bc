#include "engine/run.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <map>

#include "engine/config_check.h"
#include "engine/digest.h"

namespace weir::engine {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

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

// The worker writes its batches once before anybody fills them, so that their pages come to lie in
// the memory of its own NUMA group.
void touch_batches(Ring& ring, std::uint32_t worker, std::size_t block_size) {
  // Its share of a block, so that all workers together touch no more than the blocks in flight.
  const std::size_t tuples = std::max<std::size_t>(1, block_size / 64 / ring.consumers());
  for (std::uint64_t seq = 0; seq < ring.size(); ++seq) {
    core::Batch& batch = ring.at(Seq{seq}).batches[worker];
    batch.tuple.reserve(tuples);
    std::memset(batch.tuple.data(), 0, tuples * sizeof(std::uint32_t));
    for (core::Column& column : batch.fields) {
      column.bits.reserve(tuples);
      std::memset(column.bits.data(), 0, tuples * sizeof(std::uint64_t));
    }
  }
}

}  // namespace

// What one thread of the run does: parse, apply, or both.
class RoleAgent final : public core::Agent {
 public:
  RoleAgent(Run& run, const core::PlacedThread& placed) : run_(run), placed_(placed) {}

  std::size_t do_work() override {
    if (!settled_) return settle();
    // Others may still be touching the batches that a parsed block would be scattered to.
    if (!all_settled_) {
      all_settled_ = run_.settled_.load(std::memory_order_acquire) == run_.thread_count_;
      if (!all_settled_) return 0;
    }
    // What has been parsed comes before what has not: it frees the ring, and it is warm.
    std::size_t work = worker_ != nullptr ? worker_->do_work() : 0;
    if (work == 0 && ingest_ != nullptr) work = ingest_->do_work();
    if (done() && !ended_) end();
    return work;
  }
  bool done() const override {
    return settled_ && (worker_ != nullptr ? worker_->done() : ingest_->done());
  }
  std::string_view role_name() const override { return placed_.role(); }
  ShardWorker* worker() { return worker_.get(); }

 private:
  // Runs on the agent's own thread, so that its state comes to lie in that thread's memory.
  std::size_t settle() {
    if (placed_.shard.has_value()) {
      touch_batches(run_.ring_, *placed_.shard, run_.parts_.config.block_size);
      worker_ = std::make_unique<ShardWorker>(run_.shared_, *placed_.shard);
      run_.workers_[*placed_.shard] = worker_.get();
    }
    if (placed_.ingest.has_value()) {
      ingest_ = std::make_unique<IngestAgent>(*run_.intake_, run_.source_names_);
    }
    settled_ = true;
    run_.settled_.fetch_add(1, std::memory_order_acq_rel);
    return 1;
  }
  void end() {
    ended_ = true;
    if (run_.ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == run_.thread_count_) {
      run_.ended_ns_.store(now_ns(), std::memory_order_release);
    }
  }

  Run& run_;
  const core::PlacedThread& placed_;
  std::unique_ptr<ShardWorker> worker_;
  std::unique_ptr<IngestAgent> ingest_;
  bool settled_ = false;
  bool all_settled_ = false;
  bool ended_ = false;
};

Run::Run(RunParts parts, Names& names, Collector& collector)
    : parts_(std::move(parts)),
      names_(names),
      source_names_(names_of(parts_.sources)),
      ring_(ring_entries(parts_.config, parts_.placement), parts_.routes->workers),
      splitter_(std::move(parts_.sources), {.block_size = parts_.config.block_size,
                                            .max_record_bytes = parts_.config.max_record_bytes}),
      plans_(names, *parts_.routes,
             {parts_.config.emit, parts_.config.state_directory, parts_.kinds,
              std::move(parts_.hierarchies), with_emit(parts_.config.groups, parts_.config.emit)}),
      gate_(parts_.config.max_jump, names.keys()),
      shared_{ring_,
              names,
              *parts_.routes,
              plans_,
              collector,
              std::move(parts_.requests),
              parts_.config.emit,
              source_names_,
              parts_.config.max_reject_samples,
              counters_,
              with_emit(parts_.config.groups, parts_.config.emit),
              std::move(parts_.on_result),
              gate_},
      intake_(std::make_unique<Intake>(ring_, names, parts_.routes, splitter_, parker_,
                                       std::move(parts_.intake))),
      thread_count_(static_cast<std::uint32_t>(parts_.placement.threads.size())),
      started_ns_(now_ns()),
      workers_(parts_.routes->workers) {
  collector.use_threads(thread_count_);
  const std::size_t fields = names.fields()->names.size();
  for (std::uint64_t seq = 0; seq < ring_.size(); ++seq) {
    Entry& entry = ring_.at(Seq{seq});
    entry.batches.resize(parts_.routes->workers);
    for (core::Batch& batch : entry.batches) batch.fields.resize(fields);
  }
  for (const core::PlacedThread& placed : parts_.placement.threads) {
    agents_.push_back(std::make_unique<RoleAgent>(*this, placed));
  }
  for (std::size_t thread = 0; thread < agents_.size(); ++thread) {
    runners_.push_back(std::make_unique<core::AgentRunner>(*agents_[thread], parker_,
                                                           parts_.placement.threads[thread]));
  }
}

Run::~Run() {
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
  const std::int64_t ended = ended_ns_.load(std::memory_order_acquire);
  progress.done = ended != 0;
  progress.seconds = static_cast<double>((progress.done ? ended : now_ns()) - started_ns_) * 1e-9;
  return progress;
}

void Run::join() {
  for (auto& runner : runners_) runner->join();
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

}  // namespace

Summary Run::summarize() {
  const Progress progress = this->progress();
  Summary summary;
  summary.records = progress.records;
  summary.tuples = progress.tuples;
  summary.bytes = progress.bytes;
  summary.seconds = progress.seconds;
  summary.threads = static_cast<unsigned>(parts_.placement.threads.size());
  summary.placement = parts_.placement.summary;
  summary.epoch = plans_.current()->epoch;
  if (const auto layout = intake_->detected()) summary.layout = layout->name();

  const auto& rejected = workers_.front()->rejected();
  for (std::size_t reason = 0; reason < rejected.size(); ++reason) {
    if (rejected[reason] == 0) continue;
    summary.rejected[core::reason_name(static_cast<core::Reason>(reason))] = rejected[reason];
  }
  summary.leap = workers_.front()->leap();
  std::vector<std::vector<Instance>> instances;
  std::vector<bool> dataset_seen;
  std::string groups_state;
  for (const auto& agent : agents_) {
    ShardWorker* worker = agent->worker();
    if (worker == nullptr) continue;
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
