#include "synopses/correlation.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "synopses/correlation_grid.h"
#include "synopses/correlation_kernel.h"
#include "synopses/correlation_screen.h"

namespace weir::synopses {
namespace {

// Windows for which candidates are counted before a screen is chosen, at least.
constexpr std::size_t kCounted = 128;
// What comparing a pair costs in units of what a screen needs for a group of a pair: an estimate,
// of the order that timings of the parts suggest, not fitted. It decides speed and `compared` only.
constexpr std::uint64_t kCompareCost = 400;
constexpr std::uint64_t kCompareCostAValue = 2;
constexpr std::uint64_t kScreenCost = 3;  // besides its groups
constexpr std::size_t kBlock = 64;        // windows of a block of all_pairs; a multiple of four

std::uint64_t pairs_of(std::size_t n) { return n < 2 ? 0 : std::uint64_t{n} * (n - 1) / 2; }

// What one task found, and how many pairs it compared.
struct Share {
  std::vector<FoundPair> pairs;
  std::uint64_t compared = 0;
};

// Whether the tasks of a search have found more than it keeps. Which of them finds out differs,
// that one does depends on the sum alone.
class FoundCount {
 public:
  void add(Share& share, std::size_t before) {
    count_.fetch_add(share.pairs.size() - before, std::memory_order_relaxed);
    if (too_many()) share.pairs.clear();
  }
  bool too_many() const { return count_.load(std::memory_order_relaxed) > kMaxFoundPairs; }

 private:
  std::atomic<std::uint64_t> count_{0};
};

FoundPairs joined(std::vector<Share>& shares, std::size_t n, const FoundCount& found) {
  FoundPairs all;
  all.possible = pairs_of(n);
  all.too_many = found.too_many();
  if (all.too_many) return all;
  std::size_t count = 0;
  for (const Share& share : shares) count += share.pairs.size();
  all.pairs.reserve(count);
  for (Share& share : shares) {
    all.pairs.insert(all.pairs.end(), share.pairs.begin(), share.pairs.end());
    all.compared += share.compared;
    share = {};
  }
  std::sort(all.pairs.begin(), all.pairs.end(), [](const FoundPair& x, const FoundPair& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
  return all;
}

std::size_t tasks_of(std::size_t n) { return (n + kTaskWindows - 1) / kTaskWindows; }

// Calls body(first, last) for the parts of [0, n) that one task takes each.
void for_parts(std::size_t n, const ForEach& for_each,
               const std::function<void(std::size_t, std::size_t, std::size_t)>& body) {
  for_each(tasks_of(n), [&](std::size_t task) {
    body(task, task * kTaskWindows, std::min(n, (task + 1) * kTaskWindows));
  });
}

void prefetch(std::span<const double> values) {
  constexpr std::size_t kLine = 8;
  for (std::size_t i = 0; i < values.size(); i += kLine) hwy::Prefetch(values.data() + i);
}

template <class Window>
PreparedWindows prepared(std::span<const Window> windows, double threshold,
                         std::vector<std::uint32_t> order, const ForEach& for_each) {
  PreparedWindows result(windows[0].values.size(), threshold, std::move(order));
  for_parts(windows.size(), for_each, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) {
      // The windows lie anywhere, which the processor cannot foresee.
      if (p + 1 < last) prefetch(windows[result.index(p + 1)].values);
      result.prepare(p, windows[result.index(p)].values);
    }
  });
  return result;
}

// Samples of the windows, evenly spaced: the screen for windows whose coefficients say little.
class Samples {
 public:
  // Their number is such that few pairs of white noise pass: the bound is near normal, with mean
  // 1 - k/w and deviation below √(2k)/w, and stands some three deviations under the threshold.
  static std::size_t count(const PreparedWindows& windows) {
    const auto w = static_cast<double>(windows.window());
    const double root = 2.25 + std::sqrt(5.0625 + std::max(0.0, 1.0 - windows.threshold()) * w);
    return static_cast<std::size_t>(std::ceil(std::min(w, root * root)));
  }

