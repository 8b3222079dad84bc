#include "synopses/dft.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/bytes.h"

namespace weir::synopses {
namespace {

constexpr double kMaxWindow = 1 << 20;  // tuples
constexpr double kMaxCoefficients = 1 << 10;
constexpr double kMaxSeconds = 1e9;
constexpr std::uint64_t kMaxDigestSums = std::uint64_t{1} << 21;  // doubles a synopsis may hold
constexpr std::uint64_t kMaxN = std::uint64_t{1} << 63;
static_assert(kMaxWindow * 2 <= (1 << 24), "unit_root's limit");

Status wrong(std::string message) { return {Code::kInvalid, "DFT: " + std::move(message)}; }

// duration / interval, when that is a whole number of tuples.
Result<double> in_tuples(const char* name, double duration, double interval) {
  const double tuples = std::nearbyint(duration / interval);
  // Decimal fractions such as 0.1 s are not exact, their quotient is to nine digits.
  if (tuples < 1 || std::fabs(tuples * interval - duration) > 1e-9 * duration) {
    return wrong(fmt::format("interval ({} s) must divide {}, but got {} s", json_number(interval),
                             name, json_number(duration)));
  }
  if (tuples > kMaxWindow) {
    return wrong(fmt::format("{} may hold at most {} intervals, but got {}", name,
                             json_number(kMaxWindow), json_number(tuples)));
  }
  return tuples;
}

std::shared_ptr<const Twiddles> twiddles_of(const Dft::Shape& shape) {
  return Twiddles::make(shape.window, shape.basic, shape.coefficients);
}

// States must not differ by a NaN's sign, which the targets' instructions do not agree on.
double canonical(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace

Result<Dft::Shape> Dft::shape_of(const Params& params) {
  Shape shape;
  double window = params.values[0];
  double slide = params.values[1];
  double coefficients = params.values[2];
  if (params.form == 1) {
    shape.interval = params.values[0];
    if (TimeGrid::nanoseconds(shape.interval) == 0) {
      return wrong(fmt::format("interval must be a whole number of nanoseconds, but got {} s",
                               json_number(shape.interval)));
    }
    const Result<double> basic = in_tuples("basic", params.values[1], shape.interval);
    if (!basic.ok()) return basic.status();
    const Result<double> whole = in_tuples("window", params.values[2], shape.interval);
    if (!whole.ok()) return whole.status();
    slide = *basic;
    window = *whole;
    coefficients = params.values[3];
    if (std::fmod(window, slide) != 0.0) {
      return wrong(fmt::format("window must be a multiple of basic, but got {} s and {} s",
                               json_number(params.values[2]), json_number(params.values[1])));
    }
  }
  if (slide > window) {
    return wrong(fmt::format("slide must be at most the window ({}), but got {}",
                             json_number(window), json_number(slide)));
  }
  if (coefficients >= window / 2) {
    return wrong(fmt::format("coefficients must be below half the window of {} tuples, but got {}",
                             json_number(window), json_number(coefficients)));
  }
  shape.window = static_cast<std::uint32_t>(window);
  shape.slide = static_cast<std::uint32_t>(slide);
  shape.coefficients = static_cast<std::uint32_t>(coefficients);
  shape.basic = std::gcd(shape.window, shape.slide);
  const std::uint64_t digests = (std::uint64_t{shape.window} + shape.slide) / shape.basic;
  if (digests * 2 * shape.coefficients > kMaxDigestSums) {
    return wrong(
        fmt::format("window and slide share only the divisor {}, so {} digests of {} "
                    "coefficients would be kept; choose a slide that divides the window",
                    shape.basic, digests, shape.coefficients));
  }
  return shape;
}

SynopsisType Dft::type() {
  return {.id = 4,
          .name = "DFT",
          .aliases = {"StatStream"},
          .forms = {{{"window", 3, kMaxWindow, true, false, 0},
                     {"slide", 1, kMaxWindow, true, false, 0},
                     {"coefficients", 1, kMaxCoefficients, true, false, 0}},
                    {{"interval", 1e-9, kMaxSeconds, false, false, 0, true},
                     {"basic", 1e-9, kMaxSeconds, false, false, 0, true},
                     {"window", 1e-9, kMaxSeconds, false, false, 0, true},
                     {"coefficients", 1, kMaxCoefficients, true, false, 0}}},
          .mergeable = false,
          .linear = false,
          .numeric_only = true,
          .queries = {"none", "correlated", "with"},
          .guarantee =
              "coefficients of the last window to 1e-9 of its norm; no pair with "
              "correlation ≥ T missing",
          .by_stream = true,
          .pair_queries = {"with"},
          .search_word = "correlated",
          .create = &Dft::create,
          .deserialize = &Dft::deserialize,
          .search = &Dft::search};
}

Dft::Dft(const Params& params, const Shape& shape, std::shared_ptr<const Twiddles> twiddles)
    : params_(params),
      shape_(shape),
      twiddles_(std::move(twiddles)),
      moments_(static_cast<std::size_t>((shape.window + shape.slide) / shape.basic)) {
  digests_.resize(static_cast<std::size_t>(slots()) * twiddles_->stride);
  std::fill(digests_.begin(), digests_.end(), 0.0);
  leaf_.resize(twiddles_->stride);
  std::fill(leaf_.begin(), leaf_.end(), 0.0);
  if (shape.interval == 0.0) return;
  grid_.reset(new OnGrid{TimeGrid(TimeGrid::nanoseconds(shape.interval)), 0, {}});
  grid_->raw.resize(static_cast<std::size_t>(slots()) * shape_.basic);
}

Result<std::unique_ptr<Synopsis>> Dft::create(const Params& params) {
  const Result<Shape> shape = shape_of(params);
  if (!shape.ok()) return shape.status();
  return std::unique_ptr<Synopsis>(new Dft(params, *shape, twiddles_of(*shape)));
}

void Dft::update(const Items& items) {
  if (grid_ != nullptr) return update_grid(items);
  if (items.kinds() == nullptr) return take(items.bits().data(), items.size());
  std::uint64_t numbers[kDftLeaf];
  std::size_t held = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items.kinds()[i] == core::Kind::kText) continue;
    numbers[held++] = std::bit_cast<std::uint64_t>(items.number(i));
    if (held < kDftLeaf) continue;
    take(numbers, held);
    held = 0;
  }
  take(numbers, held);
}

void Dft::take(const std::uint64_t* bits, std::size_t n) {
  const std::size_t stride = twiddles_->stride;
  std::uint64_t basic = n_ / shape_.basic;
  std::uint32_t position = filled();
  while (n != 0) {
    DftMoments& m = moments(basic);
    if (position == 0) {
      const double first = std::bit_cast<double>(*bits);
      m = {first, 0.0, 0.0, first, first};
      std::fill_n(sums(basic), stride, 0.0);
    }
    const std::uint32_t row = position % kDftLeaf;
    const std::uint32_t room = std::min(kDftLeaf - row, shape_.basic - position);
    const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(n, room));
    add_to_digest(bits, taken, twiddles_->rows.data() + row * stride, stride, leaf_.data(), m);
    if (taken == room) close_leaf(basic, position - row);
    bits += taken;
    n -= taken;
    n_ += taken;
    position += taken;
    if (position == shape_.basic) {
      position = 0;
      ++basic;
    }
  }
}

