#include "synopses/sticky_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/bytes.h"
#include "synopses/hash.h"

namespace weir::synopses {
namespace {

constexpr double kMostBytes = 0x1p30;
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 62;
constexpr std::uint64_t kMaxParts = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxLogRate = 62;
// Keeps the hashes of coins apart from those of blocks.
constexpr std::uint64_t kCoin = 0x100;

// The natural logarithm by +, *, / alone, each correctly rounded: the same bits on every machine,
// which log() does not promise. REQUIRES: x > 0, finite.
double natural_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1);  // |z| < 0.172: 2·atanh(z) in 12 terms
  const double square = z * z;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * z * sum;
}

// A hash of what one random choice depends on beside the item.
std::uint64_t chance(std::uint64_t key, std::uint64_t number, std::uint64_t what) {
  return keyed(mix(number + kGolden * (what + 1)), key);
}

}  // namespace

double StickySampling::period(double support, double epsilon, double delta) {
  return std::ceil(natural_log(1.0 / (support * delta)) / epsilon);
}

SynopsisType StickySampling::type() {
  return {.id = 6,
          .name = "StickySampling",
          .aliases = {"Sticky"},
          .forms = {{{"support", 1e-9, 1.0, false, false, 0},
                     {"epsilon", 1e-9, 0.5, false, false, 0},
                     {"delta", 1e-12, 0.5, false, false, 0},
                     {"seed", 0, 0x1p53, true, true, 1}}},
          .mergeable = true,
          .linear = false,
          .numeric_only = false,
          .queries = {"[item,\"CountEstimation\"]", "[s,\"FrequentItems\"]",
                      "[item,\"isFrequent\"]", "[item,\"isFrequent\",s]"},
          .guarantee = "f̂ ≤ f, and P(f̂ ≥ f - εN for every item with f ≥ support·N) ≥ 1 - δ",
          .create = &StickySampling::create,
          .deserialize = &StickySampling::deserialize};
}

StickySampling::StickySampling(const Params& params)
    : params_(params),
      support_(params.values[0]),
      epsilon_(params.values[1]),
      delta_(params.values[2]),
      key_(seed_key(static_cast<std::uint64_t>(params.values[3]))),
      t_(static_cast<std::uint64_t>(period(support_, epsilon_, delta_))) {}

Result<std::unique_ptr<Synopsis>> StickySampling::create(const Params& params) {
  const double support = params.values[0], epsilon = params.values[1];
  if (support <= epsilon) {
    return Status(Code::kInvalid,
                  fmt::format("StickySampling: support must be above epsilon ({}), but got {}",
                              json_number(epsilon), json_number(support)));
  }
  const double bytes = 2 * period(support, epsilon, params.values[2]) * Table::bytes_an_entry();
  if (bytes > kMostBytes) {
    return Status(
        Code::kInvalid,
        fmt::format("StickySampling: epsilon {} needs {:.1f} GiB at this support and delta, above "
                    "the limit of 1 GiB; the smallest epsilon is {:.2g}",
                    json_number(epsilon), bytes / kMostBytes, epsilon * bytes / kMostBytes * 1.01));
  }
  return std::unique_ptr<Synopsis>(new StickySampling(params));
}

// 2rtk: from so many values on, r is too small.
std::uint64_t StickySampling::values_at_rate() const {
  const std::uint64_t at_one = 2 * t_ * std::max<std::uint64_t>(parts_, 1);
  const bool fits = at_one <= std::numeric_limits<std::uint64_t>::max() >> log_rate_;
  return fits ? at_one << log_rate_ : std::numeric_limits<std::uint64_t>::max();
}

void StickySampling::update(const Items& items) {
  if (items.size() == 0) return;
  (void)items.hashes();
  if (n_ == 0) parts_ = 1;
  for (std::size_t done = 0; done < items.size();) {
    while (n_ >= values_at_rate()) double_rate();
    const std::uint64_t room = values_at_rate() - n_;
    const std::size_t end =
        done + static_cast<std::size_t>(std::min<std::uint64_t>(room, items.size() - done));
    if (items.kinds() == nullptr && table_.plain()) {
      take<true>(items, done, end);
    } else {
      take<false>(items, done, end);
    }
    n_ += end - done;
    done = end;
  }
}

