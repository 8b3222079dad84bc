// The window of a DFT out of its digests, and how far its coefficients can be off.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "synopses/dft.h"

namespace weir::synopses {
namespace {

// Below it, squares of deviations begin to lose digits to underflow.
constexpr double kSmallestSquares = 0x1p-960;
constexpr double kUnitRoundoff = 0x1p-53;

}  // namespace

Dft::Window Dft::window() const {
  const std::uint64_t w = shape_.window;
  const std::uint64_t b = shape_.basic;
  Window result;
  if (n_ < w) {
    result.reason =
        grid_ == nullptr
            ? fmt::format("its first window needs {} values, it has {}", w, n_)
            : fmt::format(
                  "its first window needs {} intervals of {} s from a border of its basic "
                  "windows on, it has {}",
                  w, json_number(shape_.interval), n_);
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
// products, norm). The norm rests on Σ(x_i - r)² - (Σ(x_i - r))²/b of each basic window, whose
// terms may be 2 + 2b times the difference when r is its outlier; both sums are chains of b
// additions.
double Dft::coefficient_error() const {
  const double w = shape_.window;
  const double b = shape_.basic;
  const double roundings = kDftLeaf + 16 + b / kDftLeaf + w / b;
  const double norm = (b + 4.0) * (2.0 + 2.0 * b);
  return kUnitRoundoff * (roundings * (2.0 + 4.0 * std::sqrt(w)) + norm);
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

}  // namespace weir::synopses
