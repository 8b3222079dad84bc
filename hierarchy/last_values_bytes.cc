// LastValues as bytes: the next boundary; which sensors have a value, and these; then by tree which
// leaves have one for their groups, and what groups published last.
//
// Values that wait for their panels are saved as if they had gone there: when they do is seen by
// nobody.
#include <algorithm>
#include <cmath>

#include "hierarchy/last_values.h"

namespace weir::hierarchy {

void LastValues::save(std::int64_t, core::Writer& into) const {
  into.put(before_next_);
  const std::uint32_t sensors = setting_.forest.sensors();
  std::vector<std::uint8_t> there(sensors);
  std::vector<std::int64_t> times;
  std::vector<double> values;
  for (std::uint32_t sensor = 0; sensor < sensors; ++sensor) {
    if (!heard(sensor)) continue;
    there[sensor] = 1;
    times.push_back(slots_[sensor].time);
    values.push_back(slots_[sensor].value);
  }
  into.put_span(std::span<const std::uint8_t>(there));
  into.put_span(std::span<const std::int64_t>(times));
  into.put_span(std::span<const double>(values));
  for (std::uint32_t t = 0; t < standing_.size(); ++t) {
    for (std::uint32_t leaf = 0; leaf < setting_.forest.tree(t)->leaves(); ++leaf) {
      into.put(static_cast<std::uint8_t>(has(t, leaf)));
    }
    for (const Aggregate& published : standing_[t].published) put(published, into);
  }
}

bool LastValues::restore(core::Reader& in) {
  const auto before_next = in.get<std::int64_t>();
  if (has_boundaries()) before_next_ = before_next;
  if (!restore_values(in)) return false;
  for (std::uint32_t t = 0; t < setting_.forest.trees(); ++t) {
    if (!restore_standing(t, in)) return false;
  }
  return in.ok();
}

bool LastValues::restore_values(core::Reader& in) {
  std::vector<std::uint8_t> there;
  if (!in.get_vector(there, setting_.forest.sensors())) return false;
  const auto with_value = static_cast<std::uint64_t>(std::count(there.begin(), there.end(), 1));
  std::vector<std::int64_t> times;
  std::vector<double> values;
  if (!in.get_vector(times, with_value) || !in.get_vector(values, with_value)) return false;
  slots_.resize(there.size());
  std::size_t next = 0;
  for (std::size_t sensor = 0; sensor < there.size(); ++sensor) {
    if (there[sensor] != 1) continue;
    if (!std::isfinite(values[next])) return in.fail();
    slots_[sensor] = {times[next], values[next], 1};
    ++next;
  }
  round_ = 2;  // nothing waits
  return true;
}

bool LastValues::restore_standing(std::uint32_t tree, core::Reader& in) {
  const std::shared_ptr<const Tree>& of = setting_.forest.tree(tree);
  Standing& standing = standing_.emplace_back();
  standing.panel = std::make_unique<Panel>(of);
  standing.plain = changelog() && of->plain();
  std::vector<std::uint8_t> there;
  if (!in.get_vector(there, of->leaves())) return false;
  for (std::uint32_t leaf = 0; leaf < there.size(); ++leaf) {
    if (there[leaf] == 0) continue;
    const std::uint32_t sensor = setting_.forest.sensor_of(tree, leaf);
    if (!heard(sensor)) return in.fail();
    standing.panel->set(leaf, slots_[sensor].value);
    note_age(slots_[sensor]);
  }
  if (changelog()) return true;
  if (in.rest().size() / kAggregateBytes < of->groups()) return in.fail();
  standing.published.reserve(of->groups());
  for (std::uint32_t g = 0; g < of->groups(); ++g) {
    standing.published.push_back(get_aggregate(in));
  }
  return in.ok();
}

}  // namespace weir::hierarchy
