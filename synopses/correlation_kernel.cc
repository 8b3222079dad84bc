#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synopses/correlation_kernel.cc"
#include <hwy/foreach_target.h>  // compiles the kernels below once for each target
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "synopses/correlation_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace weir::synopses {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One vector of lanes, or several side by side, that hold the eight lanes of a sum.
using Tag = hn::CappedTag<double, kDotLanes>;
using Vec = hn::Vec<Tag>;
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
constexpr std::size_t kWidth = hn::MaxLanes(Tag());
constexpr std::size_t kParts = kDotLanes / kWidth;

HWY_INLINE double AddLanes(const Vec* HWY_RESTRICT sums) {
  HWY_ALIGN double lanes[kDotLanes];
  for (std::size_t p = 0; p < kParts; ++p) hn::Store(sums[p], Tag(), lanes + p * kWidth);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// Reads a window centred.
struct Reader {
  explicit Reader(const Centred& window)
      : values(window.values),
        reference(hn::Set(Tag(), window.reference)),
        mean(hn::Set(Tag(), window.mean)) {}
  HWY_INLINE Vec At(std::size_t i) const {
    return hn::Sub(hn::Sub(hn::LoadU(Tag(), values + i), reference), mean);
  }
  const double* HWY_RESTRICT values;
  Vec reference, mean;
};

// The last values of a window, n mod 8 of them, centred, followed by zeros.
HWY_INLINE void Tail(const Centred& window, std::size_t n, double* HWY_RESTRICT into) {
  const std::size_t whole = n / kDotLanes * kDotLanes;
  for (std::size_t i = 0; i < kDotLanes; ++i) {
    into[i] = whole + i < n ? (window.values[whole + i] - window.reference) - window.mean : 0.0;
  }
}

WindowMoments MomentsOf(const double* HWY_RESTRICT values, std::size_t n, double reference) {
  const Tag d;
  const auto r = hn::Set(d, reference);
  Vec min[kParts], max[kParts], sum[kParts];
  for (std::size_t p = 0; p < kParts; ++p) {
    min[p] = max[p] = r;
    sum[p] = hn::Zero(d);
  }
  const auto take = [&](const double* HWY_RESTRICT from) HWY_ATTR {
    for (std::size_t p = 0; p < kParts; ++p) {
      const auto x = hn::LoadU(d, from + p * kWidth);
      min[p] = hn::Min(min[p], x);
      max[p] = hn::Max(max[p], x);
      sum[p] = hn::Add(sum[p], hn::Sub(x, r));
    }
  };
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) take(values + i);
  if (i != n) {
    HWY_ALIGN double rest[kDotLanes];
    for (std::size_t j = 0; j < kDotLanes; ++j) rest[j] = i + j < n ? values[i + j] : reference;
    take(rest);
  }
  for (std::size_t p = 1; p < kParts; ++p) {
    min[0] = hn::Min(min[0], min[p]);
    max[0] = hn::Max(max[0], max[p]);
  }
  return {hn::GetLane(hn::MinOfLanes(d, min[0])), hn::GetLane(hn::MaxOfLanes(d, max[0])),
          AddLanes(sum)};
}

double SquaresOf(const Centred& window, std::size_t n) {
  const Reader x(window);
  Vec sum[kParts];
  for (std::size_t p = 0; p < kParts; ++p) sum[p] = hn::Zero(Tag());
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) {
    for (std::size_t p = 0; p < kParts; ++p) {
      const auto c = x.At(i + p * kWidth);
      sum[p] = hn::Add(sum[p], hn::Mul(c, c));
    }
  }
  if (i != n) {
    HWY_ALIGN double rest[kDotLanes];
    Tail(window, n, rest);
    for (std::size_t p = 0; p < kParts; ++p) {
      const auto c = hn::Load(Tag(), rest + p * kWidth);
      sum[p] = hn::Add(sum[p], hn::Mul(c, c));
    }
  }
  return AddLanes(sum);
}

double DotOf(const Centred& a, const Centred& b, std::size_t n) {
  const Reader x(a), y(b);
  Vec sum[kParts];
  for (std::size_t p = 0; p < kParts; ++p) sum[p] = hn::Zero(Tag());
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) {
    for (std::size_t p = 0; p < kParts; ++p) {
      sum[p] = hn::Add(sum[p], hn::Mul(x.At(i + p * kWidth), y.At(i + p * kWidth)));
    }
  }
  if (i != n) {
    HWY_ALIGN double rest_a[kDotLanes], rest_b[kDotLanes];
    Tail(a, n, rest_a);
    Tail(b, n, rest_b);
    for (std::size_t p = 0; p < kParts; ++p) {
      sum[p] = hn::Add(sum[p], hn::Mul(hn::Load(Tag(), rest_a + p * kWidth),
                                       hn::Load(Tag(), rest_b + p * kWidth)));
    }
  }
  return AddLanes(sum);
}

