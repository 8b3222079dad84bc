// Fault plans for runs whose answers may not show them: stops and slowness at random places.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "weir/faults.h"

namespace weir::tests {

inline constexpr std::int64_t kMillisecond = 1'000'000;
// Such a stop ends with the run, which somebody else has to bring to its end.
inline constexpr std::int64_t kForHours = 3'600'000 * kMillisecond;

inline FaultPlan::Fault stop_of(unsigned worker, std::uint64_t at, std::int64_t ns) {
  FaultPlan::Fault fault;
  fault.kind = FaultPlan::Fault::Kind::kStop;
  fault.worker = worker;
  fault.at = RecordPosition{at};
  fault.for_ns = ns;
  return fault;
}

inline FaultPlan::Fault slow_of(unsigned worker, std::uint64_t at, std::int64_t ns,
                                unsigned percent) {
  FaultPlan::Fault fault = stop_of(worker, at, ns);
  fault.kind = FaultPlan::Fault::Kind::kSlow;
  fault.percent = percent;
  return fault;
}

// Never takes all threads for long: worker 0 always comes back soon.
inline std::shared_ptr<const FaultPlan> random_faults(std::uint64_t seed, std::size_t records) {
  std::mt19937_64 random(seed * 131 + 17);
  auto plan = std::make_shared<FaultPlan>();
  const auto place = [&] { return random() % (records + 1); };
  const auto moment = [&] { return static_cast<std::int64_t>(random() % 3000) * 1000; };
  switch (seed % 4) {
    case 0:  // three of four are gone, each from its own place on
      for (const unsigned worker : {1u, 2u, 3u}) {
        plan->faults.push_back(stop_of(worker, place(), kForHours));
      }
      break;
    case 1:  // all but one are slow
      for (const unsigned worker : {1u, 2u, 3u}) {
        plan->faults.push_back(slow_of(worker, place(), kForHours, 1 + random() % 90));
      }
      break;
    case 2:  // all stop again and again
      for (int i = 0; i < 12; ++i) {
        plan->faults.push_back(stop_of(random() % 4, place(), moment()));
      }
      break;
    default:  // of everything, also for workers that there are not
      for (std::size_t n = 1 + random() % 8; n > 0; --n) {
        const auto worker = static_cast<unsigned>(random() % 6);
        const bool long_one = worker != 0 && random() % 3 == 0;
        plan->faults.push_back(random() % 2 == 0
                                   ? stop_of(worker, place(), long_one ? kForHours : moment())
                                   : slow_of(worker, place(), 10 * moment(), 1 + random() % 95));
      }
      break;
  }
  return plan;
}

}  // namespace weir::tests
