#include "hierarchy/family.h"

#include <algorithm>
#include <array>

namespace weir::hierarchy {
namespace {

using Outcomes = std::array<std::uint64_t, 4>;  // tuples by outcome

}  // namespace

Groups::Family::Family(const core::KeyTable& keys, const Spec& of, CutRows& cuts,
                       std::int64_t stream_time)
    : spec(of), forest(keys, of.options.dataset) {
  using Mode = GroupOptions::Mode;
  const Mode mode = spec.options.mode;
  for (std::uint32_t field = 0; field < spec.options.fields.size(); ++field) {
    const Aggregator::Setting setting{spec, field, forest, cuts, counts};
    aggregators.push_back(mode == Mode::kTumbling || mode == Mode::kSliding
                              ? make_windows(setting)
                              : make_last_values(setting, stream_time));
  }
}

void Groups::Family::apply(Part part, std::uint8_t* verdicts) {
  std::array<std::uint32_t, kPart> sensors;
  std::array<std::uint8_t, kPart> outcomes;
  const std::uint32_t n = part.to - part.from;
  forest.resolve(part.columns.stream.span().subspan(part.from, n), sensors.data());
  std::fill_n(outcomes.data(), n, kNothing);
  part.sensors = sensors.data();
  for (const auto& aggregator : aggregators) aggregator->apply(part, outcomes.data());
  count(part, outcomes.data(), verdicts + part.from);
}

// Each group above, of every field, and in every window that takes it.
std::uint64_t Groups::Family::rows_a_tuple() const {
  const GroupOptions& options = spec.options;
  const bool sliding = options.mode == GroupOptions::Mode::kSliding;
  const std::int64_t windows = sliding ? (options.window - 1) / options.advance + 1 : 1;
  return forest.most_above() * aggregators.size() * static_cast<std::uint64_t>(windows);
}

// Every tuple is of the one tree, or of no sensor: a loop without a branch or a look-up, which
// compilers make vectors of.
void Groups::Family::count_all(std::uint32_t n, const std::uint8_t* outcomes,
                               std::uint8_t* verdicts) {
  static_assert(kUsed - 1 == kTaken && kOutLate - 1 == kLate && kTimeless - 1 == kNobody);
  std::uint32_t used = 0, late = 0, timeless = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint8_t outcome = outcomes[i];
    const auto verdict = static_cast<std::uint8_t>(outcome - (outcome != kNothing));
    verdicts[i] = verdicts[i] < verdict ? verdict : verdicts[i];
    used += outcome == kUsed;
    late += outcome == kOutLate;
    timeless += outcome == kTimeless;
  }
  counts[0].applied += used;
  counts[0].late += late;
  counts[0].without_time += timeless;
}

// Only tuples of sensors that stand in a tree count.
void Groups::Family::count(const Part& part, const std::uint8_t* outcomes, std::uint8_t* verdicts) {
  constexpr std::array<std::uint8_t, 4> kVerdicts{kNobody, kNobody, kLate, kTaken};
  const std::uint32_t n = part.to - part.from;
  const bool one_tree = forest.trees() == 1;
  const bool all_placed = forest.all_placed();
  if (one_tree && all_placed) return count_all(n, outcomes, verdicts);
  Outcomes sums{};
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint8_t outcome = outcomes[i];
    if (!all_placed && outcome != kNothing && !forest.placed(part.sensors[i])) outcome = kNothing;
    verdicts[i] = std::max(verdicts[i], kVerdicts[outcome]);
    ++sums[outcome];
    if (one_tree || outcome == kNothing) continue;
    for (const Forest::Place place : forest.places(part.sensors[i])) {
      Counts& of = counts[place.tree];
      of.applied += outcome == kUsed;
      of.late += outcome == kOutLate;
      of.without_time += outcome == kTimeless;
    }
  }
  if (!one_tree) return;
  counts[0].applied += sums[kUsed];
  counts[0].late += sums[kOutLate];
  counts[0].without_time += sums[kTimeless];
}

std::vector<std::uint32_t> Groups::Family::trees_by_root() const {
  std::vector<std::uint32_t> trees;
  for (std::uint32_t t = 0; t < forest.trees(); ++t) trees.push_back(t);
  std::sort(trees.begin(), trees.end(), [&](std::uint32_t a, std::uint32_t b) {
    return forest.tree(a)->hierarchy() < forest.tree(b)->hierarchy();
  });
  return trees;
}

std::uint64_t Groups::Family::silent(std::uint32_t tree) const {
  std::uint64_t silent = 0;
  for (std::uint32_t leaf = 0; leaf < forest.tree(tree)->leaves(); ++leaf) {
    const std::uint32_t sensor = forest.sensor_of(tree, leaf);
    silent += std::none_of(aggregators.begin(), aggregators.end(),
                           [&](const auto& aggregator) { return aggregator->heard(sensor); });
  }
  return silent;
}

// `met` is the forest's.
std::uint64_t Groups::Family::met(std::uint32_t tree, const std::vector<bool>& met) const {
  std::uint64_t sensors = 0;
  for (std::uint32_t leaf = 0; leaf < forest.tree(tree)->leaves(); ++leaf) {
    sensors += met[forest.sensor_of(tree, leaf)];
  }
  return sensors;
}

}  // namespace weir::hierarchy
