#include "synopses/ams.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/bytes.h"
#include "synopses/ams_kernel.h"
#include "synopses/hash.h"

namespace weir::synopses {
namespace {

using Wide = Ams::Wide;

// Values whose places are found before their cells are touched; five rows of places take 2.5 KB.
constexpr std::size_t kChunk = 128;
constexpr const char* kCount = "CountEstimation";
constexpr const char* kNorm = "L2norm";
constexpr const char* kF2 = "F2";
constexpr const char* kProduct = "innerProduct";
constexpr const char* kSaturated =
    "saturated: the sizes of the weights add up to more than 2^62, so counts are no longer kept";
enum Flags : std::uint8_t { kNegativeFlag = 1, kSaturatedFlag = 2 };

// In unsigned arithmetic, so that the smallest integer has a size too.
std::uint64_t size_of(std::int64_t weight) {
  const auto bits = static_cast<std::uint64_t>(weight);
  return weight < 0 ? 0 - bits : bits;
}

bool is_word(const Scalar& scalar, std::string_view word) {
  const auto* text = std::get_if<std::string>(&scalar.value);
  return text != nullptr && *text == word;
}

bool is_item(const Scalar& scalar) {
  return scalar.is_text() || std::holds_alternative<core::Value>(scalar.value);
}

Status no_such_query(const Query& query) {
  return Status(Code::kInvalid,
                fmt::format("a query of AMS takes [item, \"{}\"], [\"{}\"], [\"{}\"] or [\"{}\", "
                            "stream], but got {}",
                            kCount, kNorm, kF2, kProduct, describe(query)));
}

// Twice the median; of an even number, the sum of the two in the middle.
template <class Number>
Wide twice_median(std::array<Number, Ams::kMaxDepth>& rows, std::uint32_t depth) {
  std::sort(rows.begin(), rows.begin() + depth);
  return Wide{rows[(depth - 1) / 2]} + Wide{rows[depth / 2]};
}

// Half of a number as decimal text, exactly. REQUIRES: its half fits in 64 bits.
std::string half_text(Wide twice) {
  const bool negative = twice < 0;
  const Wide size = negative ? -twice : twice;
  return fmt::format("{}{}{}", negative ? "-" : "", static_cast<std::uint64_t>(size / 2),
                     size % 2 == 0 ? "" : ".5");
}

double half(Wide twice) { return 0.5 * static_cast<double>(twice); }

Estimate saturated_answer() {
  Estimate answer;
  answer.reason = kSaturated;
  return answer;
}

}  // namespace

SynopsisType Ams::type() {
  return {.id = 7,
          .name = "AMS",
          .aliases = {"AMSSketch"},
          .forms = {{{"depth", 1, kMaxDepth, true, false, 0},
                     {"buckets", 1, kMaxAmsBuckets, true, false, 0},
                     {"seed", 0, 0x1p53, true, true, 1}}},
          .mergeable = true,
          .linear = true,
          .numeric_only = false,
          .queries = {"[item,\"CountEstimation\"]", "[\"L2norm\"]", "[\"F2\"]",
                      "[\"innerProduct\",stream]"},
          .guarantee =
              "|F̂2 - F2| ≤ 4·F2/√buckets, |f̂ - f| ≤ 2·√(F2/buckets), at a confidence "
              "that depth gives",
          .weights = Weights::kSigned,
          .pair_queries = {kProduct},
          .create = &Ams::create,
          .deserialize = &Ams::deserialize};
}

Ams::Ams(const Params& params)
    : params_(params),
      depth_(static_cast<std::uint32_t>(params.values[0])),
      buckets_(static_cast<std::uint32_t>(params.values[1])),
      meet_(1.0 / buckets_ + 0x1p-31) {
  SeedSequence random(static_cast<std::uint64_t>(params.values[2]));
  for (std::uint32_t r = 0; r < depth_; r += 2) keys_.push_back(random.next());
}

Result<std::unique_ptr<Synopsis>> Ams::create(const Params& params) {
  std::unique_ptr<Ams> made(new Ams(params));
  if (made->cell_count() > kMaxBytes / sizeof(std::int64_t)) {
    return Status(Code::kInvalid,
                  fmt::format("AMS: {} x {} cells of 8 bytes are more than 1 GiB, the most a "
                              "sketch may take",
                              made->depth_, made->buckets_));
  }
  made->cells_.resize(made->cell_count());
  std::fill(made->cells_.begin(), made->cells_.end(), std::int64_t{0});
  return std::unique_ptr<Synopsis>(std::move(made));
}

// The total comes first: whether the synopsis saturates must not depend on where a batch was cut,
// and a saturated state forgets what came before.
void Ams::update(const Items& items) {
  const std::int64_t* weights = items.weights();
  std::uint64_t total = weights == nullptr ? items.size() : 0;
  if (total > kMaxN - n_) return saturate();
  if (weights != nullptr) {
    bool negative = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (size_of(weights[i]) > kMaxN - n_ - total) return saturate();
      total += size_of(weights[i]);
      negative |= weights[i] < 0;
    }
    if (saturated_) return;
    negative_ |= negative;
  }
  const std::span<const std::uint64_t> hashes = items.hashes();
  std::uint32_t places[kMaxDepth * kChunk];
  for (std::size_t done = 0; done < hashes.size();) {
    const std::size_t take = std::min(kChunk, hashes.size() - done);
    ams_places(keys_, buckets_, hashes.data() + done, take, places, kChunk);
    std::int64_t* row = cells_.data();
    for (std::uint32_t r = 0; r < depth_; ++r, row += buckets_) {
      const std::uint32_t* place = places + r * kChunk;
      if (weights == nullptr) {
        for (std::size_t i = 0; i < take; ++i) row[place[i] >> 1] += ams_signed(place[i], 1);
      } else {
        for (std::size_t i = 0; i < take; ++i) {
          row[place[i] >> 1] += ams_signed(place[i], weights[done + i]);
        }
      }
    }
    done += take;
  }
  n_ += total;
}