// Values of one rate.
template <bool plain>
void StickySampling::take(const Items& items, std::size_t begin, std::size_t end) {
  const std::uint64_t* hashes = items.hashes().data();
  const std::uint64_t* bits = items.bits().data();
  const std::uint64_t in_block = rate() - 1;  // a mask
  std::uint64_t next_block = 0;  // offset from origin_ where the block that `drawn` is of ends
  std::uint64_t drawn = 0;
  const std::uint64_t first = n_ - origin_;
  for (std::size_t i = begin; i < end; ++i) {
    const ItemView item = plain ? ItemView{{bits[i], core::Kind::kNumber}, {}} : view_of(items, i);
    const Table::Place place =
        plain ? table_.find_plain(hashes[i], bits[i]) : table_.find(hashes[i], item);
    if (place.entry != nullptr) {
      ++place.entry->counts.f;
      continue;
    }
    if (in_block != 0) {
      const std::uint64_t at = first + (i - begin);
      if (at >= next_block) {
        const std::uint64_t block = at & ~in_block;
        next_block = block + in_block + 1;
        drawn = block + (chance(key_, origin_ + block, log_rate_) & in_block);
      }
      if (at != drawn) continue;
    }
    table_.insert(place, hashes[i], item, {1});
  }
}

void StickySampling::double_rate() {
  ++log_rate_;
  const std::uint64_t coins = chance(key_, n_, kCoin + log_rate_);
  std::size_t i = 0;
  for (Table::Entry& entry : table_) {
    // The zeros at the end of a random number: tails until heads.
    const std::uint64_t random = keyed(table_.hash(i++), coins);
    entry.counts.f -= std::min<std::uint64_t>(entry.counts.f, std::countr_zero(random));
  }
  table_.keep_if([](const Counts& counts) { return counts.f != 0; }, 0);
  origin_ = n_;
  sampled_parts_ = parts_;
}

Status StickySampling::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const StickySampling*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  if (from->params_ != params_) {
    return cannot_merge(*this, other, "parameters and seed must be equal");
  }
  if (from->n_ > kMaxN || n_ > kMaxN - from->n_) {
    return cannot_merge(*this, other, "together they exceed 2^62 values");
  }
  if (from->parts_ > kMaxParts - parts_) {
    return cannot_merge(*this, other, "together they exceed 2^32 parts");
  }
  if (from->n_ == 0) return {};
  if (from == this) return merge(*clone());
  for (std::size_t i = 0; i < from->table_.size(); ++i) {
    const Counts counts = from->table_.begin()[i].counts;
    const ItemView item = from->table_.item(i);
    const std::uint64_t hash = from->table_.hash(i);
    const Table::Place place = table_.find(hash, item);
    if (place.entry != nullptr) {
      place.entry->counts.f += counts.f;
    } else {
      table_.insert(place, hash, item, counts);
    }
  }
  log_rate_ = std::max(log_rate_, from->log_rate_);
  parts_ += from->parts_;
  sampled_parts_ += from->sampled_parts_;
  // Blocks begin anew, unless this was empty and goes on as the other would.
  const std::uint64_t sum = n_ + from->n_;
  origin_ = n_ == 0 ? from->origin_ : log_rate_ == 0 ? 0 : sum;
  n_ = sum;
  return {};
}

// ⌊εN⌋, 0 while every value was counted.
std::uint64_t StickySampling::most_missed() const {
  return log_rate_ == 0 ? 0 : static_cast<std::uint64_t>(epsilon_ * static_cast<double>(n_));
}

