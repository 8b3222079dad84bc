#include "hierarchy/groups.h"

#include <algorithm>
#include <array>

#include "core/bytes.h"
#include "hierarchy/aggregator.h"
#include "hierarchy/cut_rows.h"
#include "hierarchy/forest.h"

namespace weir::hierarchy {
namespace {

// Tuples that every aggregator takes before the next one does, at most: their columns stay in the
// nearest cache.
constexpr std::uint32_t kPart = 512;
// What the tuples of a part may make in rows that wait for those of other aggregators, unless one
// alone makes more: some 8 MiB. One sensor may stand below every group there is.
constexpr std::uint64_t kMostWaiting = std::uint64_t{64} << 10;
static_assert(kMostWaiting * sizeof(Row) <= std::uint64_t{8} << 20);

using Outcomes = std::array<std::uint64_t, 4>;  // tuples by outcome

// The largest of some times, or none. Four at once: a maximum hangs on the one before it.
std::int64_t latest(std::span<const std::int64_t> times) {
  std::int64_t most[4] = {kNoTime.ns, kNoTime.ns, kNoTime.ns, kNoTime.ns};
  std::size_t i = 0;
  for (; i + 4 <= times.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) most[k] = std::max(most[k], times[i + k]);
  }
  for (; i < times.size(); ++i) most[0] = std::max(most[0], times[i]);
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

void write_options(const Spec& spec, core::Writer& into) {
  const GroupOptions& options = spec.options;
  into.put(static_cast<std::uint8_t>(options.mode));
  into.put(static_cast<std::uint8_t>(options.late));
  into.put(options.emit.ns);
  into.put(options.emit.records);
  into.put(options.grace);
  into.put(options.window);
  into.put(options.advance);
  into.put(options.max_age);
  into.put_text(options.dataset);
  into.put(std::uint64_t{options.fields.size()});
  for (const std::string& field : options.fields) into.put_text(field);
}

}  // namespace

struct Groups::Family {
  Family(const core::KeyTable& keys, const Spec& of, CutRows& cuts, std::int64_t stream_time)
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
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  void apply(Part part, std::uint8_t* verdicts);
  void count(const Part& part, const std::uint8_t* outcomes, std::uint8_t* verdicts);
  // Rows that one measurement may lead to.
  std::uint64_t rows_a_tuple() const;
  void count_all(std::uint32_t n, const std::uint8_t* outcomes, std::uint8_t* verdicts);
  // Trees in the order of their roots.
  std::vector<std::uint32_t> trees_by_root() const;
  std::uint64_t silent(std::uint32_t tree) const;
  std::uint64_t met(std::uint32_t tree, const std::vector<bool>& met) const;

  const Spec spec;
  Forest forest;
  std::vector<Counts> counts;  // by tree; what a tree tells by itself is filled in by counts()
  std::vector<std::unique_ptr<Aggregator>> aggregators;  // of fields
};

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

Groups::Groups(const core::KeyTable& keys, RowSink sink, Time stream_time)
    : keys_(keys),
      cuts_(std::make_unique<CutRows>(std::move(sink))),
      stream_time_(stream_time.ns),
      part_(kPart) {}
Groups::~Groups() = default;

Groups::Family& Groups::family(const Spec& spec) {
  for (const auto& family : families_) {
    if (family->spec == spec) return *family;
  }
  families_.push_back(std::make_unique<Family>(keys_, spec, *cuts_, stream_time_));
  cuts_->gather(families_.size() > 1 || families_.front()->aggregators.size() > 1);
  return *families_.back();
}

// Rows wait for those of others only where there are several aggregators.
void Groups::bound_parts() {
  part_ = kPart;
  if (families_.size() == 1 && families_.front()->aggregators.size() == 1) return;
  std::uint64_t rows = 1;
  for (const auto& family : families_) rows += family->rows_a_tuple();
  part_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kMostWaiting / rows, 1, kPart));
}

