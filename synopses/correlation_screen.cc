#include "synopses/correlation_screen.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace weir::synopses {
namespace {

// Outside of these, squares may leave the range of a double; so windows are scaled by kScale first.
constexpr double kLeastRange = 0x1p-400;
constexpr double kMostRange = 0x1p400;
constexpr double kScale = 0x1p600;

}  // namespace

std::int32_t slack_of(double error, double more) {
  const double slack = std::ceil(kUnit * error + 0.5 * error * error + more) + 2.0;
  return slack < kMostSlack ? static_cast<std::int32_t>(slack) : kMostSlack;
}

// The first reference differs from a value by at most √2·norm, so rounding of the centred values
// and of the mean costs less than 2·2^-53·√2·√w, a sum of w/8 terms (w/8 + 4)·2^-53 three times
// over, the norms and the last products a few more.
double correlation_error(std::size_t w) { return (static_cast<double>(w) + 64.0) * 0x1p-51; }

std::int32_t target_of(double threshold, std::size_t w) {
  const double reached = std::max(-1.0, std::min(threshold, 1.0)) - correlation_error(w);
  return static_cast<std::int32_t>(std::floor(reached * (kUnit * kUnit))) - 8;
}

Centred centred_of(std::span<const double> values, std::vector<double>& copy) {
  Centred window;
  window.values = values.data();
  window.inverse = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return window;
  window.reference = values[0];
  WindowMoments moments = moments_of(values.data(), values.size(), window.reference);
  if (moments.min == moments.max) return window;
  const double range = moments.max * 0.5 - moments.min * 0.5;
  if (!(range >= kLeastRange && range <= kMostRange)) {
    const double scale = range < kLeastRange ? kScale : 1.0 / kScale;
    copy.assign(values.begin(), values.end());
    for (double& value : copy) value *= scale;
    window.values = copy.data();
    window.reference = copy[0];
    moments = moments_of(copy.data(), copy.size(), window.reference);
  }
  window.mean = moments.sum / static_cast<double>(values.size());
  const double squares = squares_of(window, values.size());
  if (std::isfinite(squares) && squares > 0.0) window.inverse = 1.0 / std::sqrt(squares);
  return window;
}

double correlation_of(const Centred& a, const Centred& b, std::size_t n) {
  const double correlation = dot_of(a, b, n) * (a.inverse * b.inverse);
  return correlation > 1.0 ? 1.0 : correlation < -1.0 ? -1.0 : correlation;
}

PreparedWindows::PreparedWindows(std::size_t w, double threshold, std::vector<std::uint32_t> order)
    : w_(w),
      stride_((w + kRowPad - 1) / kRowPad * kRowPad),
      threshold_(threshold),
      target_(target_of(threshold, w)),
      order_(std::move(order)),
      centred_(order_.size()),
      copies_(order_.size()) {
  rows_.resize(order_.size() * stride_);
  slack_.resize(order_.size());
}

void PreparedWindows::prepare(std::size_t position, std::span<const double> values) {
  Centred& window = centred_[position];
  window = centred_of(values, copies_[position]);
  std::int16_t* row = rows_.data() + position * stride_;
  if (std::isnan(window.inverse)) {
    std::fill_n(row, stride_, std::int16_t{0});
    slack_[position] = kUndefinedSlack;
    return;
  }
  slack_[position] = slack_of(std::sqrt(quantise(window, w_, window.inverse * kUnit, row)), 0.0);
}

void PreparedWindows::compare(std::size_t position, std::span<std::uint32_t> others,
                              std::vector<FoundPair>& found) const {
  const std::size_t kept =
      screen_rows(row(position), rows_.data(), stride_, slack_[position] - target_, slack_.data(),
                  others, others.data());
  for (const std::uint32_t other : others.first(kept)) {
    const double correlation = correlation_of(centred_[position], centred_[other], w_);
    if (!(correlation >= threshold_)) continue;
    const auto [a, b] = std::minmax(order_[position], order_[other]);
    found.push_back({a, b, correlation});
  }
}

Columns::Columns(std::size_t windows, std::size_t groups)
    : stride_(windows + kColumnPad), groups_(groups) {
  columns_.resize(stride_ * groups);
  slack_.resize(stride_);
  for (std::size_t g = 0; g < groups; ++g) {
    std::fill_n(columns_.data() + g * stride_ + windows, kColumnPad, 0);
  }
  std::fill_n(slack_.data() + windows, kColumnPad, kUndefinedSlack);
}

std::vector<std::int32_t> Columns::gather(std::span<const std::uint32_t> positions) const {
  std::vector<std::int32_t> gathered;
  gathered.reserve(positions.size() * groups_);
  for (const std::uint32_t position : positions) {
    for (std::size_t g = 0; g < groups_; ++g) gathered.push_back(columns_[g * stride_ + position]);
  }
  return gathered;
}

void Columns::set(std::size_t position, std::size_t group, std::int16_t first,
                  std::int16_t second) {
  columns_[group * stride_ + position] =
      std::bit_cast<std::int32_t>(std::array<std::int16_t, 2>{first, second});
}

}  // namespace weir::synopses
