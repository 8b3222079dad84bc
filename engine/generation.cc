#include "engine/generation.h"

namespace weir::engine {

Generation::Generation(Crew& crew, core::Placement placement,
                       std::shared_ptr<const core::Routes> routes, std::uint32_t number, Seq first,
                       std::shared_ptr<HandOver> from)
    : crew_(crew),
      placement_(std::move(placement)),
      routes_(std::move(routes)),
      number_(number),
      first_(first),
      from_(std::move(from)) {
  // A run that is resumed comes to no place behind it.
  if (crew_.faults != nullptr && number_ == 0 && from_ != nullptr) {
    crew_.faults->resume_at(from_->cursor().position());
  }
  seats_.resize(routes_->workers);
  for (const core::PlacedThread& placed : placement_.threads) {
    Seat* seat = nullptr;
    if (placed.shard.has_value()) {
      seats_[*placed.shard] = std::make_unique<Seat>(*placed.shard, placed.number);
      seat = seats_[*placed.shard].get();
    }
    agents_.push_back(std::make_unique<RoleAgent>(*this, placed, seat));
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

void Generation::note_over(bool at_end) {
  const std::uint32_t before = over_.fetch_add(1, std::memory_order_acq_rel);
  if (at_end && before + 1 == workers()) crew_.ended();
}

std::vector<ShardWorker*> Generation::shard_workers() const {
  std::vector<ShardWorker*> workers;
  for (const auto& seat : seats_) workers.push_back(seat->worker.get());
  return workers;
}

}  // namespace weir::engine