Result<Estimate> StickySampling::estimate(const Query& query) const {
  const Result<FrequentQuery> read = parse_frequent_query(query, "StickySampling", epsilon_);
  if (!read.ok()) return read.status();
  const double support = read->support.value_or(support_);
  const double failures = static_cast<double>(sampled_parts_) * delta_;
  Estimate answer;
  if (read->ask == FrequentQuery::Ask::kList) {
    const std::uint64_t least = least_count(support, epsilon_, n_);
    std::vector<FrequentItem> list;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const std::uint64_t f = table_.begin()[i].counts.f;
      if (f >= least) list.push_back({table_.item(i), f, std::min(n_, f + most_missed())});
    }
    answer.json = frequent_list(std::move(list));
    answer.confidence = std::max(0.0, 1.0 - failures * std::max(1.0, support_ / support));
    return answer;
  }
  const Table::Entry* entry = table_.find_entry(read->hash, read->item);
  const std::uint64_t f = entry == nullptr ? 0 : entry->counts.f;
  answer.confidence = std::max(0.0, 1.0 - failures * support_);
  if (read->ask == FrequentQuery::Ask::kIsFrequent) {
    answer.json = f >= least_count(support, epsilon_, n_) ? "true" : "false";
    return answer;
  }
  answer.json = std::to_string(f);
  answer.lower = static_cast<double>(f);
  answer.upper = static_cast<double>(std::min(n_, f + most_missed()));
  answer.exact = log_rate_ == 0;
  return answer;
}

std::size_t StickySampling::memory_bytes() const {
  return sizeof *this + table_.memory_bytes([](const Counts&) { return true; });
}

std::unique_ptr<Synopsis> StickySampling::clone() const {
  auto made = std::unique_ptr<StickySampling>(new StickySampling(params_));
  made->n_ = n_;
  made->origin_ = origin_;
  made->parts_ = parts_;
  made->sampled_parts_ = sampled_parts_;
  made->log_rate_ = log_rate_;
  made->table_ = table_.copy();
  return made;
}

// u64 n, u64 origin, u64 parts, u64 sampled parts, u8 log2 of the rate, entries in item order
// (item_table.h): item, u64 count.
void StickySampling::serialize(std::string& into) const {
  core::Writer out;
  out.put(n_);
  out.put(origin_);
  out.put(parts_);
  out.put(sampled_parts_);
  out.put(static_cast<std::uint8_t>(log_rate_));
  table_.write(
      out, [](const Counts&) { return true; },
      [](core::Writer& to, const Counts& counts) { to.put(counts.f); });
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> StickySampling::deserialize(const Params& params,
                                                              std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a StickySampling state: {}", why));
  };
  Result<std::unique_ptr<Synopsis>> fresh = create(params);
  if (!fresh.ok()) return fresh;
  auto& made = static_cast<StickySampling&>(**fresh);
  core::Reader in(payload);
  const auto n = made.n_ = in.get<std::uint64_t>();
  made.origin_ = in.get<std::uint64_t>();
  made.parts_ = in.get<std::uint64_t>();
  made.sampled_parts_ = in.get<std::uint64_t>();
  const auto log_rate = in.get<std::uint8_t>();
  if (!in.ok() || n > kMaxN || made.origin_ > n) return refuse("its counts are out of range");
  if (made.parts_ > std::min(n, kMaxParts) || (made.parts_ == 0) != (n == 0) ||
      made.sampled_parts_ > made.parts_) {
    return refuse("it cannot have so many parts");
  }
  // A part at rate r > 1 has seen rt values or more, and begun blocks after them.
  if (log_rate > kMaxLogRate || (log_rate == 0) != (made.sampled_parts_ == 0) ||
      (log_rate == 0 && made.origin_ != 0) ||
      (log_rate != 0 && (made.origin_ >> log_rate) < made.t_)) {
    return refuse("it cannot be at this rate");
  }
  made.log_rate_ = log_rate;
  std::uint64_t left = n;
  const bool read = made.table_.read(in, [&](core::Reader& from, Counts& counts) {
    counts.f = from.get<std::uint64_t>();
    if (counts.f == 0 || counts.f > left) return false;
    left -= counts.f;
    return true;
  });
  if (!read || !in.rest().empty()) return refuse("its entries are not those of any stream");
  if (log_rate == 0 && left != 0) return refuse("values are missing though all were kept");
  return fresh;
}

}  // namespace weir::synopses