  static Columns of(const PreparedWindows& windows, const ForEach& for_each) {
    const std::size_t k = count(windows);
    Columns columns(windows.size(), (k + 1) / 2);
    const auto value = [&](std::size_t position, std::size_t sample) {
      return sample < k ? windows.row(position)[sample * windows.window() / k] : std::int16_t{0};
    };
    for_parts(windows.size(), for_each, [&](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t p = first; p < last; ++p) {
        std::int64_t squares = 0;
        for (std::size_t s = 0; s < k; s += 2) {
          const std::int16_t x = value(p, s), y = value(p, s + 1);
          columns.set(p, s / 2, x, y);
          squares += x * x + y * y;
        }
        columns.slack(p) = slack(windows.slack(p), squares);
      }
    });
    return columns;
  }

 private:
  // The samples' energy is at least (‖q‖ - e)², e below slack / 2^14; the rest counts half for each
  // of a pair.
  static std::int32_t slack(std::int32_t rounding, std::int64_t squares) {
    if (rounding == kUndefinedSlack) return kUndefinedSlack;
    const double norm = std::max(0.0, std::sqrt(static_cast<double>(squares)) - rounding / kUnit);
    const double rest = std::max(0.0, kUnit * kUnit - norm * norm) / 2.0;
    return slack_of(0.0, rest + rounding);
  }
};

// Calls hit(a, b) for the pairs whose first is one of `chosen` (ascending) and that the columns let
// pass, among the columns of `ranges`.
template <class Hit>
void screen_ranges(const Columns& columns, std::span<const std::uint32_t> chosen,
                   std::span<const std::pair<std::size_t, std::size_t>> ranges, std::int32_t target,
                   const Hit& hit) {
  const std::vector<std::int32_t> gathered = columns.gather(chosen);
  for (const auto& [range_begin, range_end] : ranges) {
    const std::size_t start = std::max<std::size_t>(range_begin, chosen.front());
    for (std::size_t begin = start; begin < range_end; begin += kScreenColumns) {
      const std::size_t end = std::min(range_end, begin + kScreenColumns);
      for (std::size_t q = 0; q < chosen.size(); q += kScreenQueries) {
        const auto queries = chosen.subspan(q, std::min(kScreenQueries, chosen.size() - q));
        if (queries.front() >= end) break;
        columns.screen_later(queries, gathered.data() + q * columns.groups(), begin, end, target,
                             hit);
      }
    }
  }
}

// One of the two ways to find candidates: by the grid and coefficients, or (grid = null) by samples
// of all windows.
struct Candidates {
  const PreparedWindows& windows;
  const Columns& columns;
  const Grid* grid = nullptr;

  // Calls hit(a, b) for candidates with a in [first, last) and among `chosen`; gives back how many
  // pairs were looked at.
  template <class Chosen, class Hit>
  std::uint64_t find(std::size_t first, std::size_t last, const Chosen& chosen,
                     const Hit& hit) const {
    std::uint64_t looked_at = 0;
    std::vector<std::uint32_t> queries;
    std::vector<std::pair<std::size_t, std::size_t>> ranges = {{0, windows.size()}};
    for (std::size_t begin = first; begin < last;) {
      const std::size_t end = grid == nullptr ? last : std::min(last, grid->cell_end(begin));
      queries.clear();
      for (std::size_t p = begin; p < end; ++p) {
        if (chosen(p)) queries.push_back(static_cast<std::uint32_t>(p));
      }
      if (!queries.empty()) {
        if (grid != nullptr) ranges = grid->later_neighbours(begin);
        for (const auto& [from, to] : ranges) {
          for (const std::uint32_t q : queries) {
            looked_at += to - std::min<std::size_t>(to, std::max<std::size_t>(from, q + 1));
          }
        }
        screen_ranges(columns, queries, ranges, windows.target(), hit);
      }
      begin = end;
    }
    return looked_at;
  }

  // What a search this way costs, as far as a part of the windows tells.
  std::uint64_t cost(const Grid& hashes, const ForEach& for_each) const {
    const std::uint64_t one_in =
        std::bit_floor(std::max<std::size_t>(1, windows.size() / kCounted));
    const auto chosen = [&](std::size_t p) { return hashes.hash(p) % one_in == 0; };
    std::vector<std::uint64_t> costs(tasks_of(windows.size()));
    for_parts(windows.size(), for_each, [&](std::size_t task, std::size_t first, std::size_t last) {
      std::uint64_t passed = 0;
      const std::uint64_t looked_at =
          find(first, last, chosen, [&](std::size_t, std::size_t) { ++passed; });
      costs[task] = looked_at * (kScreenCost + columns.groups()) +
                    passed * (kCompareCost + kCompareCostAValue * windows.window());
    });
    return std::accumulate(costs.begin(), costs.end(), std::uint64_t{0}) * one_in;
  }