void Centre(const Centred& window, std::size_t n, double* HWY_RESTRICT into) {
  const Reader x(window);
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) {
    for (std::size_t p = 0; p < kDotLanes; p += kWidth)
      hn::StoreU(x.At(i + p), Tag(), into + i + p);
  }
  if (i != n) Tail(window, n, into + i);
}

// A kSide × kSide part of the tile, as large as the registers hold.
template <std::size_t kSide>
HWY_INLINE void DotSquare(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b,
                          std::size_t stride, double* HWY_RESTRICT dots) {
  Vec sums[kSide][kSide][kParts];
  for (auto& row : sums) {
    for (auto& sum : row) {
      for (auto& part : sum) part = hn::Zero(Tag());
    }
  }
  for (std::size_t i = 0; i < stride; i += kDotLanes) {
    for (std::size_t p = 0; p < kParts; ++p) {
      Vec y[kSide];
      for (std::size_t c = 0; c < kSide; ++c)
        y[c] = hn::LoadU(Tag(), b + c * stride + i + p * kWidth);
      for (std::size_t r = 0; r < kSide; ++r) {
        const Vec x = hn::LoadU(Tag(), a + r * stride + i + p * kWidth);
        for (std::size_t c = 0; c < kSide; ++c) {
          sums[r][c][p] = hn::Add(sums[r][c][p], hn::Mul(x, y[c]));
        }
      }
    }
  }
  for (std::size_t r = 0; r < kSide; ++r) {
    for (std::size_t c = 0; c < kSide; ++c) dots[4 * r + c] = AddLanes(sums[r][c]);
  }
}

void DotTile(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t stride,
             double* HWY_RESTRICT dots) {
  constexpr std::size_t kSide = kParts == 1 ? 4 : kParts == 2 ? 2 : 1;
  for (std::size_t r = 0; r < 4; r += kSide) {
    for (std::size_t c = 0; c < 4; c += kSide) {
      DotSquare<kSide>(a + r * stride, b + c * stride, stride, dots + 4 * r + c);
    }
  }
}

double Quantise(const Centred& window, std::size_t n, double factor,
                std::int16_t* HWY_RESTRICT row) {
  const Tag d;
  const hn::Rebind<std::int32_t, Tag> d32;
  const hn::Rebind<std::int16_t, Tag> d16;
  const Reader x(window);
  const auto by = hn::Set(d, factor);
  Vec errors[kParts];
  for (std::size_t p = 0; p < kParts; ++p) errors[p] = hn::Zero(d);
  const auto take = [&](Vec centred, std::size_t p, std::int16_t* HWY_RESTRICT into) HWY_ATTR {
    const auto v = hn::Mul(centred, by);
    const auto q = hn::Round(v);
    const auto error = hn::Sub(v, q);
    errors[p] = hn::Add(errors[p], hn::Mul(error, error));
    hn::StoreU(hn::DemoteTo(d16, hn::DemoteTo(d32, q)), d16, into);
  };
  std::size_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) {
    for (std::size_t p = 0; p < kParts; ++p) take(x.At(i + p * kWidth), p, row + i + p * kWidth);
  }
  if (i != n) {
    HWY_ALIGN double rest[kDotLanes];
    Tail(window, n, rest);
    for (std::size_t p = 0; p < kParts; ++p) {
      take(hn::Load(d, rest + p * kWidth), p, row + i + p * kWidth);
    }
    i += kDotLanes;
  }
  std::fill(row + i, row + (n + kRowPad - 1) / kRowPad * kRowPad, std::int16_t{0});
  return AddLanes(errors);
}

