// What the tests of a running engine share: lines, small rings, pushes that insist, and requests of
// every kind at every place.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "weir/engine.h"

namespace weir::tests {

using Random = std::mt19937_64;

inline std::string line_of(std::uint64_t i, const std::string& stream = "A") {
  return fmt::format(R"({{"streamID":"{}","dataSetKey":"D","timestamp":{},"price":{}}})"
                     "\n",
                     stream, 1546387200000 + 100 * i, i % 50);
}

inline Config live_config(Random& random) {
  Config config;
  config.layout = "saams";
  config.placement = "none";
  config.block_size = 4096;
  config.ring_entries = 2;
  config.emit = {0, 1 + random() % 500};
  if (random() % 3 == 0) {
    config.ingest_threads = 1 + random() % 2;
    config.shard_threads = 1 + random() % 3;
  } else {
    config.threads = 1 + random() % 4;
  }
  return config;
}

// Until it is taken; false: the engine takes no more.
template <class What>
bool push_all(Engine& engine, const What& what) {
  for (;;) {
    const Push outcome = engine.push(what);
    if (outcome == Push::kAccepted) return true;
    if (outcome != Push::kFull) return false;
    std::this_thread::yield();
  }
}

// A request with its number as requestID, and whether it is a continuous query.
inline std::pair<std::string, bool> random_request(Random& random, std::size_t id) {
  const char* const kinds[] = {"CountMin", "HyperLogLog", "DFT"};
  const char* const params[] = {R"({"epsilon":0.05,"confidence":0.9,"seed":3})", R"({"rsd":0.1})",
                                R"({"window":8,"slide":4,"coefficients":2})"};
  const std::size_t kind = random() % 3;
  const std::string fields[] = {"price", "nothing", fmt::format("f{}", id)};
  std::string text =
      fmt::format(R"({{"requestID":{},"synopsis":"{}","dataset":"D","field":"{}","stream":"{}")",
                  id, kinds[kind], fields[std::min(random() % 3, random() % 3)],
                  kind < 2 && random() % 3 == 0 ? "" : (random() % 2 == 0 ? "A" : "B"));
  bool continuous = false;
  const std::size_t op = random() % 6;
  if (op < 2) {
    text += fmt::format(R"(,"op":"build","params":{},"parallelism":{})", params[kind],
                        random() % 3 == 0 ? 1 + random() % 6 : 1);
  } else if (op == 2) {
    text += R"(,"op":"delete")";
  } else {
    continuous = op == 5;
    text += fmt::format(R"(,"op":"query","query":7,"continuous":{})", continuous);
  }
  switch (random() % 6) {
    case 0:
      text += fmt::format(R"(,"at":{{"record":{}}})", random() % 4000);
      break;
    case 1:
      text += fmt::format(R"(,"at":{{"time":{}}})", 1546387200 + random() % 400);
      break;
    case 2:
      text += random() % 2 == 0 ? R"(,"at":{"end":true})" : R"(,"at":{"start":true})";
      break;
    default:
      break;
  }
  return {text + "}", continuous};
}

}  // namespace weir::tests
