#include "engine/collector.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace weir::engine {

void fill_answer(const synopses::Synopsis& synopsis, const synopses::Query& query, Answer& answer) {
  answer.n = synopsis.n();
  answer.memory_bytes = synopsis.memory_bytes();
  auto estimated = synopsis.estimate(query);
  if (!estimated.ok()) {
    answer.kind = Answer::Kind::kError;
    answer.reason = estimated.status().message();
    return;
  }
  answer.estimate = std::move(estimated->json);
  answer.lower = estimated->lower;
  answer.upper = estimated->upper;
  answer.confidence = estimated->confidence;
  answer.exact = estimated->exact;
  answer.reason = std::move(estimated->reason);
}

std::unique_ptr<synopses::Synopsis> merge_partials(std::vector<Partial> partials) {
  WEIR_CHECK(!partials.empty(), "somebody owns a part");
  std::sort(partials.begin(), partials.end(),
            [](const Partial& a, const Partial& b) { return a.part < b.part; });
  std::unique_ptr<synopses::Synopsis> merged = std::move(partials.front().synopsis);
  for (std::size_t i = 1; i < partials.size(); ++i) {
    const Status status = merged->merge(*partials[i].synopsis);
    WEIR_CHECK(status.ok(), "parts of one build have equal parameters");
  }
  return merged;
}

void Collector::open(std::shared_ptr<const Crossing> crossing) {
  const std::scoped_lock lock(mutex_);
  WEIR_CHECK(crossing->ordinal == first_open_ + open_.size(), "cuts open in order");
  OpenCut& cut = open_.emplace_back();
  cut.slots.reserve(crossing->answers.size());
  for (std::size_t i = 0; i < crossing->answers.size(); ++i) {
    cut.slots.push_back({crossing->answers[i], crossing->contributors[i], {}});
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

void Collector::complete(std::uint64_t ordinal, std::uint32_t answer, Answer finished) {
  const std::scoped_lock lock(mutex_);
  Slot& waiting = slot(ordinal, answer);
  WEIR_CHECK(waiting.missing == 1, "the last contribution");
  waiting.answer = std::move(finished);
  finish_slot(ordinal, waiting);
}

void Collector::contribute(std::uint64_t ordinal, std::uint32_t answer,
                           const synopses::Query& query, std::vector<Partial> partials) {
  std::vector<Partial> all;
  Answer finished;
  {
    const std::scoped_lock lock(mutex_);
    Slot& waiting = slot(ordinal, answer);
    std::move(partials.begin(), partials.end(), std::back_inserter(waiting.partials));
    if (waiting.missing > 1) {
      --waiting.missing;
      return;
    }
    all = std::move(waiting.partials);
    finished = waiting.answer;
  }
  // The last contributor merges, without the lock: other answers go on meanwhile.
  fill_answer(*merge_partials(std::move(all)), query, finished);
  complete(ordinal, answer, std::move(finished));
}

void Collector::give_out() {
  while (!open_.empty() && open_.front().missing == 0) {
    for (Slot& slot : open_.front().slots) {
      if (callback_) {
        callback_(slot.answer);
        continue;
      }
      if (waiting_.size_approx() >= kMaxWaiting) {
        Answer oldest;
        if (waiting_.try_dequeue(oldest)) overflowed_.fetch_add(1, std::memory_order_relaxed);
      }
      waiting_.enqueue(waiting_token_, std::move(slot.answer));
    }
    open_.pop_front();
    ++first_open_;
  }
}

void Collector::reject(const Reject& reject) {
  if (!on_reject_) return;
  const std::scoped_lock lock(mutex_);
  on_reject_(reject);
}

}  // namespace weir::engine