std::size_t ScreenColumns(const Screen& with, const ScreenQueries& queries, std::size_t begin,
                          std::size_t end, std::uint32_t* HWY_RESTRICT hits) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t found = 0;
  const std::int32_t* HWY_RESTRICT q0 = queries.groups[0];
  const std::int32_t* HWY_RESTRICT q1 = queries.groups[1];
  const std::int32_t* HWY_RESTRICT q2 = queries.groups[2];
  const std::int32_t* HWY_RESTRICT q3 = queries.groups[3];
  const auto products = [&](std::int32_t query, auto column) HWY_ATTR {
    const auto x = hn::BitCast(d16, hn::Set(d, query));
    auto high = hn::Zero(d);
    const auto low = hn::ReorderWidenMulAccumulate(d, x, column, hn::Zero(d), high);
    return hn::RearrangeToOddPlusEven(low, high);
  };
  const auto report = [&](auto sum, std::size_t query, std::size_t c) HWY_ATTR {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Not(hn::Lt(sum, hn::Zero(d))), bytes);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i) bits |= std::uint64_t{bytes[i]} << (8 * i);
    if (end - c < lanes) bits &= (std::uint64_t{1} << (end - c)) - 1;
    for (; bits != 0; bits &= bits - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(bits));
      hits[found++] = static_cast<std::uint32_t>(query << 24 | (c + at - begin));
    }
  };
  // Two vectors of columns at a time; the second may lie in the padding.
  for (std::size_t c = begin; c < end; c += 2 * lanes) {
    const auto slack0 = hn::LoadU(d, with.slack + c);
    const auto slack1 = hn::LoadU(d, with.slack + c + lanes);
    auto a0 = hn::Add(slack0, hn::Set(d, queries.base[0]));
    auto a1 = hn::Add(slack0, hn::Set(d, queries.base[1]));
    auto a2 = hn::Add(slack0, hn::Set(d, queries.base[2]));
    auto a3 = hn::Add(slack0, hn::Set(d, queries.base[3]));
    auto b0 = hn::Add(slack1, hn::Set(d, queries.base[0]));
    auto b1 = hn::Add(slack1, hn::Set(d, queries.base[1]));
    auto b2 = hn::Add(slack1, hn::Set(d, queries.base[2]));
    auto b3 = hn::Add(slack1, hn::Set(d, queries.base[3]));
    const std::int32_t* HWY_RESTRICT column = with.columns + c;
    for (std::size_t g = 0; g < with.groups; ++g, column += with.stride) {
      const auto x = hn::BitCast(d16, hn::LoadU(d, column));
      const auto y = hn::BitCast(d16, hn::LoadU(d, column + lanes));
      a0 = hn::Add(a0, products(q0[g], x));
      b0 = hn::Add(b0, products(q0[g], y));
      a1 = hn::Add(a1, products(q1[g], x));
      b1 = hn::Add(b1, products(q1[g], y));
      a2 = hn::Add(a2, products(q2[g], x));
      b2 = hn::Add(b2, products(q2[g], y));
      a3 = hn::Add(a3, products(q3[g], x));
      b3 = hn::Add(b3, products(q3[g], y));
    }
    const auto best = hn::Max(hn::Max(hn::Max(a0, a1), hn::Max(a2, a3)),
                              hn::Max(hn::Max(b0, b1), hn::Max(b2, b3)));
    if (hn::AllTrue(d, hn::Lt(best, hn::Zero(d)))) continue;
    report(a0, 0, c);
    report(a1, 1, c);
    report(a2, 2, c);
    report(a3, 3, c);
    if (c + lanes >= end) break;
    report(b0, 0, c + lanes);
    report(b1, 1, c + lanes);
    report(b2, 2, c + lanes);
    report(b3, 3, c + lanes);
  }
  return found;
}

std::size_t ScreenRows(const std::int16_t* HWY_RESTRICT row, const std::int16_t* rows,
                       std::size_t stride, std::int32_t base, const std::int32_t* slack,
                       std::span<const std::uint32_t> candidates, std::uint32_t* kept) {
  const hn::CappedTag<std::int16_t, kRowPad> d16;
  const hn::RepartitionToWide<decltype(d16)> d;
  const std::size_t lanes = hn::Lanes(d16);
  std::size_t count = 0;
  for (const std::uint32_t c : candidates) {
    const std::int16_t* HWY_RESTRICT other = rows + c * stride;
    auto low = hn::Zero(d), high = hn::Zero(d), low1 = hn::Zero(d), high1 = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 2 * lanes <= stride; i += 2 * lanes) {
      low = hn::ReorderWidenMulAccumulate(d, hn::LoadU(d16, row + i), hn::LoadU(d16, other + i),
                                          low, high);
      low1 = hn::ReorderWidenMulAccumulate(d, hn::LoadU(d16, row + i + lanes),
                                           hn::LoadU(d16, other + i + lanes), low1, high1);
    }
    if (i < stride) {
      low = hn::ReorderWidenMulAccumulate(d, hn::LoadU(d16, row + i), hn::LoadU(d16, other + i),
                                          low, high);
    }
    const auto sums = hn::Add(hn::Add(low, high), hn::Add(low1, high1));
    const std::int32_t sum = hn::GetLane(hn::SumOfLanes(d, sums));
    kept[count] = c;
    count += sum + base + slack[c] >= 0;
  }
  return count;
}

