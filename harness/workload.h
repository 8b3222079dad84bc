// Workload: a generated file of stocks and the requests for it, made once and kept in a folder.
//
// Thread safety: immutable values.
#pragma once

#include <cstdint>
#include <string>

#include "weir/status.h"

namespace weir::harness {

struct Workload {
  std::uint64_t records = 0;
  std::uint64_t streams = 0;
  std::uint64_t seed = 1;
  std::string file{};      // NDJSON, layout saams
  std::string checksum{};  // of the file
  std::uint64_t bytes = 0;
  // CountMin(0.002, 0.99), HyperLogLog(0.02) and DFT(500, 200, 8) on the price of every stream, and
  // one query of the distinct count of each.
  std::string requests{};

  std::string to_json() const;  // what a result says of it
};

// Generates what is not there yet, with `weir`, and reads the file once.
Result<Workload> make_workload(const std::string& weir, const std::string& folder,
                               std::uint64_t records, std::uint64_t streams, std::uint64_t seed);

}  // namespace weir::harness
