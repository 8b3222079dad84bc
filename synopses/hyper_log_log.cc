#include "synopses/hyper_log_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/bytes.h"
#include "synopses/hash.h"
#include "synopses/hyper_log_log_kernel.h"

namespace weir::synopses {
namespace {

constexpr double kErrorConstant = 1.04;  // standard error · √m, Flajolet et al.
constexpr double kMinRsd = 0.00203125;   // kErrorConstant / √(2^18)
constexpr double kMaxRsd = 0.26;         // kErrorConstant / √(2^4)
constexpr double kAlphaInfinity = 0.721347520444481703680;  // 1 / (2 ln 2)
constexpr double kZ95 = 1.959963984540054;  // two-sided 95 % of the normal distribution
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 63;

// σ(x) = x + Σ_{k≥1} x^(2^k)·2^(k-1), Ertl's algorithm 5.
double sigma(double x) {
  if (x == 1.0) return std::numeric_limits<double>::infinity();
  double sum = x;
  for (double weight = 1.0, before = -1.0; sum != before; weight += weight) {
    x *= x;
    before = sum;
    sum += x * weight;
  }
  return sum;
}

// τ(x) = (1 - x - Σ_{k≥1} (1 - x^(2^-k))²·2^-k) / 3, Ertl's algorithm 6.
double tau(double x) {
  if (x == 0.0 || x == 1.0) return 0.0;
  double sum = 1.0 - x;
  for (double weight = 1.0, before = -1.0; sum != before;) {
    x = std::sqrt(x);
    before = sum;
    weight *= 0.5;
    sum -= (1.0 - x) * (1.0 - x) * weight;
  }
  return sum / 3.0;
}

}  // namespace

int HyperLogLog::precision_for(double rsd) {
  int p = kMinPrecision;
  while (p < kMaxPrecision && kErrorConstant / std::sqrt(static_cast<double>(1 << p)) > rsd) ++p;
  return p;
}

SynopsisType HyperLogLog::type() {
  return {
      .id = 2,
      .name = "HyperLogLog",
      .aliases = {"HLL"},
      .forms = {{{"rsd", kMinRsd, kMaxRsd, false, false, 0}, {"seed", 0, 0x1p53, true, true, 1}}},
      .mergeable = true,
      .linear = true,
      .numeric_only = false,
      .queries = {"none"},
      .guarantee = "standard error ≤ rsd at every count",
      .create = &HyperLogLog::create,
      .deserialize = &HyperLogLog::deserialize};
}

HyperLogLog::HyperLogLog(const Params& params)
    : params_(params),
      precision_(precision_for(params.values[0])),
      key_(seed_key(static_cast<std::uint64_t>(params.values[1]))),
      registers_(std::size_t{1} << precision_) {}

Result<std::unique_ptr<Synopsis>> HyperLogLog::create(const Params& params) {
  return std::unique_ptr<Synopsis>(new HyperLogLog(params));
}

void HyperLogLog::update(const Items& items) {
  const std::span<const std::uint64_t> hashes = items.hashes();
  raise_registers(hashes.data(), hashes.size(), key_, precision_, registers_.data());
  n_ += hashes.size();
}

Status HyperLogLog::merge(const Synopsis& other) {
  const auto* from = dynamic_cast<const HyperLogLog*>(&other);
  if (from == nullptr) return cannot_merge(*this, other, "they are of different kinds");
  if (from->precision_ != precision_ || from->key_ != key_) {
    return cannot_merge(*this, other, "precision and seed must be equal");
  }
  if (n_ > kMaxN || from->n_ > kMaxN - n_) {
    return cannot_merge(*this, other, "together they exceed 2^63 values");
  }
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    registers_[i] = std::max(registers_[i], from->registers_[i]);
  }
  n_ += from->n_;
  return {};
}

double HyperLogLog::distinct() const {
  const int q = 64 - precision_;
  std::array<std::uint32_t, 64> histogram{};
  for (const std::uint8_t rank : registers_) ++histogram[rank];
  const auto m = static_cast<double>(registers_.size());
  double z = m * tau(1.0 - histogram[static_cast<std::size_t>(q) + 1] / m);
  for (int k = q; k >= 1; --k) z = 0.5 * (z + histogram[static_cast<std::size_t>(k)]);
  z += m * sigma(histogram[0] / m);
  return kAlphaInfinity * m * m / z;
}

Result<Estimate> HyperLogLog::estimate(const Query& query) const {
  if (query.args.size() > 1) {
    return Status(Code::kInvalid, fmt::format("a query of HyperLogLog takes no value, but got {}",
                                              describe(query)));
  }
  const auto taken = static_cast<double>(n_);
  const auto in_use = static_cast<double>(std::count_if(
      registers_.begin(), registers_.end(), [](std::uint8_t rank) { return rank != 0; }));
  const double raw = distinct();
  const double z = kZ95 * kErrorConstant / std::sqrt(static_cast<double>(registers_.size()));
  Estimate answer;
  // Counts are whole: rounding inwards loses none that the interval holds.
  answer.json = json_number(std::clamp(std::nearbyint(raw), in_use, taken));
  answer.lower = std::clamp(std::ceil(raw / (1.0 + z)), in_use, taken);
  answer.upper = std::clamp(std::floor(raw / (1.0 - z) + 1.0), in_use, taken);
  answer.confidence = 0.95;
  answer.exact = n_ <= 1;
  return answer;
}

std::unique_ptr<Synopsis> HyperLogLog::clone() const {
  return std::unique_ptr<Synopsis>(new HyperLogLog(*this));
}

// u8 precision, u64 n, registers.
void HyperLogLog::serialize(std::string& into) const {
  core::Writer out;
  out.put(static_cast<std::uint8_t>(precision_));
  out.put(n_);
  out.put_span(std::span<const std::uint8_t>(registers_));
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> HyperLogLog::deserialize(const Params& params,
                                                           std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a HyperLogLog state: {}", why));
  };
  core::Reader in(payload);
  const int precision = in.get<std::uint8_t>();
  const auto n = in.get<std::uint64_t>();
  if (!in.ok()) return refuse("it is too short");
  if (precision != precision_for(params.values[0])) {
    return refuse(fmt::format("precision {} where its parameters ask for {}", precision,
                              precision_for(params.values[0])));
  }
  if (in.rest().size() != std::size_t{1} << precision) return refuse("wrong number of registers");
  if (n > kMaxN) return refuse("more than 2^63 values");
  std::unique_ptr<HyperLogLog> made(new HyperLogLog(params));
  in.raw(made->registers_.data(), made->registers_.size());
  std::uint64_t in_use = 0;
  for (const std::uint8_t rank : made->registers_) {
    if (rank > 65 - precision) return refuse("a register beyond the largest rank");
    in_use += rank != 0;
  }
  if (in_use > n || (in_use == 0 && n != 0))
    return refuse("registers do not fit the count of values");
  made->n_ = n;
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