std::size_t ScreenSignatures(std::span<const std::uint64_t> words, const std::uint64_t* columns,
                             std::size_t stride, std::uint64_t distance, std::size_t begin,
                             std::size_t end, std::uint32_t* HWY_RESTRICT hits) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::uint64_t distances[hn::MaxLanes(hn::ScalableTag<std::uint64_t>())];
  std::size_t found = 0;
  for (std::size_t c = begin; c < end; c += lanes) {
    auto sum = hn::Zero(d);
    for (std::size_t w = 0; w < words.size(); ++w) {
      const auto x = hn::Xor(hn::Set(d, words[w]), hn::LoadU(d, columns + w * stride + c));
      sum = hn::Add(sum, hn::PopulationCount(x));
    }
    hn::Store(sum, d, distances);
    for (std::size_t i = 0; i < std::min(lanes, end - c); ++i) {
      hits[found] = static_cast<std::uint32_t>(c + i);
      found += distances[i] <= distance;
    }
  }
  return found;
}
#else
// One lane, or a number of lanes that the compiler does not know: the scalar twins.
WindowMoments MomentsOf(const double* values, std::size_t n, double reference) {
  return moments_of_scalar(values, n, reference);
}
double SquaresOf(const Centred& window, std::size_t n) { return squares_of_scalar(window, n); }
double DotOf(const Centred& a, const Centred& b, std::size_t n) { return dot_of_scalar(a, b, n); }
void Centre(const Centred& window, std::size_t n, double* into) {
  for (std::size_t i = 0; i < (n + kDotLanes - 1) / kDotLanes * kDotLanes; ++i) {
    into[i] = i < n ? (window.values[i] - window.reference) - window.mean : 0.0;
  }
}
void DotTile(const double* a, const double* b, std::size_t stride, double* dots) {
  dot_tile_scalar(a, b, stride, dots);
}
double Quantise(const Centred& window, std::size_t n, double factor, std::int16_t* row) {
  return quantise_scalar(window, n, factor, row);
}
std::size_t ScreenColumns(const Screen& with, const ScreenQueries& queries, std::size_t begin,
                          std::size_t end, std::uint32_t* hits) {
  return screen_scalar(with, queries, begin, end, hits);
}
std::size_t ScreenRows(const std::int16_t* row, const std::int16_t* rows, std::size_t stride,
                       std::int32_t base, const std::int32_t* slack,
                       std::span<const std::uint32_t> candidates, std::uint32_t* kept) {
  return screen_rows_scalar(row, rows, stride, base, slack, candidates, kept);
}
std::size_t ScreenSignatures(std::span<const std::uint64_t> words, const std::uint64_t* columns,
                             std::size_t stride, std::uint64_t distance, std::size_t begin,
                             std::size_t end, std::uint32_t* hits) {
  return screen_signatures_scalar(words, columns, stride, distance, begin, end, hits);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace weir::synopses
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::synopses {

HWY_EXPORT(MomentsOf);
HWY_EXPORT(SquaresOf);
HWY_EXPORT(DotOf);
HWY_EXPORT(Centre);
HWY_EXPORT(DotTile);
HWY_EXPORT(Quantise);
HWY_EXPORT(ScreenColumns);
HWY_EXPORT(ScreenRows);
HWY_EXPORT(ScreenSignatures);

WindowMoments moments_of(const double* values, std::size_t n, double reference) {
  return HWY_DYNAMIC_DISPATCH(MomentsOf)(values, n, reference);
}
double squares_of(const Centred& window, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(SquaresOf)(window, n);
}
double dot_of(const Centred& a, const Centred& b, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(DotOf)(a, b, n);
}
void centre(const Centred& window, std::size_t n, double* into) {
  HWY_DYNAMIC_DISPATCH(Centre)(window, n, into);
}
void dot_tile(const double* a, const double* b, std::size_t stride, double* dots) {
  HWY_DYNAMIC_DISPATCH(DotTile)(a, b, stride, dots);
}
double quantise(const Centred& window, std::size_t n, double factor, std::int16_t* row) {
  return HWY_DYNAMIC_DISPATCH(Quantise)(window, n, factor, row);
}
std::size_t screen(const Screen& with, const ScreenQueries& queries, std::size_t begin,
                   std::size_t end, std::uint32_t* hits) {
  return HWY_DYNAMIC_DISPATCH(ScreenColumns)(with, queries, begin, end, hits);
}
std::size_t screen_rows(const std::int16_t* row, const std::int16_t* rows, std::size_t stride,
                        std::int32_t base, const std::int32_t* slack,
                        std::span<const std::uint32_t> candidates, std::uint32_t* kept) {
  return HWY_DYNAMIC_DISPATCH(ScreenRows)(row, rows, stride, base, slack, candidates, kept);
}
std::size_t screen_signatures(std::span<const std::uint64_t> words, const std::uint64_t* columns,
                              std::size_t stride, std::uint64_t distance, std::size_t begin,
                              std::size_t end, std::uint32_t* hits) {
  return HWY_DYNAMIC_DISPATCH(ScreenSignatures)(words, columns, stride, distance, begin, end, hits);
}

}  // namespace weir::synopses
#endif  // HWY_ONCE
