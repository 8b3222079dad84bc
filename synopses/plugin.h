// Plugin: a shared library that holds one kind of synopsis (include/weir/plugin.h), opened and
// checked.
//
// Invariants
//  1. Every fact of its table was checked when it was opened and is copied: the library cannot
//  change
//     it later, and no text points into it.
//  2. The library stays loaded as long as a Plugin, a SynopsisType that type() gave, or a synopsis
//  of
//     it lives, and is unloaded with the last of them.
// Thread safety: immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "synopses/registry.h"
#include "weir/plugin.h"
#include "weir/status.h"

namespace weir::synopses {

class Plugin {
 public:
  // Loads the library, which runs its initialisers: it is trusted code. Errors say what is wrong
  // with the file or the table and what would be right. A path without '/' is one of the working
  // directory; the loader's search path is never used.
  static Result<std::shared_ptr<const Plugin>> open(const std::string& path);

  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // Absolute, without links.
  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  // The whole kind, which keeps `plugin` loaded.
  static std::shared_ptr<const SynopsisType> type(const std::shared_ptr<const Plugin>& plugin);

  // The kind without the functions that would keep this Plugin alive: for messages.
  const SynopsisType& facts() const { return facts_; }
  const weir_plugin& table() const { return table_; }
  bool has(std::uint32_t flag) const { return (table_.flags & flag) != 0; }
  // The loader gave both the same library.
  bool same_library(const Plugin& other) const { return handle_ == other.handle_; }

 private:
  Plugin(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}
  Status read_table();
  Status read_facts(const weir_plugin& table);
  Status read_params(const weir_plugin& table);
  Status check_functions() const;

  std::string path_;
  void* handle_;
  weir_plugin table_{};
  std::string name_, guarantee_, queries_;
  std::vector<std::string> param_names_;
  SynopsisType facts_{};
};

// One line of at most `limit` bytes of UTF-8 from foreign text: other bytes and control characters
// become '?'. Null gives "".
std::string shown(const char* text, std::size_t limit);

}  // namespace weir::synopses
