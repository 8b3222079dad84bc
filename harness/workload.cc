#include "harness/workload.h"

#include <fmt/format.h>
#include <fmt/os.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "harness/child.h"
#include "harness/fingerprint.h"
#include "harness/json_line.h"

namespace weir::harness {
namespace {

using Key = std::pair<std::string, std::string>;  // dataset, stream

// The streams of the first records of a file, until `wanted` were seen or enough was read.
std::set<Key> streams_of(const std::string& file, std::uint64_t wanted, std::uint64_t records) {
  std::set<Key> keys;
  std::ifstream in(file);
  simdjson::dom::parser parser;
  std::string line;
  for (std::uint64_t i = 0; i < records && keys.size() < wanted && std::getline(in, line); ++i) {
    std::string_view dataset, stream;
    simdjson::dom::element record;
    if (parser.parse(line).get(record) != 0 || record["dataSetKey"].get(dataset) != 0 ||
        record["streamID"].get(stream) != 0) {
      continue;
    }
    keys.emplace(dataset, stream);
  }
  return keys;
}

void write_requests(const std::string& file, const std::set<Key>& keys) {
  fmt::ostream out = fmt::output_file(file);
  for (const auto& [dataset, stream] : keys) {
    const auto request = [&](const char* op, const char* synopsis) {
      JsonLine line;
      line.add("op", op).add("synopsis", synopsis).add("dataset", dataset).add("stream", stream);
      return line.add("field", "price");
    };
    out.print(
        "{}\n",
        request("build", "CountMin").raw("params", R"({"epsilon":0.002,"confidence":0.99})").str());
    out.print("{}\n", request("build", "HyperLogLog").raw("params", R"({"rsd":0.02})").str());
    out.print("{}\n", request("build", "DFT")
                          .raw("params", R"({"window":500,"slide":200,"coefficients":8})")
                          .str());
    out.print("{}\n", request("query", "HyperLogLog").str());
  }
}

}  // namespace

std::string Workload::to_json() const {
  JsonLine line;
  line.add("name", "stocks").add("records", records).add("streams", streams).add("seed", seed);
  line.add("bytes", bytes).add("checksum", checksum);
  return line.add("synopses", "CountMin(0.002,0.99) HyperLogLog(0.02) DFT(500,200,8) on price")
      .str();
}

Result<Workload> make_workload(const std::string& weir, const std::string& folder,
                               std::uint64_t records, std::uint64_t streams, std::uint64_t seed) {
  namespace fs = std::filesystem;
  Workload made{.records = records, .streams = streams, .seed = seed};
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status(Code::kIo, folder + ": " + error.message());
  made.file = fmt::format("{}/stocks-{}-{}-{}.ndjson", folder, records, streams, seed);
  if (!fs::exists(made.file)) {
    // Under another name until it is whole.
    const std::string partial = made.file + ".partial";
    const auto run =
        run_child({weir, "generate", "stocks", "--records", std::to_string(records), "--streams",
                   std::to_string(streams), "--seed", std::to_string(seed), "--output", partial},
                  folder + "/generate.log");
    if (!run.ok()) return run.status();
    fs::rename(partial, made.file, error);
    if (error) return Status(Code::kIo, made.file + ": " + error.message());
  }
  auto checksum = checksum_of(made.file);
  if (!checksum.ok()) return checksum.status();
  made.checksum = *checksum;
  made.bytes = fs::file_size(made.file);
  made.requests = fmt::format("{}/requests-{}-{}-{}.ndjson", folder, records, streams, seed);
  write_requests(made.requests, streams_of(made.file, streams, records));
  return made;
}

}  // namespace weir::harness
