// Hostile bytes through load(): as they are, and with a checksum made to fit, since nothing behind
// the checksum would be reached otherwise. What loads must be canonical, answer whatever any kind
// can be asked, take values and merge with itself without harm. The kinds and their queries are
// those of the registry.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "synopses/registry.h"
#include "synopses/state_file.h"
#include "tests/synopses/sample_queries.h"

namespace {

using namespace weir;
using namespace weir::synopses;

void require(bool holds) {
  if (!holds) std::abort();
}

// A null answer has a reason, any other none; bounds are finite and in order.
void check(const Result<Estimate>& answer) {
  if (!answer.ok()) return require(!answer.status().message().empty());
  require((answer->json == "null") == !answer->reason.empty());
  for (const auto& bound : {answer->lower, answer->upper}) require(!bound || std::isfinite(*bound));
  if (answer->lower && answer->upper) require(*answer->lower <= *answer->upper);
  if (answer->confidence) require(*answer->confidence >= 0.0 && *answer->confidence <= 1.0);
}

void ask(const SynopsisType& type, const Synopsis& synopsis, const Synopsis& other) {
  for (const SynopsisType& kind : types()) {
    for (const char* word : kind.queries) {
      const QuerySample* sample = find_sample(word);
      require(sample != nullptr);
      for (Query query : sample->queries) {
        for (const std::int64_t now : {kNoTime.ns, std::int64_t{5'000'000'000}}) {
          query.now = now;
          query.ended = now != kNoTime.ns;
          check(synopsis.estimate(query));
          check(synopsis.estimate_with(other, query));
          if (!type.search || !asks_all_streams(type, query)) continue;
          const Member members[] = {{"S0", &synopsis}, {"S1", &other}};
          check(type.search(members, query, [](std::size_t n, const auto& body) {
            for (std::size_t i = 0; i < n; ++i) body(i);
          }));
        }
      }
    }
  }
}

void use(std::string_view bytes) {
  const Result<std::unique_ptr<Synopsis>> loaded = load(bytes);
  if (!loaded.ok()) {
    require(!loaded.status().message().empty());
    return;
  }
  Synopsis& synopsis = **loaded;
  const SynopsisType& type = *find_type(synopsis.id());
  const std::string saved = save(synopsis);
  const Result<std::unique_ptr<Synopsis>> again = load(saved);
  require(again.ok() && save(**again) == saved);
  require((*again)->memory_bytes() == synopsis.memory_bytes());
  ask(type, synopsis, **again);
  require(save(synopsis) == saved);

  // Values of every form; times that go on, stand and go back.
  const core::Value values[] = {core::number(7.5), core::number(-1e308), core::number(0),
                                core::integer(std::uint64_t{8838840643388017391}),
                                core::text(0, 6)};
  std::uint64_t bits[std::size(values)];
  core::Kind kinds[std::size(values)];
  for (std::size_t i = 0; i < std::size(values); ++i) {
    bits[i] = values[i].bits;
    kinds[i] = values[i].kind;
  }
  core::Array<std::uint64_t> scratch;
  const std::int64_t times[] = {0, 3'000'000'000, 2'000'000'000, 3'000'000'000, 9'000'000'000};
  const std::int64_t clocks[] = {0, 3'000'000'000, 3'000'000'000, 3'000'000'000, 9'000'000'000};
  for (const bool plain : {true, false}) {
    const std::size_t n = plain ? 3 : std::size(values);
    synopsis.update(Items(std::span<const std::uint64_t>(bits, n), plain ? nullptr : kinds,
                          "EURTRY", scratch, {nullptr, times, clocks}));
  }
  const auto copy = synopsis.clone();
  const std::string fed = save(synopsis);
  require(save(*copy) == fed);
  ask(type, synopsis, **again);
  for (Synopsis* from : {copy.get(), again->get()}) {
    const std::string before = save(synopsis);
    if (!synopsis.merge(*from).ok()) require(save(synopsis) == before);
  }
  require(save(*copy) == fed);
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