  FoundPairs search(const ForEach& for_each) const {
    std::vector<Share> shares(tasks_of(windows.size()));
    FoundCount found;
    for_parts(windows.size(), for_each, [&](std::size_t task, std::size_t first, std::size_t last) {
      Share share;
      std::vector<std::uint32_t> others;
      std::size_t query = first;
      const auto compare = [&] {
        share.compared += others.size();
        const std::size_t before = share.pairs.size();
        if (!found.too_many()) windows.compare(query, others, share.pairs);
        found.add(share, before);
        others.clear();
      };
      find(
          first, last, [](std::size_t) { return true; },
          [&](std::size_t a, std::size_t b) {
            if (a != query) compare();
            query = a;
            others.push_back(static_cast<std::uint32_t>(b));
          });
      compare();
      shares[task] = std::move(share);
    });
    return joined(shares, windows.size(), found);
  }
};

// acos(x)/π for x in [-1, 1] by halving the angle and a series, without the C library's functions,
// whose last bits differ.
double angle(double x) {
  if (x <= -1.0) return 1.0;
  // tan(acos(x)/2); acos(x) = 2·atan of it, and each step below halves the angle once more.
  double t = std::sqrt((1.0 - x) / (1.0 + x));
  if (t > 1.0) return 1.0 - angle(-x);
  double factor = 2.0;
  for (int i = 0; i < 4; ++i, factor *= 2.0) t /= 1.0 + std::sqrt(1.0 + t * t);
  double sum = 0.0;
  for (int k = 12; k >= 0; --k) sum = 1.0 / (2 * k + 1) - t * t * sum;
  return factor * t * sum / 3.14159265358979323846;
}

}  // namespace

double correlation_of(std::span<const double> a, std::span<const double> b) {
  std::vector<double> copy_a, copy_b;
  return correlation_of(centred_of(a, copy_a), centred_of(b, copy_b), a.size());
}

FoundPairs correlated_pairs(std::span<const SearchWindow> windows, double threshold,
                            double coefficient_error, const ForEach& for_each) {
  if (windows.size() < 2 || !(threshold <= 1.0)) return {{}, 0, pairs_of(windows.size())};
  const Grid grid(windows, threshold, coefficient_error);
  const PreparedWindows ready = prepared(windows, threshold, grid.order(), for_each);
  const Candidates by_grid{ready, grid.columns(), &grid};
  const std::uint64_t grid_cost = by_grid.cost(grid, for_each);
  // What screening by samples costs at least.
  const std::uint64_t least =
      pairs_of(windows.size()) * (kScreenCost + (Samples::count(ready) + 1) / 2);
  if (grid_cost <= least) return by_grid.search(for_each);
  const Columns samples = Samples::of(ready, for_each);
  const Candidates by_samples{ready, samples};
  return by_samples.cost(grid, for_each) < grid_cost ? by_samples.search(for_each)
                                                     : by_grid.search(for_each);
}

FoundPairs all_pairs(std::span<const SearchWindow> windows, double threshold,
                     const ForEach& for_each) {
  const std::size_t n = windows.size();
  if (n < 2) return {{}, 0, 0};
  const std::size_t w = windows[0].values.size();
  const std::size_t stride = (w + kDotLanes - 1) / kDotLanes * kDotLanes;
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  core::Array<double> rows;
  rows.resize(blocks * kBlock * stride);
  std::vector<double> inverse(blocks * kBlock, std::numeric_limits<double>::quiet_NaN());
  for_each(blocks, [&](std::size_t block) {
    std::vector<double> copy;
    for (std::size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
      const Centred window = i < n ? centred_of(windows[i].values, copy) : Centred{};
      if (i >= n || std::isnan(window.inverse)) {
        std::fill_n(rows.data() + i * stride, stride, 0.0);
        continue;
      }
      inverse[i] = window.inverse;
      centre(window, w, rows.data() + i * stride);
    }
  });
  std::vector<Share> shares(blocks * (blocks + 1) / 2);
  for_each(shares.size(), [&](std::size_t task) {
    // Task r(r+1)/2 + c is the block of rows r and columns c <= r.
    std::size_t r =
        static_cast<std::size_t>((std::sqrt(8.0 * static_cast<double>(task) + 1) - 1) / 2);
    while (r * (r + 1) / 2 > task) --r;
    while ((r + 1) * (r + 2) / 2 <= task) ++r;
    const std::size_t c = task - r * (r + 1) / 2;
    double dots[16];
    for (std::size_t i = r * kBlock; i < std::min(n, (r + 1) * kBlock); i += 4) {
      for (std::size_t j = c * kBlock; j < std::min(i + 4, (c + 1) * kBlock); j += 4) {
        dot_tile(rows.data() + i * stride, rows.data() + j * stride, stride, dots);
        for (std::size_t k = 0; k < 16; ++k) {
          const std::size_t b = i + k / 4, a = j + k % 4;
          const double correlation = std::clamp(dots[k] * (inverse[a] * inverse[b]), -1.0, 1.0);
          if (a < b && correlation >= threshold) {
            shares[task].pairs.push_back(
                {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), correlation});
          }
        }
      }
    }
  });
  FoundPairs all = joined(shares, n, FoundCount());
  all.compared = all.possible;
  return all;
}

