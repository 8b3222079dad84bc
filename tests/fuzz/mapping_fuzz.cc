// Hostile text as a mapping, as a file name and as times: an error at most, and what was accepted
// keeps its promises.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ingest/layout.h"
#include "ingest/time_format.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::int64_t kFirst = -2'208'988'800;  // 1900-01-01 in seconds
constexpr std::int64_t kEnd = 7'289'654'400;     // 2201-01-01
constexpr std::int64_t kSlack = 20 * 3600;       // of a zone

void check_time(std::int64_t nanos) {
  require(nanos / weir::kNanosPerSecond >= kFirst - kSlack &&
          nanos / weir::kNanosPerSecond <= kEnd + kSlack);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  using namespace weir::ingest;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto layout = parse_mapping(text, "fuzz.toml");
  if (layout.ok()) {
    require(!layout->mapping.stream.empty());
    require(layout->mapping.dataset.empty() != layout->mapping.dataset_constant.empty());
    core::KeyTable keys;
    require(make_decoder(*layout, keys, {}) != nullptr);
  } else {
    require(layout.status().code() == Code::kConfig);
    require(layout.status().message().starts_with("fuzz.toml:"));
  }
  if (const auto name = parse_ticks_name(text); name.ok()) {
    require(!name->dataset.empty() && !name->stream.empty());
  }

  std::int64_t value = 0;
  if (parse_iso(text, value)) check_time(value);
  if (parse_epoch(text, EpochUnit::kAuto, value)) check_time(value);
  if (parse_us_date(text, value)) check_time(value * 86'400 * kNanosPerSecond);
  if (parse_clock(text, value)) require(value >= 0 && value < 86'400 * kNanosPerSecond);

  // The first line as a pattern for the second.
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos) return 0;
  auto format = TimeFormat::make(text.substr(0, newline), "America/New_York");
  if (format.ok() && format->parse(text.substr(newline + 1), value)) check_time(value);
  return 0;
}
