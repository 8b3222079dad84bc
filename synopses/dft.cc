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
// Below it, squares of deviations begin to lose digits to underflow.
constexpr double kSmallestSquares = 0x1p-960;
constexpr double kUnitRoundoff = 0x1p-53;
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
          .queries = {"none"},
          .guarantee = "coefficients of the last window to 1e-9 of its norm",
          .create = &Dft::create,
          .deserialize = &Dft::deserialize};
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
}

Result<std::unique_ptr<Synopsis>> Dft::create(const Params& params) {
  const Result<Shape> shape = shape_of(params);
  if (!shape.ok()) return shape.status();
  return std::unique_ptr<Synopsis>(new Dft(params, *shape, twiddles_of(*shape)));
}

void Dft::update(const Items& items) {
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

Dft::Window Dft::window() const {
  const std::uint64_t w = shape_.window;
  const std::uint64_t b = shape_.basic;
  Window result;
  if (n_ < w) {
    result.reason = fmt::format("its first window needs {} values, it has {}", w, n_);
    return result;
  }
  result.end = w + (n_ - w) / shape_.slide * shape_.slide;
  const std::uint64_t first = (result.end - w) / b;
  const std::uint64_t count = w / b;
  const double reference = moments(first).reference;

  double min = moments(first).min;
  double max = moments(first).max;
  double mean = 0.0;  // less `reference`
  for (std::uint64_t k = 0; k < count; ++k) {
    const DftMoments& m = moments(first + k);
    min = std::min(min, m.min);
    max = std::max(max, m.max);
    mean += (m.reference - reference) + m.sum / static_cast<double>(b);
  }
  mean /= static_cast<double>(count);
  result.mean = reference + mean;
  if (min == max) {
    result.reason =
        fmt::format("constant: all {} values of the window are {}", w, json_number(min));
    return result;
  }
  double squares = 0.0;
  for (std::uint64_t k = 0; k < count; ++k) {
    const DftMoments& m = moments(first + k);
    const double own = m.squares - m.sum * (m.sum / static_cast<double>(b));
    const double offset = (m.reference - reference) + m.sum / static_cast<double>(b) - mean;
    squares += (own < 0.0 ? 0.0 : own) + static_cast<double>(b) * (offset * offset);
  }
  bool in_range = std::isfinite(squares) && squares >= kSmallestSquares;
  result.norm = std::sqrt(squares);

  const double scale = std::sqrt(static_cast<double>(w)) * result.norm;
  for (std::uint64_t m = 1; m <= shape_.coefficients; ++m) {
    double re = 0.0;
    double im = 0.0;
    for (std::uint64_t k = 0; k < count; ++k) {
      const double* digest = sums(first + k);
      const double shift = moments(first + k).reference - reference;
      const double part_re = digest[2 * m - 2] + shift * twiddles_->constant[m - 1].real();
      const double part_im = digest[2 * m - 1] + shift * twiddles_->constant[m - 1].imag();
      const std::complex<double> turn = twiddles_->at(m, k * b);
      re += part_re * turn.real() - part_im * turn.imag();
      im += part_re * turn.imag() + part_im * turn.real();
    }
    in_range = in_range && std::isfinite(re) && std::isfinite(im);
    result.transform.emplace_back(re, im);
    result.coefficients.emplace_back(re / scale, im / scale);
  }
  if (!in_range) {
    result.transform.clear();
    result.coefficients.clear();
    result.reason = "the squares of the window's values leave the range of a double";
  }
  return result;
}

// First order, worst case. A term of a digest is at most |x_i - r|, and Σ|x_i - r| over a window is
// at most √(w(2 + 2b))·‖x - x̄‖, since r is a value of it; the corrections (r_k - R)·Σe add at most
// 2w·‖x - x̄‖. Divided by √w·‖x - x̄‖ that is below 2 + 4√w. Each term passes through at most 64
// additions in a leaf, b/64 of leaves, w/b of digests, and some ten other roundings (twiddle,
// products, norm).
double Dft::coefficient_error() const {
  const double w = shape_.window;
  const double b = shape_.basic;
  const double roundings = kDftLeaf + 16 + b / kDftLeaf + w / b;
  return kUnitRoundoff * roundings * (2.0 + 4.0 * std::sqrt(w));
}

double Dft::correlation_upper_bound(std::span<const std::complex<double>> x,
                                    std::span<const std::complex<double>> y, double error) {
  double sum = 0.0;
  for (std::size_t m = 0; m < x.size(); ++m) {
    const double re = x[m].real() - y[m].real();
    const double im = x[m].imag() - y[m].imag();
    sum += re * re + im * im;
  }
  // |Σ|D|² - Σ|D'|²| ≤ 2·√(Σ|D|²)·√n·2e + n·4e², and Σ|D|² ≤ 2.
  const auto n = static_cast<double>(x.size());
  const double slack = 6.0 * std::sqrt(n) * error + 4.0 * n * error * error;
  return std::min(1.0, 1.0 - sum + slack);
}

Result<Estimate> Dft::estimate(const Query& query) const {
  if (query.was_array && !query.args.empty()) {
    if (const auto* word = std::get_if<std::string>(&query.args[0].value)) {
      if (*word == "correlated" || *word == "with") {
        return Status(
            Code::kUnsupported,
            fmt::format("a DFT query of \"{}\" compares streams, which needs windows on "
                        "one time grid; this version counts windows in tuples and answers "
                        "with coefficients only",
                        *word));
      }
    }
  }
  if (query.args.size() > 1) {
    return wrong(fmt::format("a query takes no value and answers with all coefficients, but got {}",
                             describe(query)));
  }
  const Window last = window();
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
         moments_.size() * sizeof(DftMoments);
}

std::unique_ptr<Synopsis> Dft::clone() const {
  std::unique_ptr<Dft> copy(new Dft(params_, shape_, twiddles_));
  std::copy(digests_.begin(), digests_.end(), copy->digests_.begin());
  std::copy(leaf_.begin(), leaf_.end(), copy->leaf_.begin());
  copy->moments_ = moments_;
  copy->n_ = n_;
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
