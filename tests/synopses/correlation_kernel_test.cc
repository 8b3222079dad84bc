#include "synopses/correlation_kernel.h"

#include "synopses/correlation_screen.h"
#include "tests/synopses/correlation_windows.h"

namespace weir::synopses {
namespace {

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> hits, std::size_t count) {
  hits.resize(count);
  std::sort(hits.begin(), hits.end());
  return hits;
}

TEST(CorrelationKernel, SumsEqualTheirScalarTwinsOnEveryTargetAtEveryRemainder) {
  for (std::size_t w = 1; w <= 70; ++w) {
    const Series series = make_series("walk", 8, w, w);
    std::vector<Centred> windows;
    for (const auto& x : series) {
      windows.push_back({x.data(), x[0], x.back() / 3, 0.1});
    }
    const std::size_t stride = (w + kDotLanes - 1) / kDotLanes * kDotLanes;
    std::vector<double> rows(8 * stride), dots(16), expected_dots(16);
    const std::size_t padded = (w + kRowPad - 1) / kRowPad * kRowPad;
    std::vector<std::int16_t> row(padded), expected_row(padded);
    on_every_target([&](const char* target) {
      const WindowMoments moments = moments_of(series[0].data(), w, series[0][0]);
      const WindowMoments expected = moments_of_scalar(series[0].data(), w, series[0][0]);
      EXPECT_EQ(moments.min, expected.min) << target;
      EXPECT_EQ(moments.max, expected.max) << target;
      EXPECT_EQ(moments.sum, expected.sum) << target << ' ' << w;
      EXPECT_EQ(squares_of(windows[0], w), squares_of_scalar(windows[0], w)) << target << ' ' << w;
      EXPECT_EQ(dot_of(windows[0], windows[1], w), dot_of_scalar(windows[0], windows[1], w));
      for (std::size_t i = 0; i < 8; ++i) {
        std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(i * stride), stride, 9.0);
        centre(windows[i], w, rows.data() + i * stride);
      }
      dot_tile(rows.data(), rows.data() + 4 * stride, stride, dots.data());
      dot_tile_scalar(rows.data(), rows.data() + 4 * stride, stride, expected_dots.data());
      EXPECT_EQ(dots, expected_dots) << target << ' ' << w;
      EXPECT_EQ(dots[6], dot_of(windows[1], windows[6], w)) << target << ' ' << w;
      std::fill(row.begin(), row.end(), std::int16_t{5});
      EXPECT_EQ(quantise(windows[0], w, 77.7, row.data()),
                quantise_scalar(windows[0], w, 77.7, expected_row.data()))
          << target << ' ' << w;
      EXPECT_EQ(row, expected_row) << target << ' ' << w;
    });
  }
}

TEST(CorrelationKernel, ScreensEqualTheirScalarTwinsOnEveryTargetAtEveryRemainder) {
  std::mt19937_64 random(1);
  constexpr std::size_t kColumns = 200;
  for (const std::size_t groups : {1u, 2u, 9u, 36u}) {
    const std::size_t stride = kColumns + kColumnPad;
    std::vector<std::int32_t> columns(groups * stride), slack(stride);
    const auto pair = [&] {
      const auto one = [&] { return static_cast<std::uint16_t>(random() % 4001 - 2000); };
      const std::uint32_t low = one(), high = one();
      return static_cast<std::int32_t>(low | high << 16);
    };
    for (auto& c : columns) c = pair();
    for (auto& s : slack) s = static_cast<std::int32_t>(random() % 1'000'000);
    std::vector<std::int32_t> query_groups(4 * groups);
    for (auto& q : query_groups) q = pair();
    ScreenQueries queries{};
    for (std::size_t q = 0; q < 4; ++q) {
      queries.groups[q] = query_groups.data() + q * groups;
      queries.base[q] = q == 2 ? kNoQuery : -3'000'000;
    }
    const Screen with{columns.data(), stride, groups, slack.data()};
    for (std::size_t length = 0; length <= 70; ++length) {
      const std::size_t begin = random() % (kColumns - length);
      std::vector<std::uint32_t> hits(4 * length + 1), expected(4 * length + 1);
      const auto truth =
          sorted(expected, screen_scalar(with, queries, begin, begin + length, expected.data()));
      on_every_target([&](const char* target) {
        const std::size_t found = screen(with, queries, begin, begin + length, hits.data());
        expected.resize(4 * length + 1);
        const std::size_t count =
            screen_scalar(with, queries, begin, begin + length, expected.data());
        EXPECT_EQ(sorted(hits, found), sorted(expected, count)) << target << ' ' << length;
      });
    }
  }
}

TEST(CorrelationKernel, RowsAndSignaturesEqualTheirScalarTwinsOnEveryTarget) {
  std::mt19937_64 random(2);
  for (const std::size_t stride : {32u, 64u, 96u, 512u}) {
    constexpr std::size_t kRows = 40;
    std::vector<std::int16_t> rows(kRows * stride);
    for (auto& x : rows) x = static_cast<std::int16_t>(random() % 2001 - 1000);
    std::vector<std::int32_t> slack(kRows);
    for (auto& s : slack) s = static_cast<std::int32_t>(random() % 2'000'000) - 1'000'000;
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t c = 0; c < kRows; c += 1 + c % 3) candidates.push_back(c);
    std::vector<std::uint32_t> expected(kRows + 1);
    const std::size_t count = screen_rows_scalar(rows.data(), rows.data(), stride, 5, slack.data(),
                                                 candidates, expected.data());
    on_every_target([&](const char* target) {
      std::vector<std::uint32_t> kept(kRows + 1);
      const std::size_t found =
          screen_rows(rows.data(), rows.data(), stride, 5, slack.data(), candidates, kept.data());
      EXPECT_EQ(sorted(kept, found), sorted(expected, count)) << target << ' ' << stride;
    });
  }
  for (const std::size_t words : {1u, 2u, 5u}) {
    const std::size_t stride = 100 + kColumnPad;
    std::vector<std::uint64_t> columns(words * stride), query(words);
    for (auto& x : columns) x = random();
    for (auto& x : query) x = random();
    for (std::size_t length = 0; length < 40; ++length) {
      std::vector<std::uint32_t> hits(length + 1), expected(length + 1);
      const std::uint64_t distance = 32 * words;
      const std::size_t count = screen_signatures_scalar(query, columns.data(), stride, distance, 7,
                                                         7 + length, expected.data());
      on_every_target([&](const char* target) {
        const std::size_t found =
            screen_signatures(query, columns.data(), stride, distance, 7, 7 + length, hits.data());
        EXPECT_EQ(sorted(hits, found), sorted(expected, count)) << target << ' ' << length;
      });
    }
  }
}

}  // namespace
}  // namespace weir::synopses