// Turns the finished leaf to its place in the basic window.
void Dft::close_leaf(std::uint64_t basic, std::uint32_t leaf_start) {
  double* into = sums(basic);
  if (leaf_start == 0) {
    std::copy(leaf_.begin(), leaf_.end(), into);
  } else {
    for (std::uint32_t m = 1; m <= shape_.coefficients; ++m) {
      const std::complex<double> turn = twiddles_->at(m, leaf_start);
      const double re = leaf_[2 * m - 2];
      const double im = leaf_[2 * m - 1];
      into[2 * m - 2] += re * turn.real() - im * turn.imag();
      into[2 * m - 1] += re * turn.imag() + im * turn.real();
    }
  }
  std::fill(leaf_.begin(), leaf_.end(), 0.0);
}

Estimate Dft::coefficients_answer(const Window& last) const {
  Estimate answer;
  answer.reason = last.reason;
  if (!last.reason.empty()) return answer;
  answer.json = "[";
  for (const std::complex<double>& x : last.coefficients) {
    if (answer.json.size() > 1) answer.json += ',';
    answer.json += '[' + json_number(x.real()) + ',' + json_number(x.imag()) + ']';
  }
  answer.json += ']';
  answer.exact = true;
  return answer;
}

Status Dft::merge(const Synopsis& other) {
  return cannot_merge(*this, other, "a DFT depends on the order of its values");
}

std::size_t Dft::memory_bytes() const {
  return sizeof *this + (digests_.size() + leaf_.size()) * sizeof(double) +
         moments_.size() * sizeof(DftMoments) +
         (grid_ == nullptr ? 0 : sizeof *grid_ + grid_->raw.size() * sizeof(double));
}

