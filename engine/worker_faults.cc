#include "engine/worker_faults.h"

#include <algorithm>
#include <csignal>
#include <limits>

namespace weir::engine {

using Kind = FaultPlan::Fault::Kind;

namespace {

// Some centuries less than what a clock can tell, so that sums of times can be told, too.
constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max() / 8;

}  // namespace

std::unique_ptr<WorkerFaults> WorkerFaults::of(const std::shared_ptr<const FaultPlan>& plan) {
  if (plan == nullptr) return nullptr;
  const bool any = std::any_of(plan->faults.begin(), plan->faults.end(),
                               [](const auto& fault) { return !fault.of_files(); });
  return any ? std::unique_ptr<WorkerFaults>(new WorkerFaults(*plan)) : nullptr;
}

WorkerFaults::WorkerFaults(const FaultPlan& plan) {
  for (const FaultPlan::Fault& fault : plan.faults) {
    if (fault.kind == Kind::kKill) kills_.push_back(fault.at);
    if (fault.kind != Kind::kStop && fault.kind != Kind::kSlow) continue;
    timed_.emplace_back().fault = fault;
    timed_.back().fault.for_ns = std::clamp<std::int64_t>(fault.for_ns, 0, kLongest);
  }
  resume_at(resumed_at_);
}

void WorkerFaults::resume_at(RecordPosition position) {
  resumed_at_ = position;
  kill_at_ = std::numeric_limits<std::uint64_t>::max();
  for (const RecordPosition at : kills_) {
    if (at >= position) kill_at_ = std::min(kill_at_, raw(at));
  }
}

bool WorkerFaults::has_come(const FaultPlan::Fault& fault, RecordPosition position) const {
  return fault.at >= resumed_at_ && fault.at <= position;
}

std::int64_t WorkerFaults::stop(std::uint32_t worker, RecordPosition position) {
  std::int64_t ns = 0;
  for (Timed& timed : timed_) {
    const FaultPlan::Fault& fault = timed.fault;
    if (fault.kind != Kind::kStop || fault.worker != worker) continue;
    if (!has_come(fault, position)) continue;
    // Relaxed: workers of this number in two generations may ask at once, and one gets it.
    if (timed.until.load(std::memory_order_relaxed) != 0) continue;
    if (timed.until.exchange(1, std::memory_order_relaxed) == 0) ns += fault.for_ns;
  }
  return ns;
}

unsigned WorkerFaults::slowness(std::uint32_t worker, RecordPosition position, std::int64_t now) {
  unsigned percent = 0;
  for (Timed& timed : timed_) {
    const FaultPlan::Fault& fault = timed.fault;
    if (fault.kind != Kind::kSlow || fault.worker != worker) continue;
    std::int64_t until = timed.until.load(std::memory_order_relaxed);
    if (until == 0) {
      if (!has_come(fault, position)) continue;
      // Whoever comes first says when it ends.
      if (timed.until.compare_exchange_strong(until, now + fault.for_ns,
                                              std::memory_order_relaxed)) {
        until = now + fault.for_ns;
      }
    }
    if (now < until) percent = std::max(percent, fault.percent);
  }
  return std::min(percent, 99u);
}

void WorkerFaults::kill() { std::raise(SIGKILL); }

}  // namespace weir::engine
