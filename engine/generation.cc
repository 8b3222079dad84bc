#include "engine/generation.h"

#include <algorithm>
#include <cstring>

namespace weir::engine {
namespace {

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

// What one thread does: parse, apply, or both.
class RoleAgent final : public core::Agent {
 public:
  RoleAgent(Generation& generation, const core::PlacedThread& placed)
      : generation_(generation), placed_(placed) {}

  std::size_t do_work() override {
    if (!settled_) return settle();
    // Others may still be touching the batches that a parsed block would be scattered to.
    if (!all_settled_) {
      all_settled_ = generation_.settled_.load(std::memory_order_acquire) ==
                     generation_.placement_.threads.size();
      if (!all_settled_) return 0;
    }
    // What has been parsed comes before what has not: it frees the ring, and it is warm.
    std::size_t work = worker_ != nullptr ? worker_->do_work() : 0;
    if (work == 0 && ingest_ != nullptr) work = ingest_->do_work();
    if (worker_ != nullptr && worker_->at_end() && !told_) tell();
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
    Crew& crew = generation_.crew_;
    const bool begins = generation_.number_ == 0;
    if (placed_.shard.has_value()) {
      const std::uint32_t number = *placed_.shard;
      // Later the ring is in use.
      if (begins) touch_batches(crew.shared.ring, number, crew.block_size);
      worker_ = generation_.from_ == nullptr
                    ? std::make_unique<ShardWorker>(crew.shared, number, generation_.routes_)
                    : std::make_unique<ShardWorker>(crew.shared, number, generation_.routes_,
                                                    generation_.from_, generation_.first_);
    }
    if (placed_.ingest.has_value()) {
      ingest_ =
          std::make_unique<IngestAgent>(crew.intake, crew.shared.source_names, generation_.number_);
    }
    settled_ = true;
    all_settled_ = !begins;
    generation_.settled_.fetch_add(1, std::memory_order_acq_rel);
    return 1;
  }
  void tell() {
    told_ = true;
    const std::uint32_t before = generation_.at_end_.fetch_add(1, std::memory_order_acq_rel);
    if (before + 1 == generation_.workers()) generation_.crew_.ended();
  }

  Generation& generation_;
  const core::PlacedThread& placed_;
  std::unique_ptr<ShardWorker> worker_;
  std::unique_ptr<IngestAgent> ingest_;
  bool settled_ = false;
  bool all_settled_ = false;
  bool told_ = false;
};

Generation::Generation(Crew& crew, core::Placement placement,
                       std::shared_ptr<const core::Routes> routes, std::uint32_t number, Seq first,
                       std::shared_ptr<HandOver> from)
    : crew_(crew),
      placement_(std::move(placement)),
      routes_(std::move(routes)),
      number_(number),
      first_(first),
      from_(std::move(from)) {
  for (const core::PlacedThread& placed : placement_.threads) {
    agents_.push_back(std::make_unique<RoleAgent>(*this, placed));
  }
  for (std::size_t thread = 0; thread < agents_.size(); ++thread) {
    runners_.push_back(std::make_unique<core::AgentRunner>(*agents_[thread], crew_.parker,
                                                           placement_.threads[thread]));
  }
}

Generation::~Generation() { join(); }

void Generation::join() {
  for (auto& runner : runners_) runner->join();
}

std::vector<ShardWorker*> Generation::shard_workers() const {
  std::vector<ShardWorker*> workers(routes_->workers);
  for (std::size_t thread = 0; thread < agents_.size(); ++thread) {
    const auto& shard = placement_.threads[thread].shard;
    if (shard.has_value()) workers[*shard] = agents_[thread]->worker();
  }
  return workers;
}

}  // namespace weir::engine
