#include "synopses/bloom_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/bytes.h"
#include "synopses/hash.h"

namespace weir::synopses {
namespace {

constexpr double kMinFpp = 1e-9;
constexpr double kMaxFpp = 0.5;
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 63;
// A sector has at most 64 bits, so a block with this many items answers true to nearly everything:
// such a shape is never right for a rate of a half or less.
constexpr std::uint64_t kFullLoad = 1000;
constexpr std::size_t kLoads = 2048;   // beyond 30 standard deviations above kFullLoad
constexpr double kNegligible = 1e-20;  // of the largest term; the sum is at least that

constexpr BloomShape kLayouts[] = {{1, 1, 0}, {2, 1, 0}, {4, 1, 0},
                                   {8, 1, 0}, {8, 2, 0}, {8, 4, 0}};

// rates[i] = (1 - q^i)^k: that an item is answered true by a block of i other items.
std::array<double, kLoads> block_rates(const BloomShape& shape) {
  std::array<double, kLoads> rates;
  const double q = 1.0 - shape.sectors / 64.0;
  double clear = 1.0;
  for (double& rate : rates) {
    rate = 1.0 - clear;
    for (std::uint32_t k = 1; k < shape.hashes(); k *= 2) rate *= rate;
    clear *= q;
  }
  return rates;
}

double mixture(const std::array<double, kLoads>& rates, std::uint64_t items, std::uint64_t blocks) {
  const std::uint64_t mode = items / blocks;
  if (mode >= kFullLoad) return 1.0;
  if (blocks == 1) return rates[items];
  const auto n = static_cast<double>(items);
  const double others = static_cast<double>(blocks) - 1.0;
  double total = 0.0;
  double sum = 0.0;
  double weight = 1.0;
  for (std::uint64_t i = mode; i < kLoads && weight > kNegligible; ++i) {
    total += weight;
    sum += weight * rates[i];
    weight *= (n - static_cast<double>(i)) / (static_cast<double>(i + 1) * others);
  }
  weight = 1.0;
  for (std::uint64_t i = mode; i > 0; --i) {
    weight *= static_cast<double>(i) * others / (n - static_cast<double>(i - 1));
    if (weight <= kNegligible) break;
    total += weight;
    sum += weight * rates[i - 1];
  }
  return sum / total;
}

}  // namespace

double BloomFilter::expected_rate(const BloomShape& shape, std::uint64_t items) {
  return mixture(block_rates(shape), items, shape.blocks);
}

std::optional<BloomShape> BloomFilter::shape_for(std::uint64_t expected, double fpp) {
  std::optional<BloomShape> best;
  for (BloomShape shape : kLayouts) {
    const auto rates = block_rates(shape);
    std::uint64_t low = 1;
    std::uint64_t high = kMaxBytes / (shape.words * sizeof(std::uint64_t));
    if (mixture(rates, expected, high) > fpp) continue;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (mixture(rates, expected, middle) <= fpp) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    shape.blocks = high;
    if (!best || shape.bytes() < best->bytes()) best = shape;
  }
  return best;
}

SynopsisType BloomFilter::type() {
  return {.id = 3,
          .name = "BloomFilter",
          .aliases = {"BloomFitler", "Bloom"},
          .forms = {{{"expected", 1, 1e12, true, false, 0},
                     {"fpp", kMinFpp, kMaxFpp, false, false, 0},
                     {"seed", 0, 0x1p53, true, true, 1}}},
          .mergeable = true,
          .linear = true,
          .numeric_only = false,
          .queries = {"item"},
          .guarantee = "seen: always true; else P(true) ≤ fpp up to `expected` different items",
          .create = &BloomFilter::create,
          .deserialize = &BloomFilter::deserialize};
}

BloomFilter::BloomFilter(const Params& params, const BloomShape& shape)
    : params_(params),
      shape_(shape),
      key_(seed_key(static_cast<std::uint64_t>(params.values[2]))) {}

Result<BloomShape> BloomFilter::shape_of(const Params& params) {
  const double expected = params.values[0];
  const double fpp = params.values[1];
  const auto shape = shape_for(static_cast<std::uint64_t>(expected), fpp);
  if (shape) return *shape;
  return Status(
      Code::kInvalid,
      fmt::format("BloomFilter: {} items at a rate of {} need more than 1 GiB, the most a filter "
                  "may take; expect fewer items or allow a higher fpp",
                  json_number(expected), json_number(fpp)));
}

Result<std::unique_ptr<Synopsis>> BloomFilter::create(const Params& params) {
  const Result<BloomShape> shape = shape_of(params);
  if (!shape.ok()) return shape.status();
  std::unique_ptr<BloomFilter> made(new BloomFilter(params, *shape));
  made->words_.resize(shape->all_words());
  std::fill(made->words_.begin(), made->words_.end(), std::uint64_t{0});
  return std::unique_ptr<Synopsis>(std::move(made));
}

void BloomFilter::update(const Items& items) {
  const std::span<const std::uint64_t> hashes = items.hashes();
  set_bloom_bits(hashes.data(), hashes.size(), key_, shape_, words_.data());
  n_ += hashes.size();
}

Status BloomFilter::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const BloomFilter*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  // Equal shapes are not enough: `expected` and `fpp` are what an answer is held to.
  if (from->params_ != params_) {
    return cannot_merge(*this, other, "parameters and seed must be equal");
  }
  if (n_ > kMaxN || from->n_ > kMaxN - n_) {
    return cannot_merge(*this, other, "together they exceed 2^63 values");
  }
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= from->words_[i];
  n_ += from->n_;
  return {};
}

