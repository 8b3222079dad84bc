// Periods and durations from text, and the limits of a configuration.
#include "weir/config.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "core/nearest.h"
#include "engine/config_check.h"
#include "engine/json_text.h"
#include "hierarchy/groups.h"
#include "synopses/registry.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array kUnits = {Unit{"ns", 1},
                               Unit{"us", 1'000},
                               Unit{"\xc2\xb5s", 1'000},
                               Unit{"ms", 1'000'000},
                               Unit{"s", kNanosPerSecond},
                               Unit{"m", 60 * kNanosPerSecond},
                               Unit{"h", 3600 * kNanosPerSecond},
                               Unit{"d", 86'400 * kNanosPerSecond}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits "1.5 s" into "1", "5" and "s". False when there is no number in front.
bool split(std::string_view text, std::string_view& whole, std::string_view& fraction,
           std::string_view& unit) {
  const auto take_digits = [&text] {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
  };
  whole = take_digits();
  if (whole.empty()) return false;
  fraction = {};
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = take_digits();
    if (fraction.empty()) return false;
  }
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  unit = text;
  return true;
}

bool read_count(std::string_view digits, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size();
}

Status wrong(std::string_view text, std::string_view right) {
  return {Code::kInvalid, fmt::format("{} {}", engine::json_text(text), right)};
}

}  // namespace

Result<std::int64_t> parse_duration(std::string_view text) {
  constexpr std::string_view kRight =
      "is no duration; write a number and a unit (ns, us, ms, s, m, h or d), such as \"500ms\"";
  std::string_view whole, fraction, unit_name;
  if (!split(text, whole, fraction, unit_name)) return wrong(text, kRight);
  if (unit_name.empty()) {
    return wrong(text, fmt::format("has no unit; for seconds write \"{}s\"", text));
  }
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    std::uint64_t value = 0;
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto scale = static_cast<std::uint64_t>(unit.ns);
    if (!read_count(whole, value) || value > kMax / scale) {
      return wrong(text, "is too long; the longest duration is 106751d");
    }
    std::uint64_t ns = value * scale;
    std::uint64_t digit_ns = scale;  // what a digit of the fraction is worth
    for (const char digit : fraction) {
      if (digit_ns % 10 != 0 && digit != '0') {
        return wrong(text, "is finer than a nanosecond, or no whole number of them");
      }
      digit_ns /= 10;
      ns += static_cast<std::uint64_t>(digit - '0') * digit_ns;
    }
    if (ns > kMax) return wrong(text, "is too long; the longest duration is 106751d");
    return static_cast<std::int64_t>(ns);
  }
  return wrong(text, kRight);
}

Result<Period> Period::parse(std::string_view text) {
  std::string_view whole, fraction, unit;
  if (!split(text, whole, fraction, unit)) {
    return wrong(text,
                 "is no period; write a duration such as \"60s\" or a number of records such as "
                 "\"100000 records\"");
  }
  if (unit == "records" || unit == "record") {
    std::uint64_t records = 0;
    if (!fraction.empty() || !read_count(whole, records) || records == 0) {
      return wrong(text, "is no period; the number of records is a whole number above 0");
    }
    return Period{0, records};
  }
  if (unit.empty()) {
    return wrong(text,
                 fmt::format("has no unit; write \"{0}s\" for seconds, or \"{0} records\"", text));
  }
  const auto ns = parse_duration(text);
  if (!ns.ok()) {
    return Status(Code::kInvalid,
                  ns.status().message() + ", or a number of records such as \"100000 records\"");
  }
  if (*ns == 0) return wrong(text, "is no period; it must be longer than 0");
  return Period{*ns, 0};
}

