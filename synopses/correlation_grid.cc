#include "synopses/correlation_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>

#include "synopses/hash.h"

namespace weir::synopses {
namespace {

// Cells of fewer windows would leave most of a vector empty.
constexpr std::size_t kWindowsACell = 16;
constexpr double kRoot2 = 1.4142135623730951;

// A window's z in rounded numbers, and its slack.
struct Rounded {
  std::array<std::int16_t, 2 * kScreenCoefficients + 2> q{};
  std::int32_t slack = 0;
};

// To the nearest; how halves go does not matter, since the error is measured.
std::int16_t round_unit(double value) {
  const double scaled = value * kUnit;
  if (!(scaled > -kUnit)) return static_cast<std::int16_t>(-kUnit);
  if (scaled >= kUnit) return static_cast<std::int16_t>(kUnit);
  return static_cast<std::int16_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
}

Rounded round(std::span<const std::complex<double>> coefficients, std::size_t n, double error) {
  Rounded result;
  if (coefficients.size() < n) {  // a constant window; comparing it will say so
    result.slack = kMostSlack;
    return result;
  }
  double squares = 0.0;
  double rounding = 0.0;
  const auto take = [&](std::size_t at, double value) {
    result.q[at] = round_unit(value);
    const double off = value * kUnit - result.q[at];
    rounding += off * off;
  };
  for (std::size_t m = 0; m < n; ++m) {
    const double re = coefficients[m].real() * kRoot2;
    const double im = coefficients[m].imag() * kRoot2;
    squares += re * re + im * im;
    take(2 * m, re);
    take(2 * m + 1, im);
  }
  take(2 * n, std::sqrt(std::max(0.0, 1.0 - squares)));
  // The given z is within δ of the exact one; ρ within √(|z given|² - |z|²), and rounding of the
  // sum.
  const double delta = kRoot2 * std::sqrt(static_cast<double>(n)) * error;
  const double rho =
      std::sqrt(delta * (2.0 + delta) + (2.0 * static_cast<double>(n) + 8.0) * 0x1p-52);
  result.slack = slack_of(std::sqrt(rounding) + kUnit * (delta + rho), 0.0);
  // Out of range by more than an error explains: nothing is known, so nothing is dismissed.
  if (!(squares <= 1.0 + 1e-3 + delta)) result.slack = kMostSlack;
  return result;
}

}  // namespace

Grid::Grid(std::span<const SearchWindow> windows, double threshold, double coefficient_error)
    : columns_(0, 0) {
  std::size_t n = 0;
  std::size_t w = 0;
  for (const SearchWindow& window : windows) {
    n = std::max(n, window.coefficients.size());
    w = std::max(w, window.values.size());
  }
  n = std::min(n, kScreenCoefficients);
  std::vector<Rounded> rounded;
  rounded.reserve(windows.size());
  for (const SearchWindow& window : windows) {
    rounded.push_back(round(window.coefficients, n, coefficient_error));
  }

  // Coordinates of a pair differ by at most √(2(1-T)), their roundings by one more, their errors by
  // twice the error.
  const double distance =
      std::sqrt(2.0 * (1.0 - std::clamp(threshold, -1.0, 1.0) + correlation_error(w)));
  const double side = kUnit * (distance + 4.0 * coefficient_error) + 2.0;
  const auto cell = static_cast<std::int32_t>(std::ceil(std::min(side, 4 * kUnit)));
  struct Place {
    std::uint64_t key, hash;
    std::uint32_t index;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  places.reserve(windows.size());
  dimensions_ = std::min(kMostDimensions, 2 * n);
  for (const Rounded& each : rounded) {
    Place place{0, 0, static_cast<std::uint32_t>(places.size())};
    for (std::size_t d = 0; d < dimensions_; ++d) {
      place.key = place.key << 16 | static_cast<std::uint64_t>((each.q[d] + (1 << 14)) / cell + 1);
    }
    for (std::size_t g = 0; g <= n; ++g) {
      const auto first = static_cast<std::uint16_t>(each.q[2 * g]);
      const auto second = static_cast<std::uint16_t>(each.q[2 * g + 1]);
      place.hash = keyed(place.hash, std::uint64_t{first} << 16 | second);
    }
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  // While the cells are too many, the last coordinate is given up.
  const auto cells = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      count += i == 0 || places[i].key != places[i - 1].key;
    }
    return count;
  };
  bool merged = false;
  while (dimensions_ > 1 && cells() * kWindowsACell > windows.size()) {
    --dimensions_;
    merged = true;
    for (Place& place : places) place.key >>= 16;
  }
  if (merged) std::sort(places.begin(), places.end());

  columns_ = Columns(windows.size(), n + 1);
  for (std::size_t position = 0; position < places.size(); ++position) {
    const Place& place = places[position];
    const Rounded& each = rounded[place.index];
    order_.push_back(place.index);
    keys_.push_back(place.key);
    hashes_.push_back(place.hash);
    columns_.slack(position) = each.slack;
    for (std::size_t g = 0; g <= n; ++g) {
      columns_.set(position, g, each.q[2 * g], each.q[2 * g + 1]);
    }
  }
}

std::size_t Grid::first_not_below(std::uint64_t key) const {
  return static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), key) -
                                  keys_.begin());
}

std::size_t Grid::cell_end(std::size_t position) const {
  return first_not_below(keys_[position] + 1);
}

std::vector<std::pair<std::size_t, std::size_t>> Grid::later_neighbours(
    std::size_t position) const {
  const std::uint64_t own = keys_[position];
  const std::size_t begin = first_not_below(own);
  // The last coordinate's neighbours stand beside each other; the others are gone through.
  std::size_t combinations = 1;
  for (std::size_t d = 1; d < dimensions_; ++d) combinations *= 3;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t combination = 0; combination < combinations; ++combination) {
    std::uint64_t key = own;
    std::size_t digits = combination;
    for (std::size_t d = 1; d < dimensions_; ++d, digits /= 3) {
      // Coordinates begin at 1, so none borrows from the next.
      key += (std::uint64_t{digits % 3} - 1) << (16 * d);
    }
    const std::size_t first = std::max(begin, first_not_below(dimensions_ == 0 ? key : key - 1));
    const std::size_t last = first_not_below(key + 2);
    if (first < last) ranges.emplace_back(first, last);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

}  // namespace weir::synopses