bool BloomFilter::may_contain(std::uint64_t hash) const {
  const std::uint64_t x = keyed(hash, key_);
  const std::uint64_t* block = words_.data() + bloom_block(x, shape_.blocks) * shape_.words;
  for (std::uint32_t w = 0; w < shape_.words; ++w) {
    const std::uint64_t bits = bloom_bits(x, shape_, w);
    if ((block[w] & bits) != bits) return false;
  }
  return true;
}

double BloomFilter::current_rate() const {
  if (rate_n_ == n_) return rate_;
  const std::uint32_t width = 64 / shape_.sectors;
  const std::uint64_t sector = ~std::uint64_t{0} >> (64 - width);
  double sum = 0.0;
  for (std::size_t at = 0; at < words_.size(); at += shape_.words) {
    double all_set = 1.0;
    for (std::uint32_t w = 0; w < shape_.words; ++w) {
      for (std::uint32_t s = 0; s < shape_.sectors; ++s) {
        all_set *= std::popcount(words_[at + w] >> (s * width) & sector);
      }
    }
    sum += all_set;
  }
  // Powers of two: dividing once by the bits of all sectors is as exact as dividing each.
  sum /= static_cast<double>(shape_.blocks);
  for (std::uint32_t k = 0; k < shape_.hashes(); ++k) sum /= width;
  rate_ = std::min(1.0, sum);
  rate_n_ = n_;
  return rate_;
}

Result<Estimate> BloomFilter::estimate(const Query& query) const {
  const Result<std::uint64_t> hash = item_of(query, "BloomFilter");
  if (!hash.ok()) return hash.status();
  const bool maybe = may_contain(*hash);
  Estimate answer;
  answer.json = maybe ? "true" : "false";
  answer.exact = !maybe;
  answer.confidence = maybe ? 1.0 - current_rate() : 1.0;
  return answer;
}

std::unique_ptr<Synopsis> BloomFilter::clone() const {
  std::unique_ptr<BloomFilter> copy(new BloomFilter(params_, shape_));
  copy->words_.append(words_.data(), words_.size());
  copy->n_ = n_;
  return copy;
}

// u8 words of a block, u8 sectors of a word, u64 blocks, u64 n, words.
void BloomFilter::serialize(std::string& into) const {
  core::Writer out;
  out.put(static_cast<std::uint8_t>(shape_.words));
  out.put(static_cast<std::uint8_t>(shape_.sectors));
  out.put(shape_.blocks);
  out.put(n_);
  out.put_span(words_.span());
  into += out.bytes();
}

// An item sets one bit in every sector of its block: so a block is empty or has no empty sector,
// and needs at least as many values as its fullest sector has bits.
Status BloomFilter::check_words() const {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a BloomFilter state: {}", why));
  };
  const std::uint32_t width = 64 / shape_.sectors;
  const std::uint64_t sector = ~std::uint64_t{0} >> (64 - width);
  std::uint64_t needed = 0;
  for (std::size_t at = 0; at < words_.size(); at += shape_.words) {
    int fewest = 64;
    int most = 0;
    for (std::uint32_t w = 0; w < shape_.words; ++w) {
      for (std::uint32_t s = 0; s < shape_.sectors; ++s) {
        const int set = std::popcount(words_[at + w] >> (s * width) & sector);
        fewest = std::min(fewest, set);
        most = std::max(most, set);
      }
    }
    if (fewest == 0 && most != 0) return refuse("a block with bits in some sectors only");
    needed += static_cast<std::uint64_t>(most);
  }
  if (needed > n_ || (needed == 0 && n_ != 0)) return refuse("bits do not fit the count of values");
  return {};
}

Result<std::unique_ptr<Synopsis>> BloomFilter::deserialize(const Params& params,
                                                           std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a BloomFilter state: {}", why));
  };
  const Result<BloomShape> wanted = shape_of(params);
  if (!wanted.ok()) return wanted.status();
  core::Reader in(payload);
  const std::uint32_t words = in.get<std::uint8_t>();
  const std::uint32_t sectors = in.get<std::uint8_t>();
  const BloomShape shape{words, sectors, in.get<std::uint64_t>()};
  const auto n = in.get<std::uint64_t>();
  if (!in.ok()) return refuse("it is too short");
  if (shape != *wanted) {
    return refuse(
        fmt::format("{} blocks of {} x {} sectors where its parameters ask for {} of "
                    "{} x {}",
                    shape.blocks, words, sectors, wanted->blocks, wanted->words, wanted->sectors));
  }
  if (n > kMaxN) return refuse("more than 2^63 values");
  if (in.rest().size() != shape.bytes()) return refuse("wrong number of words");
  std::unique_ptr<BloomFilter> made(new BloomFilter(params, shape));
  made->words_.resize(shape.all_words());
  in.raw(made->words_.data(), shape.bytes());
  made->n_ = n;
  const Status fits = made->check_words();
  if (!fits.ok()) return fits;
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