void Ams::saturate() {
  saturated_ = true;
  negative_ = false;
  n_ = kMaxN;
  cells_ = core::Array<std::int64_t>();
}

Status Ams::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const Ams*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  if (from->params_ != params_) {
    return cannot_merge(*this, other, "parameters and seed must be equal");
  }
  if (saturated_ || from->saturated_ || from->n_ > kMaxN - n_) {
    saturate();
    return {};
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += from->cells_[i];
  n_ += from->n_;
  negative_ |= from->negative_;
  return {};
}

Ams::Wide Ams::twice_count(std::uint64_t hash) const {
  std::array<std::int64_t, kMaxDepth> rows{};
  for (std::uint32_t r = 0; r < depth_; ++r) {
    const std::uint64_t x = keyed(hash, keys_[r / 2]);
    const auto u = static_cast<std::uint32_t>(r % 2 == 0 ? x : x >> 32);
    const std::uint32_t place = ams_place(u, buckets_);
    rows[r] = ams_signed(place, cells_[std::size_t{r} * buckets_ + (place >> 1)]);
  }
  return twice_median(rows, depth_);
}

Ams::Wide Ams::twice_product(const Ams& other) const {
  std::array<Wide, kMaxDepth> rows{};
  const std::int64_t* a = cells_.data();
  const std::int64_t* b = other.cells_.data();
  for (std::uint32_t r = 0; r < depth_; ++r, a += buckets_, b += buckets_) {
    for (std::uint32_t c = 0; c < buckets_; ++c) rows[r] += Wide{a[c]} * b[c];
  }
  return twice_median(rows, depth_);
}

Ams::Wide Ams::twice_f2() const {
  if (f2_n_ != n_) {
    f2_ = twice_product(*this);
    f2_n_ = n_;
  }
  return f2_;
}

double Ams::tail(double q) const {
  // Terms from "no row" upwards; 64 rows stay far within the range of a double.
  double term = 1.0;
  for (std::uint32_t r = 0; r < depth_; ++r) term *= 1.0 - q;
  double sum = 0.0;
  for (std::uint32_t wrong = 0; wrong <= depth_; ++wrong) {
    if (wrong >= (depth_ + 1) / 2) sum += term;
    term *= (depth_ - wrong) / (wrong + 1.0) * (q / (1.0 - q));
  }
  return sum;
}

double Ams::f2_limit(Wide twice_f2) const {
  const auto taken = static_cast<double>(n_);
  const double error = 4.0 * std::sqrt(meet_);
  if (error >= 1.0) return taken * taken;
  return std::min(taken * taken, half(twice_f2) / (1.0 - error));
}

Estimate Ams::estimate_f2(bool root) const {
  const auto scaled = [root](double f2) { return root ? std::sqrt(f2) : f2; };
  const double f2 = half(twice_f2());
  Estimate answer;
  answer.json = json_number(scaled(f2));
  answer.lower = scaled(f2 / (1.0 + 4.0 * std::sqrt(meet_)));
  answer.upper = scaled(f2_limit(twice_f2()));
  answer.confidence = 1.0 - tail(1.0 / 8);
  return answer;
}

Estimate Ams::estimate_count(std::uint64_t hash) const {
  const Wide most = Wide{2} * n_;
  const Wide least = negative_ ? -most : 0;
  const Wide twice = std::clamp(twice_count(hash), least, most);
  const double error = 2.0 * std::sqrt(meet_ * f2_limit(twice_f2()));
  Estimate answer;
  answer.json = half_text(twice);
  // Counts are whole: rounding inwards loses none that the interval holds.
  answer.lower = std::max(half(least), std::ceil(half(twice) - error));
  answer.upper = std::min(half(most), std::floor(half(twice) + error));
  if (*answer.lower > *answer.upper) {  // a half-whole median, and less than half of an error
    answer.lower = std::floor(half(twice));
    answer.upper = std::ceil(half(twice));
  }
  answer.confidence = std::max(0.0, 1.0 - 2.0 * tail(1.0 / 8) - tail(1.0 / 9));
  return answer;
}