std::unique_ptr<Synopsis> Dft::clone() const {
  std::unique_ptr<Dft> copy(new Dft(params_, shape_, twiddles_));
  std::copy(digests_.begin(), digests_.end(), copy->digests_.begin());
  std::copy(leaf_.begin(), leaf_.end(), copy->leaf_.begin());
  copy->moments_ = moments_;
  copy->n_ = n_;
  if (grid_ != nullptr) {
    copy->grid_->grid = grid_->grid;
    copy->grid_->lead = grid_->lead;
    const std::size_t kept = std::min<std::uint64_t>(n_, grid_->raw.size());
    std::copy_n(grid_->raw.begin(), kept, copy->grid_->raw.begin());
  }
  return copy;
}

// The number of the oldest basic window whose digest is part of the state.
std::uint64_t Dft::oldest_kept() const {
  const std::uint64_t complete = n_ / shape_.basic;
  return complete - std::min(complete, slots() - 1);
}

// u64 n; then oldest first, for every digest that a window may still need and the one being filled:
// reference, sum, squares, min, max, 2·coefficients sums; then the sums of the leaf being filled.
void Dft::serialize(std::string& into) const {
  if (grid_ != nullptr) return serialize_grid(into);
  core::Writer out;
  out.put(n_);
  const std::uint64_t end = (n_ + shape_.basic - 1) / shape_.basic;
  for (std::uint64_t basic = oldest_kept(); basic < end; ++basic) {
    const DftMoments& m = moments(basic);
    for (const double value : {m.reference, m.sum, m.squares, m.min, m.max})
      out.put(canonical(value));
    for (std::uint32_t c = 0; c < 2 * shape_.coefficients; ++c) out.put(canonical(sums(basic)[c]));
  }
  if (filled() % kDftLeaf != 0) {
    for (std::uint32_t c = 0; c < 2 * shape_.coefficients; ++c) out.put(canonical(leaf_[c]));
  }
  into += out.bytes();
}

Result<std::unique_ptr<Synopsis>> Dft::deserialize(const Params& params, std::string_view payload) {
  const auto refuse = [](std::string_view why) {
    return Status(Code::kInvalid, fmt::format("not a DFT state: {}", why));
  };
  const Result<Shape> shape = shape_of(params);
  if (!shape.ok()) return shape.status();
  if (shape->interval != 0.0) {
    std::unique_ptr<Dft> made(new Dft(params, *shape, twiddles_of(*shape)));
    if (const char* why = made->deserialize_grid(payload)) return refuse(why);
    return std::unique_ptr<Synopsis>(std::move(made));
  }
  core::Reader in(payload);
  const auto n = in.get<std::uint64_t>();
  if (!in.ok()) return refuse("it is too short");
  if (n > kMaxN) return refuse("more than 2^63 values");
  const std::uint32_t basic_size = shape->basic;
  const std::uint64_t complete = n / basic_size;
  const std::uint64_t kept =
      std::min(complete, (std::uint64_t{shape->window} + shape->slide) / basic_size - 1) +
      (n % basic_size != 0);
  const std::uint64_t row = 2 * std::uint64_t{shape->coefficients};
  const bool in_leaf = n % basic_size % kDftLeaf != 0;
  if (in.rest().size() != (kept * (row + 5) + (in_leaf ? row : 0)) * sizeof(double)) {
    return refuse("wrong number of digests");
  }
  std::unique_ptr<Dft> made(new Dft(params, *shape, twiddles_of(*shape)));
  made->n_ = n;
  for (std::uint64_t basic = made->oldest_kept(), left = kept; left != 0; ++basic, --left) {
    DftMoments& m = made->moments(basic);
    for (double* value : {&m.reference, &m.sum, &m.squares, &m.min, &m.max})
      *value = in.get<double>();
    // The negated form refuses NaN too.
    if (!(m.min <= m.reference && m.reference <= m.max && std::isfinite(m.min) &&
          std::isfinite(m.max))) {
      return refuse("a basic window whose first value is outside its range");
    }
    for (std::uint64_t c = 0; c < row; ++c) made->sums(basic)[c] = in.get<double>();
  }
  for (std::uint64_t c = 0; in_leaf && c < row; ++c) made->leaf_[c] = in.get<double>();
  return std::unique_ptr<Synopsis>(std::move(made));
}

}  // namespace weir::synopses
