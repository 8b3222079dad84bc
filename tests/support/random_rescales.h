// Changes of the number of workers at random cuts, which nothing else of a run may show.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "weir/answer.h"

namespace weir::tests {

inline constexpr std::string_view kRescale = R"("rescale")";  // requestID, as answers echo it

// One a line; sometimes none. Places that are never reached are answered with errors.
inline std::string random_rescales(std::uint64_t seed, std::size_t records) {
  std::mt19937_64 random(seed * 77 + 5);
  std::string text;
  for (std::size_t n = random() % 5; n > 0; --n) {
    text += fmt::format(R"({{"requestID":{},"at":{{"record":{}}},"workers":{},"ingest":{}}})"
                        "\n",
                        kRescale, random() % (records + 1), 1 + random() % 5,
                        random() % 3 == 0 ? 1 + random() % 2 : 0);
  }
  return text;
}

inline bool is_rescale(const Answer& answer) { return answer.request_id == kRescale; }

}  // namespace weir::tests
