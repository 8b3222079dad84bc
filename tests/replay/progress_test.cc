#include "replay/progress.h"

#include <gtest/gtest.h>

namespace weir::replay {
namespace {

Progress at(double seconds, std::uint64_t records, std::uint64_t position, std::uint64_t total) {
  Progress progress;
  progress.seconds = seconds;
  progress.records = progress.tuples = records;
  progress.position = position;
  progress.total = total;
  return progress;
}

TEST(RateMeter, KnowsNoRateBeforeTheSecondSample) {
  RateMeter meter;
  EXPECT_EQ(meter.records_per_second(), 0);
  EXPECT_LT(meter.seconds_left(), 0);
  meter.add(at(1, 100, 1000, 10'000));
  EXPECT_LT(meter.seconds_left(), 0);
}

TEST(RateMeter, GivesTheTimeLeftOfASteadyRun) {
  RateMeter meter;
  for (int i = 0; i <= 20; ++i) {
    meter.add(at(i * 0.5, std::uint64_t(i) * 500, std::uint64_t(i) * 50'000, 10'000'000));
  }
  EXPECT_NEAR(meter.records_per_second(), 1000, 1e-6);
  EXPECT_NEAR(meter.seconds_left(), (10'000'000 - 1'000'000) / 100'000.0, 1e-6);
}

TEST(RateMeter, FollowsAChangeOfRateWithoutJumping) {
  RateMeter meter;
  std::uint64_t records = 0;
  double seconds = 0;
  for (int i = 0; i < 20; ++i) meter.add(at(seconds += 0.5, records += 500, 0, 0));
  meter.add(at(seconds += 0.5, records += 5000, 0, 0));
  EXPECT_GT(meter.records_per_second(), 1000);
  EXPECT_LT(meter.records_per_second(), 5000);
  for (int i = 0; i < 40; ++i) meter.add(at(seconds += 0.5, records += 5000, 0, 0));
  EXPECT_NEAR(meter.records_per_second(), 10'000, 10);
}

TEST(RateMeter, ToleratesSamplesWithoutTimeBetweenThem) {
  RateMeter meter;
  meter.add(at(1, 10, 10, 100));
  meter.add(at(1, 20, 20, 100));
  EXPECT_EQ(meter.records_per_second(), 0);
  meter.add(at(2, 30, 30, 100));
  EXPECT_DOUBLE_EQ(meter.records_per_second(), 20);
}

TEST(ProgressBar, FitsEveryWidth) {
  RateMeter meter;
  meter.add(at(0, 0, 0, 1000));
  meter.add(at(1, 4'500'000, 450, 1000));
  for (const Progress& progress : {at(1, 4'500'000, 450, 1000), at(1, 4'500'000, 450, 0)}) {
    for (int width = -1; width < 200; ++width) {
      const std::string bar = progress_bar(progress, meter, width);
      EXPECT_LT(static_cast<int>(bar.size()), std::max(width, 1)) << width;
    }
  }
}

TEST(ProgressBar, ShowsShareRateAndTimeLeft) {
  RateMeter meter;
  meter.add(at(0, 0, 0, 1000));
  meter.add(at(1, 4'500'000, 450, 1000));
  EXPECT_EQ(progress_bar(at(1, 4'500'000, 450, 1000), meter, 56),
            "[====      ]  45%  4.50 M records  4.50 M/s  ETA 0:02");
}

TEST(ProgressBar, DoesNotSay100BeforeTheEnd) {
  RateMeter meter;
  Progress progress = at(1, 10, 1000, 1000);
  EXPECT_NE(progress_bar(progress, meter, 80).find(" 99%"), std::string::npos);
  progress.done = true;
  EXPECT_NE(progress_bar(progress, meter, 80).find("100%"), std::string::npos);
}

TEST(ProgressText, IsOneLineWithoutAShareWhenTheTotalIsUnknown) {
  RateMeter meter;
  EXPECT_EQ(progress_text(at(12, 1'200'000, 0, 0), meter),
            "12.0 s: 1,200,000 records, 0 rejected, 0 records/s");
  EXPECT_EQ(progress_text(at(12, 1'200'000, 45, 100), meter),
            "12.0 s: 1,200,000 records, 0 rejected, 45 %, 0 records/s, --:-- left");
}

}  // namespace
}  // namespace weir::replay
