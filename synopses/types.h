// Types: the kinds of synopsis that one engine knows, the built-in ones and its plug-ins.
//
// Invariants
//  1. No two kinds share an id, or a name or alias whatever its case.
//  2. A kind once added stays: pointers that find() gave are good as long as the Types is.
// Thread safety: thread-compatible.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "synopses/registry.h"
#include "weir/status.h"

namespace weir::synopses {

class Types {
 public:
  Types();

  // Null if unknown.
  const SynopsisType* find(int id) const;
  // By name or alias, case-insensitive. Null if unknown.
  const SynopsisType* find(std::string_view name) const;
  // Sorted by id.
  const std::vector<const SynopsisType*>& all() const { return all_; }
  // Refused if its id or a name is taken, with a message that names both kinds and where they came
  // from. The library that gave a kind already may give it again: nothing changes.
  Status add(std::shared_ptr<const SynopsisType> type);

 private:
  std::vector<const SynopsisType*> all_;
  std::vector<std::shared_ptr<const SynopsisType>> added_;
};

}  // namespace weir::synopses
