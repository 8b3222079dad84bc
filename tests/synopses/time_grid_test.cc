#include "synopses/time_grid.h"

#include "tests/synopses/grid_streams.h"

namespace weir::synopses {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(TimeGrid, HandsOverWhatItsDefinitionSays) {
  for (const std::int64_t interval : {1, 7, 1000}) {
    for (const std::int64_t begin : {std::int64_t{-5000}, std::int64_t{0}, kMost / 2}) {
      const TimedStream stream = timed_stream(20'000, 3, interval, begin);
      GridModel model{interval, {}};
      TimeGrid grid(interval);
      std::vector<double> closed;
      for (std::size_t i = 0; i < stream.times.size(); ++i) {
        model.take(stream.times[i], stream.numbers[i]);
        double carried = 0;
        const std::uint64_t count = grid.take(stream.times[i], stream.numbers[i], carried);
        closed.insert(closed.end(), count, carried);
      }
      EXPECT_EQ(grid.open(), model.last.rbegin()->first);
      EXPECT_EQ(grid.value(), model.last.rbegin()->second);
      EXPECT_EQ(grid.refused(), model.refused);
      EXPECT_EQ(grid.taken() + grid.refused(), stream.times.size());
      EXPECT_EQ(closed, *model.values(model.last.begin()->first, grid.open()));
    }
  }
}

TEST(TimeGrid, IntervalsAreHalfOpenAndCountedFromNineteenSeventy) {
  TimeGrid grid(10);
  double carried = 0;
  EXPECT_EQ(grid.take(-1, 1.0, carried), 0u);
  EXPECT_EQ(grid.open(), -1);
  EXPECT_EQ(grid.take(0, 2.0, carried), 1u) << "the border belongs to the later interval";
  EXPECT_EQ(grid.take(9, 3.0, carried), 0u);
  EXPECT_EQ(grid.take(-1, 9.0, carried), 0u) << "its interval is closed";
  EXPECT_EQ(grid.refused(), 1u);
  EXPECT_EQ(grid.take(40, 4.0, carried), 4u);
  EXPECT_EQ(carried, 3.0) << "the last by arrival, carried on";
}

TEST(TimeGrid, AQueryClosesWhatEndedAtOrBeforeNow) {
  TimeGrid grid(10);
  double carried = 0;
  grid.take(25, 1.0, carried);
  EXPECT_EQ(grid.closed_before(29, false), 2);
  EXPECT_EQ(grid.closed_before(30, false), 3);
  EXPECT_EQ(grid.closed_before(29, true), 3);
  EXPECT_EQ(grid.closed_before(30, true), 4);
  EXPECT_EQ(grid.closed_before(kNoTime.ns, false), 2) << "without a time, the stream's newest";
  EXPECT_EQ(grid.closed_before(kNoTime.ns, true), 3);
  EXPECT_EQ(grid.closed_before(3, false), 2) << "what is closed stays closed";
}

TEST(TimeGrid, NoTimeOverflows) {
  for (const std::int64_t interval : {std::int64_t{1}, std::int64_t{3}, kMost / 2}) {
    TimeGrid grid(interval);
    double carried = 0;
    EXPECT_EQ(grid.take(kNoTime.ns + 1, 1.0, carried), 0u);
    EXPECT_EQ(grid.take(kNoTime.ns + 1, 1.0, carried), 0u);
    const std::uint64_t jump = grid.take(kMost, 2.0, carried);
    EXPECT_EQ(jump, static_cast<std::uint64_t>(floor_of(kMost, interval)) -
                        static_cast<std::uint64_t>(floor_of(kNoTime.ns + 1, interval)));
    EXPECT_EQ(grid.take(kMost, 3.0, carried), 0u);
    EXPECT_EQ(grid.value(), 3.0);
    EXPECT_GE(grid.closed_before(kMost, true), grid.open());
    EXPECT_EQ(grid.most_closed(), jump);
  }
}

TEST(TimeGrid, TakesSecondsThatAreWholeNanoseconds) {
  EXPECT_EQ(TimeGrid::nanoseconds(0.1), 100'000'000);
  EXPECT_EQ(TimeGrid::nanoseconds(1e-9), 1);
  EXPECT_EQ(TimeGrid::nanoseconds(1e9), 1'000'000'000'000'000'000);
  EXPECT_EQ(TimeGrid::nanoseconds(1.5e-9), 0);
  EXPECT_EQ(TimeGrid::nanoseconds(1.0000000004), 0);
  EXPECT_EQ(TimeGrid::nanoseconds(-1.0), 0);
}

}  // namespace
}  // namespace weir::synopses
