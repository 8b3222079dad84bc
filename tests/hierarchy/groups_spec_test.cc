// Which options go together.
#include <gtest/gtest.h>

#include "tests/hierarchy/groups_run.h"

namespace weir::hierarchy {
namespace {

using Mode = GroupOptions::Mode;

template <class Change>
std::string said_of(const Spec& spec, const Change& change) {
  GroupOptions options = spec.options;
  change(options);
  const Status status = check(options);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  return status.message();
}

TEST(GroupsSpec, TakesWhatFits) {
  EXPECT_TRUE(check({}).ok());
  Spec records = latest(0);
  records.options.emit.records = 100;
  for (const Spec& spec : {changelog(), latest(10, 30), records, tumbling(), tumbling(0),
                           sliding(60, 10, 5, 100), sliding(10, 10, 10, 0)}) {
    EXPECT_TRUE(check(spec.options).ok()) << check(spec.options).message();
  }
  GroupOptions open;
  open.mode = Mode::kTumbling;  // emit is not told yet
  EXPECT_TRUE(check(open).ok());
}

TEST(GroupsSpec, SaysWhichOptionIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(said_of(tumbling(),
                    [](auto& o) {
                      o.emit = {0, 5};
                    }),
            "emit \"5 records\" is for mode latest; give a duration such as \"10s\"");
  EXPECT_EQ(said_of(latest(1), [](auto& o) { o.emit.records = 5; }),
            "emit 1s cannot be 5 records as well; give one of them");
  EXPECT_EQ(said_of(tumbling(), [](auto& o) { o.window = 60 * kS; }),
            "window 1m is for mode sliding; windows of mode tumbling are as long as emit");
  EXPECT_EQ(said_of(latest(1), [](auto& o) { o.advance = kS / 2; }),
            "advance 500ms is for mode sliding; leave it out");
  EXPECT_EQ(said_of(latest(1), [](auto& o) { o.grace = kS; }),
            "grace 1s is for modes with windows, tumbling and sliding; leave it out");
  EXPECT_EQ(
      said_of(tumbling(), [](auto& o) { o.late = GroupOptions::Late::kArrival; }),
      "late arrival is for modes without windows, changelog and latest; give a grace instead");
  EXPECT_EQ(said_of(tumbling(), [](auto& o) { o.max_age = kS; }),
            "max-age 1s is for modes without windows, changelog and latest; leave it out");
  EXPECT_EQ(said_of(sliding(0, 10, 10, 0), [](auto&) {}),
            "window is missing; mode sliding needs the length of its windows");
  EXPECT_EQ(said_of(sliding(10, 0, 10, 0), [](auto&) {}),
            "advance is missing; mode sliding needs one, at most its window");
  EXPECT_EQ(said_of(sliding(10, 20, 10, 0), [](auto&) {}),
            "advance 20s is longer than window 10s; values between windows would count nowhere");
  EXPECT_EQ(said_of(sliding(10'001, 1, 10, 0), [](auto&) {}),
            "advance 1s puts each value into 10001 windows; give at least 1001ms, for at most "
            "10000");
  EXPECT_EQ(
      said_of(tumbling(100'000, 1), [](auto&) {}),
      "grace 100000s keeps 100002 windows open, at most 10000 can be; give a shorter grace or "
      "a longer emit");
}

TEST(GroupsSpec, NamesTheOptionThatKeepsTooManyWindowsOpen) {
  EXPECT_EQ(said_of(sliding(10'000, 1, 10, 0), [](auto&) {}),
            "emit 10s keeps 10010 windows open, at most 10000 can be; give a shorter emit or a "
            "longer advance");
  EXPECT_EQ(said_of(sliding(9'990, 1, 60, 0), [](auto&) {}),
            "emit 1m, the default, keeps 10050 windows open, at most 10000 can be; give a shorter "
            "emit or a longer advance");
  EXPECT_EQ(said_of(sliding(9'000, 1, 10, 5'000), [](auto&) {}),
            "grace 5000s keeps 14010 windows open, at most 10000 can be; give a shorter grace or "
            "a longer advance");
}

TEST(GroupsSpec, RefusesWindowsFinerThanTheMillisecondsOfResults) {
  EXPECT_EQ(said_of(tumbling(10), [](auto& o) { o.emit.ns = 1'500'000; }),
            "emit 1500us is no whole number of milliseconds, as windows need; give 2ms");
  EXPECT_EQ(said_of(sliding(60, 10, 10, 0), [](auto& o) { o.window += 1; }),
            "window 60000000001ns is no whole number of milliseconds, as windows need; give "
            "60001ms");
  EXPECT_EQ(said_of(sliding(60, 10, 10, 0), [](auto& o) { o.advance = 999; }),
            "advance 999ns is no whole number of milliseconds, as windows need; give 1ms");
  // What places no window may be as fine as it likes.
  Spec fine = sliding(60, 10, 10, 0);
  fine.options.emit.ns = fine.options.grace = 1'234'567;
  EXPECT_TRUE(check(fine.options).ok()) << check(fine.options).message();
  Spec often = latest(10);
  often.options.emit.ns = often.options.max_age = 1;
  EXPECT_TRUE(check(often.options).ok()) << check(often.options).message();
}

TEST(GroupsSpec, RefusesSpansBelowZeroAndBeyondFiftyYears) {
  for (std::int64_t GroupOptions::*span : {&GroupOptions::grace, &GroupOptions::window,
                                           &GroupOptions::advance, &GroupOptions::max_age}) {
    for (const std::int64_t ns : {std::int64_t{-1}, -kLastTime, kLastTime}) {
      said_of(sliding(60, 10, 10, 0), [&](auto& o) { o.*span = ns; });
    }
  }
  said_of(latest(1), [&](auto& o) { o.emit.ns = -1; });
  said_of(latest(1), [&](auto& o) { o.emit.ns = kLastTime; });
}

TEST(GroupsSpec, RefusesARegistryWhoseWindowsAreTooLarge) {
  const auto small = registry_of(leaf_group("R", 0, 10));
  const auto large = registry_of(leaf_group("R", 0, 20'000));
  const Spec many = sliding(9'999, 1, 1, 0);
  EXPECT_TRUE(Groups::check_size(*small, many).ok());
  EXPECT_TRUE(Groups::check_size(*large, tumbling()).ok());
  EXPECT_TRUE(Groups::check_size(*large, latest(10)).ok());
  EXPECT_TRUE(Groups::check_size(*large, {}).ok());
  GroupOptions open;
  open.mode = Mode::kTumbling;
  EXPECT_TRUE(Groups::check_size(*large, {open, {}}).ok());
  const Status status = Groups::check_size(*large, many);
  EXPECT_EQ(status.message().rfind("registry \"R\" with 20000 sensors needs up to ", 0), 0u)
      << status.message();
}

// 10'000 sensors, each below a group that stands in 10'000 others.
TEST(GroupsSpec, RefusesARegistryWhoseTreeIsTooLargeInEveryMode) {
  std::vector<Edge> edges;
  for (int i = 0; i < 10'000; ++i) {
    const std::string number = std::to_string(i);
    for (const char* all : {"all", "too"}) {
      edges.push_back({"s" + number, all, 0});
      edges.push_back({all, "g" + number, 0});
    }
    edges.push_back({"g" + number, "root", 0});
  }
  const auto registries = Registry::of_edges(edges);
  ASSERT_TRUE(registries.ok()) << registries.status().message();
  for (const Spec& spec : {latest(10), tumbling(), Spec()}) {
    const Status status = Groups::check_size(registries->front(), spec);
    EXPECT_EQ(status.message().rfind("root: groups above and below groups come to ", 0), 0u)
        << status.message();
  }
}

}  // namespace
}  // namespace weir::hierarchy
