#include "harness/workload.h"

#include <fmt/format.h>
#include <fmt/os.h>
#include <simdjson.h>

#include <algorithm>
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
    if (parser.parse(line).get(record) != 0) continue;
    if (record["identifier"].get(stream) == 0) {
      keys.emplace("titan", stream);
    } else if (record["dataSetKey"].get(dataset) == 0 && record["streamID"].get(stream) == 0) {
      keys.emplace(dataset, stream);
    }
  }
  return keys;
}

void write_requests(const std::string& file, const std::set<Key>& keys,
                    const std::vector<Asked>& asked, const char* field) {
  fmt::ostream out = fmt::output_file(file);
  for (const auto& [dataset, stream] : keys) {
    for (const Asked& each : asked) {
      const auto request = [&](const char* op) {
        JsonLine line;
        line.add("op", op).add("synopsis", each.synopsis).add("dataset", dataset);
        return line.add("stream", stream).add("field", field);
      };
      out.print("{}\n", request("build").raw("params", each.params).str());
      if (each.query.empty()) continue;
      const JsonLine query = request("query").raw("query", each.query);
      if (each.continuous) out.print("{}\n", JsonLine(query).add("continuous", true).str());
      out.print("{}\n", query.str());
    }
  }
}

// The file of a kind that `weir generate` knows, unless it is there.
Result<Workload> generated(const std::string& weir, const std::string& folder, const char* kind,
                           std::uint64_t records, std::uint64_t streams, std::uint64_t seed,
                           const std::string& registry = "") {
  namespace fs = std::filesystem;
  Workload made{.records = records, .streams = streams, .seed = seed, .name = kind};
  made.registry = registry;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status(Code::kIo, folder + ": " + error.message());
  made.file = fmt::format("{}/{}-{}-{}-{}.ndjson", folder, kind, records, streams, seed);
  if (!fs::exists(made.file)) {
    // Under another name until it is whole.
    const std::string partial = made.file + ".partial";
    std::vector<std::string> command = {weir,
                                        "generate",
                                        kind,
                                        "--records",
                                        std::to_string(records),
                                        "--streams",
                                        std::to_string(streams),
                                        "--seed",
                                        std::to_string(seed),
                                        "--output",
                                        partial};
    if (!registry.empty()) command.insert(command.end(), {"--registry", registry});
    const auto run = run_child(command, folder + "/generate.log");
    if (!run.ok()) return run.status();
    fs::rename(partial, made.file, error);
    if (error) return Status(Code::kIo, made.file + ": " + error.message());
  }
  auto checksum = checksum_of(made.file);
  if (!checksum.ok()) return checksum.status();
  made.checksum = *checksum;
  made.bytes = fs::file_size(made.file);
  return made;
}

}  // namespace

std::string Workload::to_json() const {
  JsonLine line;
  line.add("name", name).add("records", records).add("streams", streams).add("seed", seed);
  line.add("bytes", bytes).add("checksum", checksum);
  if (name == "stocks" || !synopses.empty()) line.add("synopses", synopses);
  return line.str();
}

std::vector<Asked> paper_synopses() {
  return {
      {"CountMin", "CountMin(0.002,0.99)", R"({"epsilon":0.002,"confidence":0.99})"},
      {"HyperLogLog", "HyperLogLog(0.02)", R"({"rsd":0.02})", "null"},
      {"DFT", "DFT(500,200,8)", R"({"window":500,"slide":200,"coefficients":8})"},
  };
}

std::vector<Asked> ten_synopses() {
  std::vector<Asked> ten = paper_synopses();
  for (Asked& each : ten) each.query = each.synopsis == "CountMin" ? "100.5" : "null";
  const std::vector<Asked> seven = {
      {"BloomFilter", "BloomFilter(100000,0.01)", R"({"expected":100000,"fpp":0.01})", "100.5"},
      {"LossyCounting", "LossyCounting(0.001)", R"({"epsilon":0.001})",
       R"([0.01,"FrequentItems"])"},
      {"StickySampling", "StickySampling(0.01,0.001,0.01)",
       R"({"support":0.01,"epsilon":0.001,"delta":0.01})", R"([0.01,"FrequentItems"])"},
      {"AMS", "AMS(5,1024)", R"({"depth":5,"buckets":1024})", R"(["F2"])"},
      {"GKQuantiles", "GKQuantiles(0.01)", R"({"epsilon":0.01})", "0.5"},
      {"LSH", "LSH(100,100)", R"({"window":100,"bits":100})", "null"},
      {"WindowSketchQuantiles", "WindowSketchQuantiles(0.01,20000)",
       R"({"epsilon":0.01,"window":20000})", "0.99"},
  };
  ten.insert(ten.end(), seven.begin(), seven.end());
  return ten;
}

Workload Workload::with(const std::vector<Asked>& asked, const std::string& path,
                        std::uint64_t most) const {
  Workload other = *this;
  other.requests = asked.empty() ? "" : path;
  other.synopses.clear();
  for (const Asked& each : asked) other.synopses += each.label + " ";
  const char* field = name == "sensors" ? "valueInW" : "price";
  other.synopses += asked.empty() ? "none" : fmt::format("on {}", field);
  if (most < streams) other.synopses += fmt::format(" of {} streams", most);
  if (!asked.empty()) {
    std::set<Key> keys = streams_of(file, std::min(most, streams), records);
    write_requests(path, keys, asked, field);
  }
  return other;
}

Result<Workload> make_workload(const std::string& weir, const std::string& folder,
                               std::uint64_t records, std::uint64_t streams, std::uint64_t seed) {
  auto made = generated(weir, folder, "stocks", records, streams, seed);
  if (!made.ok()) return made;
  return made->with(paper_synopses(),
                    fmt::format("{}/requests-{}-{}-{}.ndjson", folder, records, streams, seed));
}

Result<Workload> make_sensors(const std::string& weir, const std::string& folder,
                              std::uint64_t records, std::uint64_t sensors, std::uint64_t seed) {
  return generated(weir, folder, "sensors", records, sensors, seed,
                   fmt::format("{}/registry-{}-{}-{}.json", folder, records, sensors, seed));
}

}  // namespace weir::harness