Result<Estimate> Ams::estimate(const Query& query) const {
  const std::size_t size = query.args.size();
  if (size == 2 && is_word(query.args[0], kProduct) && !is_word(query.args[1], kCount)) {
    return Status(
        Code::kInvalid,
        fmt::format("AMS: {} compares two streams of a dataset, each with a sketch of its "
                    "own; this one is asked alone",
                    describe(query)));
  }
  if (size == 0 || size > 2) return no_such_query(query);
  const Scalar& word = query.args[size - 1];
  const bool f2 = is_word(word, kF2) || is_word(word, kNorm);
  const bool count = size == 2 && is_word(word, kCount) && is_item(query.args[0]);
  if (!f2 && !count) return no_such_query(query);
  if (saturated_) return saturated_answer();
  Estimate answer = f2 ? estimate_f2(is_word(word, kNorm)) : estimate_count(query.args[0].hash());
  if (n_ == 0) {
    answer.exact = true;
    answer.confidence = 1.0;
  }
  return answer;
}

Result<Estimate> Ams::estimate_with(const Synopsis& other, const Query& query) const {
  if (query.args.size() != 2 || !is_word(query.args[0], kProduct)) return no_such_query(query);
  const auto* from = dynamic_cast<const Ams*>(&other);
  if (from == nullptr || from->params_ != params_) {
    return Status(Code::kInvalid, fmt::format("no inner product of {} and {}: kind, parameters and "
                                              "seed must be equal",
                                              describe(*this), describe(other)));
  }
  if (saturated_ || from->saturated_) return saturated_answer();
  const double largest = static_cast<double>(n_) * static_cast<double>(from->n_);
  const double smallest = negative_ || from->negative_ ? -largest : 0.0;
  const double product = std::clamp(half(twice_product(*from)), smallest, largest);
  const double norms = std::sqrt(f2_limit(twice_product(*this))) *
                       std::sqrt(from->f2_limit(from->twice_product(*from)));
  const double error = 4.0 * std::sqrt(meet_) * norms;
  Estimate answer;
  answer.json = json_number(product);
  answer.lower = std::max(smallest, product - error);
  answer.upper = std::min(largest, product + error);
  answer.exact = n_ == 0 || from->n_ == 0;
  answer.confidence = answer.exact ? 1.0 : std::max(0.0, 1.0 - tail(1.0 / 8) - 2.0 * tail(1.0 / 9));
  return answer;
}

std::size_t Ams::memory_bytes() const {
  return sizeof *this + keys_.size() * sizeof keys_[0] + cells_.size() * sizeof cells_[0];
}

std::unique_ptr<Synopsis> Ams::clone() const {
  std::unique_ptr<Ams> copy(new Ams(params_));
  copy->cells_.append(cells_.data(), cells_.size());
  copy->n_ = n_;
  copy->negative_ = negative_;
  copy->saturated_ = saturated_;
  return copy;
}

// u32 depth, u32 buckets, u64 n, u8 flags, cells unless saturated.
void Ams::serialize(std::string& into) const {
  core::Writer out;
  out.put(depth_);
  out.put(buckets_);
  out.put(n_);
  out.put(static_cast<std::uint8_t>((negative_ ? kNegativeFlag : 0) |
                                    (saturated_ ? kSaturatedFlag : 0)));
  out.put_span(cells_.span());
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> Ams::deserialize(const Params& params, std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not an AMS state: {}", why));
  };
  std::unique_ptr<Ams> made(new Ams(params));
  core::Reader in(payload);
  const auto depth = in.get<std::uint32_t>();
  const auto buckets = in.get<std::uint32_t>();
  const auto n = in.get<std::uint64_t>();
  const auto flags = in.get<std::uint8_t>();
  if (!in.ok()) return refuse("it is too short");
  if (depth != made->depth_ || buckets != made->buckets_) {
    return refuse(fmt::format("{} x {} cells where its parameters ask for {} x {}", depth, buckets,
                              made->depth_, made->buckets_));
  }
  if (n > kMaxN) return refuse("weights of more than 2^62");
  if (flags == kSaturatedFlag) {
    if (n != kMaxN || !in.rest().empty()) return refuse("saturated, but with counts");
    made->saturate();
    return std::unique_ptr<Synopsis>(std::move(made));
  }
  if (flags > kNegativeFlag || (flags != 0 && n == 0)) return refuse("flags that cannot be");
  if (made->cell_count() > kMaxBytes / sizeof(std::int64_t) ||
      in.rest().size() != made->cell_count() * sizeof(std::int64_t)) {
    return refuse("wrong number of cells");
  }
  made->cells_.resize(made->cell_count());
  in.raw(made->cells_.data(), made->cells_.size() * sizeof(std::int64_t));
  // A weight adds its size, with either sign, to one cell of every row.
  for (std::size_t at = 0; at < made->cells_.size(); at += buckets) {
    std::uint64_t left = n;
    for (std::size_t c = 0; c < buckets; ++c) {
      const std::uint64_t size = size_of(made->cells_[at + c]);
      if (size > left) return refuse("a row holds more than the sum of weights");
      left -= size;
    }
    if (left % 2 != 0) return refuse("a row does not fit the sum of weights");
  }
  made->n_ = n;
  made->negative_ = flags != 0;
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