namespace engine {
namespace {

Status bad(std::string_view key, std::string_view value, std::string_view right) {
  return {Code::kConfig, fmt::format("{}: {} is wrong; {}", key, value, right)};
}

Status check_range(std::string_view key, std::uint64_t value, std::uint64_t min, std::uint64_t max,
                   std::string_view unit) {
  if (value >= min && value <= max) return {};
  return bad(key, std::to_string(value), fmt::format("it is {} to {}{}", min, max, unit));
}

template <std::size_t N>
Status check_word(std::string_view key, std::string_view value,
                  const std::array<const char*, N>& words) {
  for (const char* word : words) {
    if (value == word) return {};
  }
  std::string right = fmt::format("it is {}", fmt::join(words, ", "));
  if (const std::string_view near = core::nearest(value, words); !near.empty()) {
    right = fmt::format("did you mean {}?", json_text(near));
  }
  return bad(key, json_text(value), right);
}

Status check_threads(const Config& config) {
  for (const auto& [key, value] :
       {std::pair{"threads", config.threads}, std::pair{"ingest-threads", config.ingest_threads},
        std::pair{"shard-threads", config.shard_threads}}) {
    if (value > kMaxThreads) {
      return bad(key, std::to_string(value), fmt::format("it is at most {}", kMaxThreads));
    }
  }
  if ((config.ingest_threads > 0) == (config.shard_threads > 0)) return {};
  const bool ingest = config.ingest_threads > 0;
  return bad(ingest ? "shard-threads" : "ingest-threads", "0",
             fmt::format("with {} = {} it is 1 or more (or leave both 0 and set threads)",
                         ingest ? "ingest-threads" : "shard-threads",
                         ingest ? config.ingest_threads : config.shard_threads));
}

// Snapshots, the journal and what goes on from them.
Status check_kept(const Config& config) {
  const Period& every = config.snapshot_every;
  if (every.ns < 0 || (every.ns > 0 && every.records > 0)) {
    return bad("snapshot-every", fmt::format("{} ns and {} records", every.ns, every.records),
               "it is a duration such as \"30s\" or a number of records such as "
               "\"1000000 records\", or 0 for no snapshots");
  }
  const char* key = every != Period{} ? "snapshot-every"
                    : config.journal  ? "journal"
                    : config.resume   ? "resume"
                                      : nullptr;
  if (key == nullptr || !config.state_directory.empty()) return {};
  return {Code::kConfig, fmt::format("{} needs state-dir DIR, where snapshots and the journal are "
                                     "kept",
                                     key)};
}

// Options nobody has set are not checked against Config::emit: no hierarchy may ever use them.
Status check_groups(const Config& config, const GroupOptions& options, const std::string& name) {
  const bool used = !name.empty() || !config.hierarchies.empty() || options != GroupOptions{};
  const GroupOptions whole = with_emit(options, config.emit);
  Status status = used ? hierarchy::check(whole) : Status();
  return name.empty() ? status : status.with(name);
}

}  // namespace

Status check_config(const Config& config) {
  if (Status status = check_threads(config); !status.ok()) return status;
  constexpr std::array kPlacements = {"auto", "spread", "none"};
  if (Status s = check_word("placement", config.placement, kPlacements); !s.ok()) return s;
  if (Status s =
          check_range("block-size", config.block_size, kMinBlockSize, kMaxBlockSize, " bytes");
      !s.ok()) {
    return s;
  }
  const bool entries_told = config.ring_entries != 0;
  if (entries_told &&
      (config.ring_entries < kMinRingEntries || config.ring_entries > kMaxRingEntries ||
       !std::has_single_bit(config.ring_entries))) {
    return bad("ring-entries", std::to_string(config.ring_entries),
               fmt::format("it is a power of two from {} to {}, or 0 (by the number of threads)",
                           kMinRingEntries, kMaxRingEntries));
  }
  if (Status s = check_range("max-record-bytes", config.max_record_bytes, kMinRecordBytes,
                             kMaxRecordBytes, " bytes");
      !s.ok()) {
    return s;
  }
  constexpr std::array kLayouts = {"auto", "saams", "titan", "ticks"};
  if (config.mapping_toml.empty()) {
    if (Status s = check_word("layout", config.layout, kLayouts); !s.ok()) return s;
  }
  if ((config.emit.ns > 0) == (config.emit.records > 0) || config.emit.ns < 0) {
    return bad("emit", fmt::format("{} ns and {} records", config.emit.ns, config.emit.records),
               "it is a duration such as \"60s\" or a number of records such as "
               "\"100000 records\", and above 0");
  }
  if (config.max_jump < 0) {
    return bad("max-jump", fmt::format("{} ns", config.max_jump),
               "it is a duration such as \"1d\", or 0 for no limit");
  }
  if (Status s = check_kept(config); !s.ok()) return s;
  if (Status s = check_groups(config, config.groups, ""); !s.ok()) return s;
  for (const HierarchyConfig& hierarchy : config.hierarchies) {
    if (!hierarchy.options.has_value()) continue;
    if (Status s = check_groups(config, *hierarchy.options, hierarchy.name); !s.ok()) return s;
  }
  return {};
}

GroupOptions with_emit(GroupOptions options, const Period& emit) {
  if (options.emit == Period{}) options.emit = emit;
  return options;
}

}  // namespace engine
}  // namespace weir
