#include "synopses/correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::synopses {

double correlation_of(std::span<const double> a, std::span<const double> b) {
  long double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ma += a[i] - a[0], mb += b[i] - b[0];
  ma /= static_cast<long double>(a.size());
  mb /= static_cast<long double>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double x = a[i] - a[0] - ma, y = b[i] - b[0] - mb;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  if (aa == 0 || bb == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(static_cast<double>(ab / std::sqrt(aa * bb)), -1.0, 1.0);
}

namespace {
template <class Window>
FoundPairs brute(std::span<const Window> windows, double threshold) {
  FoundPairs found;
  for (std::uint32_t a = 0; a < windows.size(); ++a) {
    for (std::uint32_t b = a + 1; b < windows.size(); ++b) {
      const double c = correlation_of(windows[a].values, windows[b].values);
      if (c >= threshold) found.pairs.push_back({a, b, c});
      ++found.compared;
      ++found.possible;
    }
  }
  return found;
}
}  // namespace

FoundPairs correlated_pairs(std::span<const SearchWindow> windows, double threshold, double,
                            const ForEach&) {
  return brute(windows, threshold);
}
FoundPairs similar_pairs(std::span<const SignedWindow> windows, unsigned, double threshold, double,
                         const ForEach&) {
  return brute(windows, threshold);
}

}  // namespace weir::synopses