void Groups::change(std::shared_ptr<const Registry> registry, const Spec& spec,
                    const PublishCut& cut) {
  auto known = hierarchies_.find(registry->root().identifier);
  if (known == hierarchies_.end()) {
    Family& of = family(spec);
    known = hierarchies_.emplace(registry->root().identifier, Place{&of, of.forest.trees()}).first;
    of.counts.emplace_back();
  } else if (known->second.family->forest.tree(known->second.tree)->registry().same_as(*registry)) {
    return;
  }
  Family& of = *known->second.family;
  for (const auto& aggregator : of.aggregators) aggregator->settle();
  const Regrouping change = of.forest.put(known->second.tree, std::move(registry));
  bound_parts();
  const bool publish = raw(cut.seq) > 0;
  for (const auto& aggregator : of.aggregators) aggregator->change(change, cut, publish);
  cuts_->give_out();
}

void Groups::apply(const core::Columns& columns, std::uint32_t from, std::uint32_t to,
                   std::uint64_t base, std::uint8_t* verdicts) {
  for (std::uint32_t at = from; at < to; at += part_) {
    const std::uint32_t end = to - at < part_ ? to : at + part_;
    const Part part{columns, at, end, base, nullptr, stream_time_};
    for (const auto& family : families_) family->apply(part, verdicts);
    stream_time_ = std::max(stream_time_, latest(columns.time.span().subspan(at, end - at)));
    cuts_->give_out();
  }
}

void Groups::reach(std::int64_t time, RecordPosition seq) {
  for (const auto& family : families_) {
    for (const auto& aggregator : family->aggregators) aggregator->reach(time, cut(seq));
  }
  cuts_->give_out();
}

void Groups::finish(RecordPosition seq) {
  const PublishCut last{seq, Time{stream_time_}, true};
  for (const auto& family : families_) {
    for (const auto& aggregator : family->aggregators) aggregator->finish(last);
  }
  cuts_->give_out();
}

std::map<std::string, Groups::Counts> Groups::counts() const {
  std::map<const Family*, std::vector<bool>> met;
  for (const auto& family : families_) met.emplace(family.get(), family->forest.met());
  std::map<std::string, Counts> all;
  for (const auto& [root, place] : hierarchies_) {
    Counts counts = place.family->counts[place.tree];
    const Tree& tree = *place.family->forest.tree(place.tree);
    counts.groups = tree.groups();
    counts.sensors = tree.leaves();
    counts.silent = place.family->silent(place.tree);
    counts.met = place.family->met(place.tree, met.at(place.family));
    all.emplace(root, counts);
  }
  return all;
}

void Groups::serialize(std::string& into) const {
  std::map<std::string, const Family*> by_options;
  for (const auto& family : families_) {
    core::Writer options;
    write_options(family->spec, options);
    by_options.emplace(options.take(), family.get());
  }
  for (const auto& [options, family] : by_options) {
    core::Writer writer;
    writer.put_text(options);
    const auto trees = family->trees_by_root();
    for (const std::uint32_t t : trees) writer.put_text(family->forest.tree(t)->hierarchy());
    for (const auto& aggregator : family->aggregators) {
      aggregator->serialize(trees, stream_time_, writer);
    }
    into += writer.bytes();
  }
}

std::uint64_t Groups::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& family : families_) {
    bytes += family->forest.memory_bytes();
    for (const auto& aggregator : family->aggregators) {
      bytes += aggregator->memory_bytes(stream_time_);
    }
  }
  return bytes;
}

std::uint64_t Groups::ages_looked_at() const {
  std::uint64_t looked_at = 0;
  for (const auto& family : families_) {
    for (const auto& aggregator : family->aggregators) looked_at += aggregator->ages_looked_at();
  }
  return looked_at;
}

std::size_t Groups::most_rows_waiting() const { return cuts_->most_waiting(); }

}  // namespace weir::hierarchy