std::uint64_t max_distance(unsigned bits, double threshold, double miss) {
  const double p = angle(std::clamp(threshold, -1.0, 1.0));
  const double n = bits;
  if (p <= 0.0) return 0;
  if (p >= 1.0) return bits;
  // Probabilities relative to that of a value near the mean, from there both ways.
  std::vector<double> weights(bits + std::size_t{1});
  const auto middle = static_cast<std::size_t>(n * p);
  const double odds = p / (1.0 - p);
  weights[middle] = 1.0;
  for (std::size_t k = middle; k < bits; ++k) {
    const auto at = static_cast<double>(k);
    weights[k + 1] = weights[k] * ((n - at) / (at + 1.0)) * odds;
  }
  for (std::size_t k = middle; k > 0; --k) {
    const auto at = static_cast<double>(k);
    weights[k - 1] = weights[k] * (at / (n - at + 1.0)) / odds;
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double above = 0.0;
  for (std::size_t h = bits; h > 0; --h) {
    above += weights[h];
    if (!(above <= miss * total)) return h;
  }
  return 0;
}

FoundPairs similar_pairs(std::span<const SignedWindow> windows, unsigned bits, double threshold,
                         double miss, const ForEach& for_each) {
  const std::size_t n = windows.size();
  if (n < 2 || !(threshold <= 1.0)) return {{}, 0, pairs_of(n)};
  const std::uint64_t distance = max_distance(bits, threshold, miss);
  std::vector<std::uint64_t> ones;
  for (const SignedWindow& window : windows) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : window.signature) sum += std::popcount(word);
    ones.push_back(sum);
  }
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(ones[a], a) < std::tie(ones[b], b);
  });
  const std::size_t words = windows[0].signature.size();
  const std::size_t stride = n + kColumnPad;
  core::Array<std::uint64_t> columns;
  columns.resize(words * stride);
  std::fill(columns.begin(), columns.end(), std::uint64_t{0});
  std::vector<std::uint64_t> sorted_ones;
  for (std::size_t p = 0; p < n; ++p) {
    sorted_ones.push_back(ones[order[p]]);
    for (std::size_t i = 0; i < words; ++i) {
      columns[i * stride + p] = windows[order[p]].signature[i];
    }
  }
  const PreparedWindows ready = prepared(windows, threshold, std::move(order), for_each);
  std::vector<Share> shares(tasks_of(n));
  FoundCount counted;
  for_parts(n, for_each, [&](std::size_t task, std::size_t first, std::size_t last) {
    Share share;
    std::vector<std::uint32_t> hits(n + 1);
    for (std::size_t p = first; p < last; ++p) {
      const auto end =
          std::upper_bound(sorted_ones.begin(), sorted_ones.end(), sorted_ones[p] + distance) -
          sorted_ones.begin();
      const std::size_t found =
          screen_signatures(windows[ready.index(p)].signature, columns.data(), stride, distance,
                            p + 1, std::max(p + 1, static_cast<std::size_t>(end)), hits.data());
      share.compared += found;
      const std::size_t before = share.pairs.size();
      if (!counted.too_many()) ready.compare(p, std::span(hits).first(found), share.pairs);
      counted.add(share, before);
    }
    shares[task] = std::move(share);
  });
  return joined(shares, n, counted);
}

}  // namespace weir::synopses
