// DuckDb: the peer harness/duckdb_peer.mjs, run as a child.
//
// Thread safety: immutable values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/measured.h"
#include "weir/status.h"

namespace weir::harness {

struct DuckDb {
  std::string folder{};  // with node_modules/@duckdb; empty = found by way of NODE_PATH

  void add_options(CLI::App& app);
  // Whether it can be run; where not, says on standard error what would help. `data` is a folder
  // for its files.
  bool found(const std::string& data) const;
  // One of the queries that duckdb_peer.mjs names.
  Result<Measured> measure(const std::string& file, unsigned threads, const std::string& query,
                           const std::string& data) const;
};

}  // namespace weir::harness
