// Forest: the hierarchies of one spec, the numbers of their sensors, and where each sensor stands
// in which tree.
//
// A sensor is an identifier, whatever dataset its stream is of; streams that no registry holds have
// numbers too, since their values are kept. Streams are resolved once each.
//
// Invariants
//  1. A number never changes its meaning and is never given again.
//  2. Trees are numbered in the order in which their roots came; a tree is replaced, never removed.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/array.h"
#include "core/bytes.h"
#include "core/keys.h"
#include "hierarchy/tree.h"

namespace weir::hierarchy {

// What one registry's replacement did to a hierarchy.
struct Regrouping {
  std::uint32_t tree = 0;              // its number
  std::shared_ptr<const Tree> before;  // null: the hierarchy is new
  std::shared_ptr<const Tree> after;
  std::vector<std::uint32_t> old_leaf;   // of each leaf after; Tree::kNone: it is new
  std::vector<std::uint32_t> old_group;  // of each group after; Tree::kNone: it is new
  // Of each group after: its members or its number of sensors are others (none, of a group that was
  // not there).
  std::vector<bool> reshaped;
  std::vector<std::uint32_t> gone;  // groups before that are no more, and had members
};

class Forest {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Place {
    std::uint32_t tree = kNone;
    std::uint32_t leaf = 0;
  };

  // `dataset`: of the streams that are sensors; empty = any. The keys outlive the forest.
  Forest(const core::KeyTable& keys, std::string dataset);

  // The sensor of each stream, or kNone where it is of another dataset.
  void resolve(std::span<const StreamId> streams, std::uint32_t* sensors) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const std::uint32_t id = raw(streams[i]);
      std::uint32_t sensor = id < numbers_.size() ? numbers_[id] : kUnknown;
      if (sensor == kUnknown) [[unlikely]]
        sensor = meet(streams[i]);
      sensors[i] = sensor;
    }
  }
  // Of each sensor, whether a stream that was resolved is it, be it before save().
  std::vector<bool> met() const;
  // One more than the largest number.
  std::uint32_t sensors() const { return identifiers_->size(); }
  std::string_view identifier(std::uint32_t sensor) const {
    return identifiers_->key(StreamId{sensor}).stream;
  }

  // Where the sensor stands, by tree. REQUIRES: sensor < sensors().
  std::span<const Place> places(std::uint32_t sensor) const {
    const Place& place = places_[sensor];
    if (place.tree == kNone) return {};
    if (place.tree != kMany) [[likely]]
      return {&place, 1};
    return several_[place.leaf];
  }
  bool placed(std::uint32_t sensor) const { return places_[sensor].tree != kNone; }
  // Every sensor there is stands in a tree.
  bool all_placed() const { return placed_ == sensors(); }

  std::uint32_t trees() const { return static_cast<std::uint32_t>(trees_.size()); }
  const std::shared_ptr<const Tree>& tree(std::uint32_t t) const { return trees_[t].tree; }
  std::uint32_t sensor_of(std::uint32_t t, std::uint32_t leaf) const {
    return trees_[t].sensors[leaf];
  }
  // Puts the registry in the place of tree t; t = trees() adds it. Linear in the tree and the one
  // that it replaces, whatever else stands.
  Regrouping put(std::uint32_t t, std::shared_ptr<const Registry> registry);

  // Sensors and registries, with their numbers; forest_bytes.cc.
  void save(core::Writer& into) const;
  // An error (kInvalid) leaves a forest that is of no use. REQUIRES: it is as it was made.
  Status restore(core::Reader& in);

  // The most groups that there have been above one sensor, in all trees together.
  std::uint64_t most_above() const { return most_above_; }
  // Places that put() has changed so far: its work, for tests.
  std::uint64_t placings() const { return placings_; }
  // A function of the numbers and the trees.
  std::uint64_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kUnknown = kNone - 1;  // a stream that was not met yet
  static constexpr std::uint32_t kMany = kNone - 1;     // a place's leaf is an index of several_
  struct Standing {
    std::shared_ptr<const Tree> tree;
    std::vector<std::uint32_t> sensors;  // of each leaf
  };

  std::uint32_t meet(StreamId stream);
  std::uint32_t number_of(std::string_view identifier);
  void place(std::uint32_t sensor, Place added);
  void displace(std::uint32_t sensor, std::uint32_t tree);

  const core::KeyTable& keys_;
  std::string dataset_;
  // Its ids are the sensors' numbers; all identifiers are of one dataset.
  std::unique_ptr<core::KeyTable> identifiers_;
  DatasetId of_all_{};
  std::vector<std::uint32_t> numbers_;  // of streams
  std::vector<bool> met_before_;        // of sensors: restored
  std::vector<Standing> trees_;
  std::vector<Place> places_;                // of sensors
  std::vector<std::vector<Place>> several_;  // by tree
  std::vector<std::uint32_t> free_several_;  // lists of several_ that nobody has
  std::uint32_t placed_ = 0;                 // sensors that stand in a tree
  std::vector<std::uint64_t> above_;         // of sensors: groups above, in all trees
  std::uint64_t most_above_ = 0;
  std::uint64_t placings_ = 0;
};

}  // namespace weir::hierarchy
