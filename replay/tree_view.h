// TreeView: a hierarchy for reading: its groups and sensors as a tree, with the newest result of
// every group beside it; or as JSON, a line for each place in the tree.
//
// Invariants
//  1. A group that stands in several groups is shown with its members where it comes first; further
//     places are marked. So the length is that of the registry.
// Thread safety: thread-safe (pure).
#pragma once

#include <memory>
#include <string>

#include "hierarchy/registry.h"
#include "replay/group_lines.h"

namespace weir::replay {

struct TreeLook {
  bool box_drawing = true;   // else ASCII
  int width = 0;             // of the terminal; 0 = no limit
  std::size_t sensors = 20;  // of one group that are shown; the others are counted
};

// Whether the locale of the environment is one of UTF-8.
bool utf8_locale();

// REQUIRES: Tree::check(), here and below.
// `field`: one of results.fields(); empty = without results. Lines with newlines.
std::string tree_text(std::shared_ptr<const hierarchy::Registry> registry,
                      const GroupLines& results, const std::string& field, const TreeLook& look);
// Every group and every sensor, at each place; results of all fields. Lines with newlines.
std::string tree_json(std::shared_ptr<const hierarchy::Registry> registry,
                      const GroupLines& results);

}  // namespace weir::replay
