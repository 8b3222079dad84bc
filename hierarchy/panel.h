// Panel: the values of a tree's leaves and what its groups come to, folded again only where a value
// has changed and only when somebody asks.
//
// set() is a store and a dirty mark up to the first block that is dirty already; at() folds the
// dirty blocks below the group.
//
// Invariants
//  1. What at() gives is a function of the leaves' values alone.
//  2. A dirty block's outputs are marked in their blocks, which are dirty too.
// Thread safety: single-writer.
// Source: ARCHITECTURE "The hierarchy needs no subtraction".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hierarchy/tree.h"

namespace weir::hierarchy {

// What a group comes to.
struct Aggregate {
  double sum = 0;
  double min = 0, max = 0;    // 0 where nobody has a value
  std::uint32_t present = 0;  // distinct sensors with a value
  std::uint32_t count = 0;    // direct members with one

  // Equal bits: results are compared by what they print.
  friend bool operator==(const Aggregate& a, const Aggregate& b);
};

class Panel {
 public:
  explicit Panel(std::shared_ptr<const Tree> tree);

  const Tree& tree() const { return *tree_; }
  const std::shared_ptr<const Tree>& shared_tree() const { return tree_; }
  // REQUIRES: finite.
  void set(std::uint32_t leaf, double value);
  void clear(std::uint32_t leaf);
  bool has(std::uint32_t leaf) const;
  Aggregate at(std::uint32_t group);
  // Groups below which set() or clear() has been called since the last time, ascending; their
  // values may be as before. Whether somebody asked for them meanwhile does not matter.
  void take_touched(std::vector<std::uint32_t>& groups);
  // As when it was made. Costs what has been touched.
  void reset();
  // A function of the tree.
  std::uint64_t memory_bytes() const;

 private:
  // The author of panel.cc decides the rest.
  std::shared_ptr<const Tree> tree_;
};

}  // namespace weir::hierarchy
