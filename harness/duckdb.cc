#include "harness/duckdb.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "harness/child.h"

namespace weir::harness {

void DuckDb::add_options(CLI::App& app) {
  app.add_option("--duckdb", folder, "folder with node_modules/@duckdb/node-api");
}

bool DuckDb::found(const std::string& data) const {
  std::error_code error;
  std::filesystem::create_directories(data, error);
  const std::string one = data + "/one.ndjson";
  std::ofstream(one) << R"({"streamID":"A","price":1})"
                     << "\n";
  const auto run = measure(one, 1, "stocks", data);
  if (run.ok()) return true;
  fmt::print(stderr, "duckdb is left out: npm install @duckdb/node-api, and say --duckdb DIR\n");
  return false;
}

Result<Measured> DuckDb::measure(const std::string& file, unsigned threads,
                                 const std::string& query, const std::string& data) const {
  auto run = run_child({"node", WEIR_SOURCE_DIR "/harness/duckdb_peer.mjs", file,
                        std::to_string(threads), query, folder},
                       data + "/duckdb.log");
  if (!run.ok()) return run.status();
  return Measured::of(*run, "duckdb", run->output);
}

}  // namespace weir::harness
