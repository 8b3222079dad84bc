#include "engine/collector.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace weir::engine {

void Collector::open(std::shared_ptr<const Crossing> crossing) {
  const std::scoped_lock lock(mutex_);
  WEIR_CHECK(crossing->ordinal == first_open_ + open_.size(), "cuts open in order");
  OpenCut& cut = open_.emplace_back();
  cut.slots.reserve(crossing->answers.size());
  for (std::size_t i = 0; i < crossing->answers.size(); ++i) {
    cut.slots.push_back({{crossing->answers[i]}, crossing->contributors[i], {}});
    cut.missing += crossing->contributors[i] > 0 ? 1 : 0;
  }
  give_out();
}

Collector::Slot& Collector::slot(std::uint64_t ordinal, std::uint32_t answer) {
  WEIR_CHECK(ordinal - first_open_ < open_.size(), "an answer of an open cut");
  return open_[ordinal - first_open_].slots[answer];
}

void Collector::finish_slot(std::uint64_t ordinal, Slot& slot) {
  slot.missing = 0;
  if (--open_[ordinal - first_open_].missing == 0) give_out();
}

void Collector::complete(std::uint64_t ordinal, std::uint32_t answer,
                         std::vector<Answer> finished) {
  const std::scoped_lock lock(mutex_);
  Slot& waiting = slot(ordinal, answer);
  WEIR_CHECK(waiting.missing == 1, "the last contribution");
  waiting.answers = std::move(finished);
  finish_slot(ordinal, waiting);
}

void Collector::contribute(std::uint64_t ordinal, const Action& ask,
                           std::vector<Partial> partials) {
  std::vector<Partial> all;
  Answer blank;
  {
    const std::scoped_lock lock(mutex_);
    Slot& waiting = slot(ordinal, ask.answer);
    std::move(partials.begin(), partials.end(), std::back_inserter(waiting.partials));
    if (waiting.missing > 1) {
      --waiting.missing;
      return;
    }
    all = std::move(waiting.partials);
    blank = waiting.answers.front();
  }
  // The last contributor finishes, without the lock: other answers go on meanwhile.
  complete(ordinal, ask.answer,
           finish(*ask.ask, std::move(all), blank, threads_.load(std::memory_order_relaxed)));
}

void Collector::give_out(Answer& answer) {
  if (callback_) return callback_(answer);
  if (waiting_.size_approx() >= kMaxWaiting) {
    Answer oldest;
    if (waiting_.try_dequeue(oldest)) overflowed_.fetch_add(1, std::memory_order_relaxed);
  }
  waiting_.enqueue(waiting_token_, std::move(answer));
}

void Collector::give_out() {
  while (!open_.empty() && open_.front().missing == 0) {
    for (Slot& slot : open_.front().slots) {
      for (Answer& answer : slot.answers) give_out(answer);
    }
    for (const auto& then : open_.front().then) then();
    open_.pop_front();
    ++first_open_;
  }
}

void Collector::when_given_out(std::function<void()> then) {
  const std::scoped_lock lock(mutex_);
  if (open_.empty()) return then();
  open_.back().then.push_back(std::move(then));
}

void Collector::reject(const Reject& reject) {
  if (!on_reject_) return;
  const std::scoped_lock lock(mutex_);
  on_reject_(reject);
}

}  // namespace weir::engine
