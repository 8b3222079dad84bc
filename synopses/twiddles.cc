#include "synopses/twiddles.h"

#include <algorithm>

#include "synopses/dft_kernel.h"

namespace weir::synopses {
namespace {

constexpr double kQuarterPi = 0.785398163397448309616;

// Taylor series on [0, π/4]; the first term left out is below 2^-60.
double sine(double x) {
  const double y = x * x;
  double sum = 0.0;
  for (int k = 19; k >= 3; k -= 2) sum = (1.0 + sum) * (-y / (k * (k - 1)));
  return x + x * sum;
}
double cosine(double x) {
  const double y = x * x;
  double sum = 0.0;
  for (int k = 20; k >= 4; k -= 2) sum = (1.0 + sum) * (-y / (k * (k - 1)));
  return 1.0 - 0.5 * y * (1.0 + sum);
}

}  // namespace

std::complex<double> unit_root(std::uint32_t k, std::uint32_t n) {
  // Octant and rest in whole numbers: the angle left is in [0, π/4], and symmetric points agree.
  const std::uint32_t octant = 8 * k / n;
  std::uint32_t rest = 8 * k - octant * n;
  const bool back = octant % 2 == 1;
  if (back) rest = n - rest;
  const double angle = kQuarterPi * (static_cast<double>(rest) / n);
  const double c = cosine(angle);
  const double s = back ? -sine(angle) : sine(angle);
  switch ((octant + 1) / 2 % 4) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

std::shared_ptr<const Twiddles> Twiddles::make(std::uint32_t window, std::uint32_t basic,
                                               std::uint32_t coefficients) {
  auto made = std::make_shared<Twiddles>();
  made->window = window;
  made->basic = basic;
  made->coefficients = coefficients;
  made->stride = (2 * std::size_t{coefficients} + kDftPad - 1) / kDftPad * kDftPad;
  made->circle.reserve(window);
  for (std::uint32_t k = 0; k < window; ++k)
    made->circle.push_back(std::conj(unit_root(k, window)));
  const std::uint32_t leaf = std::min(basic, kDftLeaf);
  made->rows.resize(leaf * made->stride);
  for (std::uint32_t i = 0; i < leaf; ++i) {
    for (std::uint32_t m = 1; m <= coefficients; ++m) {
      const std::complex<double> root = made->at(m, i);
      made->rows[i * made->stride + 2 * (m - 1)] = root.real();
      made->rows[i * made->stride + 2 * (m - 1) + 1] = root.imag();
    }
  }
  // The geometric sum as e^{-jπm(b-1)/w}·sin(πmb/w)/sin(πm/w), which has no cancellation.
  const std::uint32_t turn = 2 * window;
  const auto half_root = [&](std::uint64_t k) {
    return unit_root(static_cast<std::uint32_t>(k % turn), turn);
  };
  for (std::uint64_t m = 1; m <= coefficients; ++m) {
    const double size = half_root(m * basic).imag() / half_root(m).imag();
    made->constant.push_back(std::conj(half_root(m * (basic - 1))) * size);
  }
  return made;
}

}  // namespace weir::synopses
