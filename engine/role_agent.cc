#include "engine/role_agent.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/clock.h"
#include "engine/generation.h"

namespace weir::engine {
namespace {

using core::now_ns;

// A slow thread rests for no less than this, since waits are no finer.
constexpr std::int64_t kLeastRest = 1'000'000;

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

RoleAgent::RoleAgent(Generation& generation, const core::PlacedThread& placed, Seat* seat)
    : generation_(generation), placed_(placed), seat_(seat), faults_(generation.crew_.faults) {}

std::size_t RoleAgent::do_work() {
  if (!settled_) return settle();
  // Others may still be touching the batches that a parsed block would be scattered to.
  if (!all_settled_) {
    all_settled_ = generation_.settled_.load(std::memory_order_acquire) ==
                   generation_.placement_.threads.size();
    if (!all_settled_) return 0;
  }
  if (faults_ != nullptr) return do_work_with_faults();
  // What has been parsed comes before what has not: it frees the ring, and it is warm.
  std::size_t work = worker_ != nullptr ? step(*seat_) : 0;
  if (work == 0 && ingest_ != nullptr) work = ingest_->do_work();
  return work;
}

bool RoleAgent::done() const {
  if (!settled_) return false;
  if (faults_ != nullptr) {
    // Acquire: what others did in this thread's seat is seen by whoever joins it.
    return generation_.over_.load(std::memory_order_acquire) == generation_.workers();
  }
  return worker_ != nullptr ? worker_->done() : ingest_->done();
}

std::size_t RoleAgent::settle() {
  Crew& crew = generation_.crew_;
  const bool begins = generation_.number_ == 0;
  if (seat_ != nullptr) {
    // Later the ring is in use.
    if (begins) touch_batches(crew.shared.ring, seat_->number, crew.block_size);
    seat_->worker =
        generation_.from_ == nullptr
            ? std::make_unique<ShardWorker>(crew.shared, seat_->number, generation_.routes_)
            : std::make_unique<ShardWorker>(crew.shared, seat_->number, generation_.routes_,
                                            generation_.from_, generation_.first_);
    worker_ = seat_->worker.get();
    if (faults_ != nullptr && begins) faults_->reach(RecordPosition{0});
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

std::size_t RoleAgent::step(Seat& seat) {
  ShardWorker& worker = *seat.worker;
  const std::size_t work = worker.do_work();
  if (work == 0) return 0;
  if (faults_ != nullptr) faults_->reach(worker.position());
  if (worker.done()) generation_.note_over(worker.at_end());
  return work;
}

std::size_t RoleAgent::do_work_with_faults() {
  const std::int64_t began = now_ns();
  leave_others(/*all=*/false);
  if (!may_work(began)) return 0;
  std::size_t work = worker_ != nullptr && sits_ ? step(*seat_) : 0;
  for (Seat* seat : others_) work += step(*seat);
  if (work == 0 && ingest_ != nullptr) work = ingest_->do_work();
  if (work == 0) work = take_over();
  if (work != 0) note_work(began);
  return work;
}

bool RoleAgent::may_work(std::int64_t now) {
  if (seat_ == nullptr) return true;
  if (now < stopped_until_) return false;
  if (!sits_) {
    seat_->want(true);
    sits_ = seat_->take(placed_.number);
    if (!sits_) return true;  // whoever holds it leaves at the next border
    seat_->want(false);
    if (std::exchange(seat_->taken_over, false)) {
      generation_.crew_.notice(who_and_where(*seat_) + ": goes on by itself");
    }
  }
  // One that has done with it leaves a stop to the worker of its number in the next generation.
  return (worker_->done() || !stops(now)) && !rests(now);
}

bool RoleAgent::stops(std::int64_t now) {
  const std::int64_t ns = faults_->stop(seat_->number, worker_->position());
  if (ns == 0) return false;
  stopped_until_ = now + ns;
  leave_others(/*all=*/true);
  sits_ = false;
  seat_->leave();
  // What it leaves is work for those that sleep.
  generation_.crew_.parker.notify();
  return true;
}

bool RoleAgent::rests(std::int64_t now) {
  if (resting_since_ == 0) return false;
  if (now - resting_since_ < owed_) return true;
  // A rest that was too long shortens the next.
  owed_ -= now - resting_since_;
  resting_since_ = 0;
  return false;
}

void RoleAgent::note_work(std::int64_t began) {
  if (worker_ == nullptr || !sits_) return;
  const std::int64_t now = now_ns();
  const unsigned percent = faults_->slowness(seat_->number, worker_->position(), now);
  if (percent == 0) {
    owed_ = 0;
    return;
  }
  owed_ += (now - began) / (100 - percent) * percent;
  if (owed_ >= kLeastRest) resting_since_ = now;
}

void RoleAgent::leave_others(bool all) {
  std::erase_if(others_, [all](Seat* seat) {
    if (!all && !seat->wanted() && !seat->worker->done()) return false;
    seat->leave();
    return true;
  });
}

std::size_t RoleAgent::take_over() {
  for (const auto& seat : generation_.seats_) {
    if (!seat->free() || seat->wanted() || !seat->take(placed_.number)) continue;
    if (seat->worker->done()) {
      seat->leave();
      continue;
    }
    seat->taken_over = true;
    others_.push_back(seat.get());
    generation_.crew_.notice(who_and_where(*seat) + ": stopped; its slots are applied by thread " +
                             std::to_string(placed_.number));
    return 1;
  }
  return 0;
}

std::string RoleAgent::who_and_where(const Seat& seat) const {
  return "worker " + std::to_string(seat.number) + " at record " +
         std::to_string(raw(seat.worker->position()));
}

}  // namespace weir::engine
