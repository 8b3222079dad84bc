// Windows for tests of the searches over streams: series of several shapes, their coefficients, and
// loops that call in an order of their own.
//
// Thread safety: thread-compatible.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "synopses/correlation.h"
#include "synopses/dft.h"
#include "tests/synopses/values.h"

namespace weir::synopses {

using Series = std::vector<std::vector<double>>;

inline double gaussian(std::mt19937_64& random) {
  const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
  const double v = static_cast<double>(random() >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

// `shape` is one of shapes(). Planted: one in five is another one plus noise of some strength.
inline Series make_series(const std::string& shape, std::size_t n, std::size_t w,
                          std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Series series;
  for (std::size_t s = 0; s < n; ++s) {
    std::vector<double> x(w);
    double level = 0;
    const double period = 2 + static_cast<double>(random() % w) / 4;
    const double phase = static_cast<double>(random() % 8);
    for (std::size_t i = 0; i < w; ++i) {
      const double step = gaussian(random);
      level += step;
      if (shape == "noise" || shape == "planted noise") x[i] = step;
      if (shape == "walk" || shape == "planted walk" || shape == "near-duplicates") x[i] = level;
      if (shape == "sine") x[i] = std::sin(static_cast<double>(i) / period + phase);
      if (shape == "constant and noise") x[i] = s % 3 == 0 ? 7.25 : 100 + 1e-9 * step;
      if (shape == "huge") x[i] = 1e300 * std::sin(level);
      if (shape == "tiny") x[i] = 1e-310 * std::sin(level);
      if (shape == "mixed scales")
        x[i] = std::ldexp(std::sin(level), static_cast<int>(s % 200) * 10 - 1000);
      if (shape == "high level") x[i] = 1e9 + static_cast<double>(random() % 2);
      if (shape == "few values") x[i] = static_cast<double>(random() % 3 == 0);
      if (shape == "one spike") x[i] = i == random() % w ? 1e6 : step * 1e-3;
    }
    const bool planted = shape.starts_with("planted") && s > 0 && s % 5 == 0;
    if (planted || (shape == "near-duplicates" && s > 0)) {
      const std::vector<double>& other =
          series[random() % (planted ? s : std::min<std::size_t>(s, 3))];
      const double mean = std::accumulate(other.begin(), other.end(), 0.0) / static_cast<double>(w);
      double norm = 0;
      for (const double value : other) norm += (value - mean) * (value - mean);
      const double noise = (planted ? std::pow(2.0, -static_cast<double>(random() % 6)) : 1e-7) *
                           std::sqrt(norm / static_cast<double>(w));
      const double sign = random() % 4 == 0 ? -1 : 1;
      for (std::size_t i = 0; i < w; ++i) x[i] = sign * other[i] + noise * gaussian(random);
    }
    series.push_back(std::move(x));
  }
  return series;
}

inline std::vector<std::string> shapes() {
  return {"noise",
          "walk",
          "planted noise",
          "planted walk",
          "near-duplicates",
          "sine",
          "constant and noise",
          "huge",
          "tiny",
          "mixed scales",
          "high level",
          "few values",
          "one spike"};
}

// Series with their coefficients, as the engine passes them.
class SearchInput {
 public:
  SearchInput(Series series, std::size_t coefficients) : series_(std::move(series)) {
    const std::size_t w = series_.empty() ? 8 : series_[0].size();
    for (const std::vector<double>& x : series_) {
      const auto synopsis = make("DFT", {static_cast<double>(w), static_cast<double>(w),
                                         static_cast<double>(coefficients)});
      Values values;
      for (const double value : x) values.add(value);
      values.feed(*synopsis);
      const auto& dft = dynamic_cast<const Dft&>(*synopsis);
      error_ = dft.coefficient_error();
      coefficients_.push_back(dft.window().coefficients);
    }
    for (std::size_t i = 0; i < series_.size(); ++i)
      windows_.push_back({series_[i], coefficients_[i]});
  }
  std::span<const SearchWindow> windows() const { return windows_; }
  const Series& series() const { return series_; }
  double error() const { return error_; }
  // The windows in another order: window i of the result is order[i] of this.
  std::vector<SearchWindow> in_order(const std::vector<std::uint32_t>& order) const {
    std::vector<SearchWindow> result;
    for (const std::uint32_t i : order) result.push_back(windows_[i]);
    return result;
  }

 private:
  Series series_;
  std::vector<std::vector<std::complex<double>>> coefficients_;
  std::vector<SearchWindow> windows_;
  double error_ = 0;
};

inline void serially(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}
inline ForEach shuffled(std::uint64_t seed) {
  return [seed](std::size_t n, const std::function<void(std::size_t)>& body) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    for (const std::size_t i : order) body(i);
  };
}
inline void on_threads(std::size_t n, const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < n; i += 3) body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace weir::synopses
