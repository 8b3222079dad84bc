#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "hierarchy/cell.h"

namespace weir::hierarchy {
namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

void expect_equal(const Folded& a, const Folded& b, const std::string& what) {
  EXPECT_EQ(bits(a.cell.sum), bits(b.cell.sum)) << what;
  EXPECT_EQ(bits(a.cell.min), bits(b.cell.min)) << what;
  EXPECT_EQ(bits(a.cell.max), bits(b.cell.max)) << what;
  EXPECT_EQ(bits(a.cell.present), bits(b.cell.present)) << what;
  EXPECT_EQ(a.with_value, b.with_value) << what;
}

void expect_alike_on_every_target(const std::vector<Cell>& cells) {
  const auto n = static_cast<std::uint32_t>(cells.size());
  const Folded expected = fold_scalar(cells.data(), n);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    expect_equal(fold(cells.data(), n), expected,
                 std::string(hwy::TargetName(target)) + " of " + std::to_string(n));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Cells of groups and sensors, some empty. What stands behind them must not matter.
std::vector<Cell> random_cells(std::mt19937_64& random, std::uint32_t n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double magnitudes[] = {1e16, 1e-3, 1e9, 1e308, 5e-324, 0, kInfinity};
  std::vector<Cell> cells;
  const bool infinite = random() % 4 == 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double sign = random() % 2 == 0 ? 1 : -1;
    double x = magnitudes[random() % (infinite ? 7 : 6)] * sign;
    if (x != 0 && std::isfinite(x)) x *= unit;
    x += 0.0;
    if (random() % 4 == 0) {
      cells.emplace_back();
    } else if (std::isfinite(x) && random() % 2 == 0) {
      cells.push_back(Cell::of(x));
    } else {
      cells.push_back({x, -1e300, unit, static_cast<double>(1 + random() % 100)});
    }
  }
  return cells;
}

TEST(Fold, EqualsItsScalarTwinOnEveryTargetForEveryNumberOfCells) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t n = 0; n <= kFanOut; ++n) {
      std::vector<Cell> cells = random_cells(random, n + 16);
      cells.resize(n);
      expect_alike_on_every_target(cells);
    }
  }
}

TEST(Fold, AddsByHalves) {
  std::mt19937_64 random(2);
  for (std::uint32_t n = 0; n <= kFanOut; ++n) {
    double x[16] = {};
    std::vector<Cell> cells;
    for (std::uint32_t i = 0; i < n; ++i) {
      x[i] = static_cast<double>(random() % 1000) * (i % 3 == 0 ? 1e14 : 1e-3);
      cells.push_back(Cell::of(x[i]));
    }
    const double sum = (((x[0] + x[8]) + (x[4] + x[12])) + ((x[2] + x[10]) + (x[6] + x[14]))) +
                       (((x[1] + x[9]) + (x[5] + x[13])) + ((x[3] + x[11]) + (x[7] + x[15])));
    EXPECT_EQ(bits(fold(cells.data(), n).cell.sum), bits(sum)) << n;
    EXPECT_EQ(fold(cells.data(), n).with_value, n);
  }
}

TEST(Fold, OfNothingIsTheEmptyCell) {
  const std::vector<Cell> cells(kFanOut);
  for (std::uint32_t n = 0; n <= kFanOut; ++n) {
    expect_equal(fold(cells.data(), n), Folded{}, std::to_string(n));
  }
}

TEST(Fold, GivesTheSameNanWhereverInfinitiesMeet) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::uint32_t n = 2; n <= kFanOut; ++n) {
    std::vector<Cell> cells(n, Cell::of(1));
    cells.front().sum = kInfinity;
    cells.back().sum = -kInfinity;
    expect_alike_on_every_target(cells);
    EXPECT_EQ(bits(fold(cells.data(), n).cell.sum), bits(std::numeric_limits<double>::quiet_NaN()));
    cells.front().sum = fold(cells.data(), n).cell.sum;
    expect_alike_on_every_target(cells);
  }
}

}  // namespace
}  // namespace weir::hierarchy
