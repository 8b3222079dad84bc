#include "replay/backlog.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "replay/units.h"

namespace weir::replay {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
constexpr double kLate = 1;

}  // namespace

std::uint64_t Backlog::Sample::lag(std::uint64_t records) const {
  const std::uint64_t there = std::min(offered, records);
  return there > applied ? there - applied : 0;
}

void Backlog::add(const PaceMoment& moment, std::uint64_t records, double seconds) {
  // What is applied before anything was handed out came from elsewhere: from a journal.
  if (moment.released == 0) before_ = std::max(before_, records);
  if (newest_.has_value() && newest_->seconds_late > kLate && seconds > newest_seconds_) {
    late_seconds_ += seconds - newest_seconds_;
  }
  newest_ = moment;
  newest_seconds_ = seconds;
  if (!moment.offered.has_value()) return;
  samples_.push_back({*moment.offered, records > before_ ? records - before_ : 0});
  if (samples_.size() > kMostSamples) thin_out();
}

// Half of them, without losing the greatest lag.
void Backlog::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i + 1 < samples_.size(); i += 2) {
    const bool later = samples_[i + 1].lag(kEndless) >= samples_[i].lag(kEndless);
    samples_[kept++] = samples_[later ? i + 1 : i];
  }
  if (samples_.size() % 2 != 0) samples_[kept++] = samples_.back();
  samples_.resize(kept);
}

std::string Backlog::text() const {
  if (!newest_.has_value()) return {};
  if (newest_->offered.has_value() && !samples_.empty()) {
    const std::uint64_t lag = samples_.back().lag(kEndless);
    return fmt::format("lag {} record{}", grouped(lag), lag == 1 ? "" : "s");
  }
  return fmt::format("behind {:.1f} s", newest_->seconds_late);
}

BacklogReport Backlog::report() const {
  BacklogReport report;
  report.late_seconds = late_seconds_;
  if (samples_.empty()) return report;
  const std::uint64_t records = newest_->ended ? newest_->released : kEndless;
  report.greatest = 0;
  for (const Sample& sample : samples_) {
    report.greatest = std::max(*report.greatest, sample.lag(records));
  }
  const auto all_due = std::find_if(samples_.begin(), samples_.end(), [&](const Sample& sample) {
    return sample.offered >= records;
  });
  report.at_end = (all_due == samples_.end() ? samples_.back() : *all_due).lag(records);
  return report;
}

}  // namespace weir::replay
