// Workload: a generated file of stocks, and the requests for it, or of sensors, and their registry;
// made once and kept in a folder.
//
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/status.h"

namespace weir::harness {

// A synopsis that is built on the price, or the power, of every stream.
struct Asked {
  std::string synopsis;
  std::string label;        // with its parameters, as a result shows them
  std::string params;       // JSON object
  std::string query{};      // JSON value; empty = it is not asked
  bool continuous = false;  // asked at every emission, too
};

// The paper's throughput experiment: CountMin, HyperLogLog and DFT, and one query of the distinct
// count.
std::vector<Asked> paper_synopses();
// All ten: the paper's parameters where it has some, else those of the update table; each is asked
// once a stream, at the end.
std::vector<Asked> ten_synopses();

struct Workload {
  std::uint64_t records = 0;
  std::uint64_t streams = 0;
  std::uint64_t seed = 1;
  std::string name = "stocks";  // or sensors
  std::string file{};           // NDJSON, layout saams or titan
  std::string checksum{};       // of the file
  std::uint64_t bytes = 0;
  std::string requests{};  // file of builds, and of queries at the end; empty = none are made
  std::string synopses{};  // what they build
  std::string registry{};  // file of the hierarchy of sensors; empty = none

  std::string to_json() const;  // what a result says of it
  // The same records with other requests, which are written to the file `path`; for the first
  // `most` streams alone.
  Workload with(const std::vector<Asked>& asked, const std::string& path,
                std::uint64_t most = ~std::uint64_t{0}) const;
};

// Generates what is not there yet, with `weir`, and reads the file once. Requests are those of
// paper_synopses().
Result<Workload> make_workload(const std::string& weir, const std::string& folder,
                               std::uint64_t records, std::uint64_t streams, std::uint64_t seed);
// Sensors in turn, and the registry of their groups of eight. There are no requests.
Result<Workload> make_sensors(const std::string& weir, const std::string& folder,
                              std::uint64_t records, std::uint64_t sensors, std::uint64_t seed);

}  // namespace weir::harness
