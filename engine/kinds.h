// Kinds: the kinds of synopsis that the requests to one engine may name: the built-in ones, and
// those of plug-ins that a request asked for.
//
// Invariants
//  1. A kind stays once it is there: pointers are good for as long as the Kinds is.
// Thread safety: thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "synopses/types.h"
#include "weir/status.h"

namespace weir::engine {

class Kinds {
 public:
  // Plug-ins come from inside this directory; empty = there are none.
  explicit Kinds(std::string plugin_directory = {}) : directory_(std::move(plugin_directory)) {}

  const synopses::SynopsisType* find(int id) const;
  // By name or alias, case-insensitive. Null if unknown.
  const synopses::SynopsisType* find(std::string_view name) const;
  // Loads the plug-in at `path`, relative to the directory; once more changes nothing.
  Status load(const std::string& path);
  // All there are now.
  synopses::Types all() const;
  // Paths of the plug-ins, in the order they were loaded.
  std::vector<std::string> loaded() const;

 private:
  const std::string directory_;
  mutable std::mutex mutex_;
  synopses::Types types_;
  std::vector<std::string> loaded_;
};

}  // namespace weir::engine
