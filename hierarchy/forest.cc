#include "hierarchy/forest.h"

#include <algorithm>

namespace weir::hierarchy {

Forest::Forest(const core::KeyTable& keys, std::string dataset)
    : keys_(keys),
      dataset_(std::move(dataset)),
      identifiers_(std::make_unique<core::KeyTable>()),
      of_all_(identifiers_->dataset("")) {}

std::uint32_t Forest::meet(StreamId stream) {
  if (raw(stream) >= numbers_.size()) {
    // Many are met at once; the table is ahead of them.
    numbers_.resize(std::max<std::size_t>(raw(stream) + 1, keys_.size()), kUnknown);
  }
  const core::Key& key = keys_.key(stream);
  const bool ours = dataset_.empty() || key.dataset == dataset_;
  return numbers_[raw(stream)] = ours ? number_of(key.stream) : kNone;
}

std::vector<bool> Forest::met() const {
  std::vector<bool> met = met_before_;
  met.resize(sensors());
  for (const std::uint32_t sensor : numbers_) {
    if (sensor < met.size()) met[sensor] = true;  // else kNone or kUnknown
  }
  return met;
}

std::uint32_t Forest::number_of(std::string_view identifier) {
  const std::uint32_t number = raw(identifiers_->find_or_add(of_all_, identifier));
  if (number == places_.size()) places_.emplace_back();
  return number;
}

namespace {

// Both lists of sensors are sorted: those that stay are found without looking a text up.
std::vector<std::uint32_t> match_leaves(const Tree& before, const Tree& after) {
  const std::vector<Sensor>& old = before.registry().sensors();
  std::vector<std::uint32_t> matched;
  matched.reserve(after.leaves());
  std::uint32_t at = 0;
  for (const Sensor& sensor : after.registry().sensors()) {
    int order = 1;
    while (at < old.size() && (order = old[at].identifier.compare(sensor.identifier)) < 0) ++at;
    matched.push_back(at < old.size() && order == 0 ? at++ : Tree::kNone);
  }
  return matched;
}

// Whether two groups have members of the same identifiers. Both lists are in their order.
bool same_members(const Regrouping& change, std::uint32_t old_group, std::uint32_t group) {
  const Registry& before = change.before->registry();
  const Registry& after = change.after->registry();
  const std::vector<Member>& were = before.groups()[old_group].members;
  const std::vector<Member>& are = after.groups()[group].members;
  return std::equal(were.begin(), were.end(), are.begin(), are.end(),
                    [&](const Member& was, const Member& is) {
                      if (was.group != is.group)
                        return before.identifier(was) == after.identifier(is);
                      const auto& old = is.group ? change.old_group : change.old_leaf;
                      return old[is.index] == was.index;
                    });
}

void compare_groups(Regrouping& change) {
  const Tree& after = *change.after;
  change.old_group.assign(after.groups(), Tree::kNone);
  change.reshaped.assign(after.groups(), false);
  std::vector<bool> stays(change.before == nullptr ? 0 : change.before->groups(), false);
  // A group's members stand before it.
  for (std::uint32_t g = 0; g < after.groups(); ++g) {
    const auto old = change.before == nullptr
                         ? std::nullopt
                         : change.before->registry().find_group(after.group(g).identifier);
    if (!old.has_value()) {
      change.reshaped[g] = !after.group(g).members.empty();
      continue;
    }
    stays[*old] = true;
    change.old_group[g] = *old;
    change.reshaped[g] = change.before->sensors_below(*old) != after.sensors_below(g) ||
                         !same_members(change, *old, g);
  }
  for (std::uint32_t g = 0; g < stays.size(); ++g) {
    if (!stays[g] && !change.before->group(g).members.empty()) change.gone.push_back(g);
  }
}

}  // namespace

Regrouping Forest::put(std::uint32_t t, std::shared_ptr<const Registry> registry) {
  Regrouping change;
  change.tree = t;
  change.after = std::make_shared<const Tree>(std::move(registry));
  if (t == trees_.size()) trees_.emplace_back();
  Standing& standing = trees_[t];
  change.before = standing.tree;
  change.old_leaf = change.before == nullptr
                        ? std::vector<std::uint32_t>(change.after->leaves(), Tree::kNone)
                        : match_leaves(*change.before, *change.after);
  compare_groups(change);

  std::vector<std::uint32_t> sensors(change.after->leaves());
  for (std::uint32_t leaf = 0; leaf < sensors.size(); ++leaf) {
    const std::uint32_t old = change.old_leaf[leaf];
    sensors[leaf] = old != Tree::kNone
                        ? standing.sensors[old]
                        : number_of(change.after->registry().sensors()[leaf].identifier);
  }
  for (std::uint32_t leaf = 0; leaf < standing.sensors.size(); ++leaf) {
    displace(standing.sensors[leaf], t);
    above_[standing.sensors[leaf]] -= change.before->ancestors(leaf).size();
  }
  above_.resize(places_.size());
  for (std::uint32_t leaf = 0; leaf < sensors.size(); ++leaf) {
    place(sensors[leaf], {t, leaf});
    above_[sensors[leaf]] += change.after->ancestors(leaf).size();
    most_above_ = std::max(most_above_, above_[sensors[leaf]]);
  }
  standing.sensors = std::move(sensors);
  standing.tree = change.after;
  return change;
}

namespace {

bool by_tree(const Forest::Place& a, const Forest::Place& b) { return a.tree < b.tree; }

}  // namespace

void Forest::place(std::uint32_t sensor, Place added) {
  ++placings_;
  Place& place = places_[sensor];
  if (place.tree == kNone) {
    place = added;
    ++placed_;
    return;
  }
  if (place.tree != kMany) {
    if (free_several_.empty()) {
      free_several_.push_back(static_cast<std::uint32_t>(several_.size()));
      several_.emplace_back();
    }
    const std::uint32_t list = free_several_.back();
    free_several_.pop_back();
    several_[list].push_back(place);
    place = {kMany, list};
  }
  std::vector<Place>& all = several_[place.leaf];
  all.insert(std::upper_bound(all.begin(), all.end(), added, by_tree), added);
}

// REQUIRES: the sensor stands in the tree.
void Forest::displace(std::uint32_t sensor, std::uint32_t tree) {
  ++placings_;
  Place& place = places_[sensor];
  if (place.tree != kMany) {
    place = {};
    --placed_;
    return;
  }
  const std::uint32_t list = place.leaf;
  std::vector<Place>& all = several_[list];
  all.erase(std::lower_bound(all.begin(), all.end(), Place{tree, 0}, by_tree));
  if (all.size() > 1) return;
  place = all.front();
  all = {};
  free_several_.push_back(list);
}

std::uint64_t Forest::memory_bytes() const {
  std::uint64_t bytes = std::uint64_t{sensors()} * (sizeof(core::Key) + 2 * sizeof(Place));
  for (const Standing& standing : trees_) bytes += standing.sensors.size() * 64;
  return bytes;
}

}  // namespace weir::hierarchy
