// Hostile bytes through load(): as they are, and with a checksum made to fit, since nothing behind
// the checksum would be reached otherwise. What loads must be canonical, answer, take values and
// merge with itself without harm.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "synopses/registry.h"
#include "synopses/state_file.h"

namespace {

using namespace weir;
using namespace weir::synopses;

void require(bool holds) {
  if (!holds) std::abort();
}

void use(std::string_view bytes) {
  const Result<std::unique_ptr<Synopsis>> loaded = load(bytes);
  if (!loaded.ok()) {
    require(!loaded.status().message().empty());
    return;
  }
  Synopsis& synopsis = **loaded;
  const std::string saved = save(synopsis);
  const Result<std::unique_ptr<Synopsis>> again = load(saved);
  require(again.ok() && save(**again) == saved);

  const Query item{{Scalar{core::number(7.5)}}, false};
  const auto ask = [](double first, const char* word) {
    return Query{{Scalar{core::number(first)}, Scalar{std::string(word)}}, true};
  };
  const Query fraction{{Scalar{core::number(0.5)}}, false};
  const Query queries[] = {{},
                           item,
                           fraction,
                           ask(7.5, "CountEstimation"),
                           ask(1.0, "FrequentItems"),
                           ask(7.5, "isFrequent"),
                           ask(0, "F2"),
                           ask(0, "L2norm")};
  for (const Query& query : queries) {
    const Result<Estimate> answer = synopsis.estimate(query);
    if (answer.ok()) require((answer->json == "null") == !answer->reason.empty());
  }
  const std::uint64_t values[] = {core::number(7.5).bits, core::number(-1e308).bits, 0};
  core::Array<std::uint64_t> scratch;
  const std::int64_t times[] = {0, 3'000'000'000, 2'000'000'000};
  const std::int64_t clocks[] = {0, 3'000'000'000, 3'000'000'000};
  synopsis.update(Items(values, nullptr, nullptr, scratch, {nullptr, times, clocks}));
  const auto copy = synopsis.clone();
  require(save(*copy) == save(synopsis));
  if (!synopsis.merge(*copy).ok()) require(save(*copy) == save(synopsis));
  require(synopsis.memory_bytes() > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  use(bytes);
  if (size < 8) return 0;
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), size - 8);
  std::memcpy(bytes.data() + size - 8, &checksum, 8);
  use(bytes);
  return 0;
}
