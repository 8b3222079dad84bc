#include "hierarchy/groups.h"

#include <algorithm>

#include "hierarchy/family.h"
#include "hierarchy/spec_bytes.h"

namespace weir::hierarchy {
namespace {

// What the tuples of a part may make in rows that wait for those of other aggregators, unless one
// alone makes more: some 8 MiB. One sensor may stand below every group there is.
constexpr std::uint64_t kMostWaiting = std::uint64_t{64} << 10;
static_assert(kMostWaiting * sizeof(Row) <= std::uint64_t{8} << 20);

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

}  // namespace

Groups::Groups(const core::KeyTable& keys, RowSink sink, Time stream_time)
    : keys_(keys),
      cuts_(std::make_unique<CutRows>(std::move(sink))),
      stream_time_(stream_time.ns),
      part_(Family::kPart) {}
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
  part_ = Family::kPart;
  if (families_.size() == 1 && families_.front()->aggregators.size() == 1) return;
  std::uint64_t rows = 1;
  for (const auto& family : families_) rows += family->rows_a_tuple();
  part_ =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kMostWaiting / rows, 1, Family::kPart));
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
    hierarchy::save(family->spec.options, options);
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
