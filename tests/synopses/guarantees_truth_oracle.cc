#include <cfloat>

#include "tests/synopses/guarantees.h"

namespace weir::synopses {

const std::vector<Truth::Item>& Truth::items() {
  if (!items_.empty() || end_ == 0) return items_;
  // Open addressing: this is most of what the tests of a million values cost.
  std::vector<std::uint32_t> places(std::bit_ceil(2 * end_));
  for (std::size_t i = 0; i < end_; ++i) {
    const std::uint64_t hash = values_.scalar(i).hash();
    std::size_t at = hash % places.size();
    while (places[at] != 0 && items_[places[at] - 1].hash != hash) at = (at + 1) % places.size();
    if (places[at] == 0) {
      items_.push_back({hash, i, 0});
      places[at] = static_cast<std::uint32_t>(items_.size());
    }
    ++items_[places[at] - 1].count;
  }
  heaviest_.resize(std::min<std::size_t>(20, items_.size()));
  std::partial_sort_copy(items_.begin(), items_.end(), heaviest_.begin(), heaviest_.end(),
                         [](const Item& a, const Item& b) { return a.count > b.count; });
  return items_;
}

std::vector<Truth::Item> Truth::sample(std::size_t most) {
  const std::vector<Item>& all = items();
  std::vector<Item> some = heaviest_;
  for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / most) some.push_back(all[i]);
  return some;
}

double Truth::f2() {
  double sum = 0;
  for (const Item& one : items()) {
    sum += static_cast<double>(one.count) * static_cast<double>(one.count);
  }
  return sum;
}

std::size_t Truth::numbers() {
  if (!numbers_) {
    numbers_ = 0;
    for (std::size_t i = 0; i < end_; ++i) *numbers_ += values_.value(i).kind != core::Kind::kText;
  }
  return *numbers_;
}

std::vector<core::Value> Truth::last_numbers(std::size_t most) const {
  std::vector<core::Value> last;
  for (std::size_t i = end_; i > 0 && last.size() < most; --i) {
    if (values_.value(i - 1).kind != core::Kind::kText) last.push_back(values_.value(i - 1));
  }
  std::reverse(last.begin(), last.end());
  return last;
}

const ExactRanks& Truth::ranks() {
  if (!ranks_) ranks_.emplace(values_, 0, end_);
  return *ranks_;
}

Estimate View::ask(Query query) const {
  query.now = now;
  const Result<Estimate> answer = synopsis.estimate(query);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return *answer;
}

void Tally::add(const std::string& promise, bool held, double failure_probability) {
  Count& count = counts_[promise];
  ++count.trials;
  count.misses += !held;
  count.allowed += failure_probability;
}

void Tally::add(const Tally& other) {
  for (const auto& [promise, more] : other.counts_) {
    Count& count = counts_[promise];
    count.trials += more.trials;
    count.misses += more.misses;
    count.allowed += more.allowed;
  }
}

std::string Tally::Count::text(const std::string& promise) const {
  return promise + ": broken " + std::to_string(misses) + " times of " + std::to_string(trials) +
         ", at most " + json_number(allowed) + " expected; ";
}

std::string Tally::measured() const {
  std::string text;
  for (const auto& [promise, count] : counts_) text += count.text(promise);
  return text;
}

std::string Tally::broken() const {
  std::string text;
  for (const auto& [promise, count] : counts_) {
    const auto misses = static_cast<double>(count.misses);
    if (misses <= count.allowed) continue;
    // P(misses or more) ≤ e^-µ (eµ/misses)^misses.
    const double logarithm =
        misses - count.allowed - misses * std::log(misses / std::max(count.allowed, DBL_MIN));
    if (logarithm > std::log(1e-6)) continue;
    text += count.text(promise);
  }
  return text;
}

}  // namespace weir::synopses
