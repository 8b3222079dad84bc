// Laws of Groups on random tuples and registries: how tuples are divided into calls has no
// influence, modes agree where they must, and state is canonical.
#include <gtest/gtest.h>

#include <random>

#include "tests/hierarchy/groups_random.h"

namespace weir::hierarchy {
namespace {

struct Outcome {
  std::string all;
  std::string state;
  std::uint64_t memory = 0;
  std::vector<std::uint8_t> verdicts;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// A run with changes, of one spec or of all at once; `cuts` seeds how tuples are divided.
Outcome outcome_of(std::uint64_t seed, std::span<const Spec> all, std::uint64_t cuts) {
  std::mt19937_64 random(seed);
  GroupsRun run(all.front());
  run.fields(2);
  std::vector<std::string> roots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const char* twin : {"p", "q"}) roots.push_back(twin + std::to_string(i));
  }
  for (std::size_t r = 0; r < roots.size(); ++r) {
    run.put(random_groups(roots[r], random), &all[r / 2]);
  }
  for (int stretch = 0; stretch < 6; ++stretch) {
    run.feed(random_tuples(random, 40 + random() % 900, 2),
             cuts == 0 ? 0 : cuts + static_cast<std::uint64_t>(stretch));
    const std::size_t r = random() % roots.size();
    run.put(random_groups(roots[r], random), &all[r / 2]);
  }
  run.finish();
  Outcome outcome{std::move(run.all), {}, run.groups().memory_bytes(), run.verdicts};
  run.groups().serialize(outcome.state);
  return outcome;
}

TEST(GroupsLaws, DivisionOfTuplesIntoCallsHasNoInfluence) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto all = specs();
    std::vector<std::span<const Spec>> which{{all.data(), all.size()}};
    for (const Spec& spec : all) which.push_back({&spec, 1});
    for (std::size_t w = 0; w < which.size(); ++w) {
      const Outcome whole = outcome_of(seed, which[w], 0);
      EXPECT_FALSE(whole.all.empty());
      const Outcome cut = outcome_of(seed, which[w], 1000 + seed);
      ASSERT_TRUE(whole == cut) << "seed " << seed << " specs " << w;
    }
  }
}

// Every row of a run by itself is a row of the run together with others.
TEST(GroupsLaws, HierarchiesDoNotDependOnOthersOfOtherOptions) {
  std::mt19937_64 random(5);
  const auto all = specs();
  for (int round = 0; round < 5; ++round) {
    const auto tuples = random_tuples(random, 700, 2);
    std::vector<std::string> registries;
    for (std::size_t i = 0; i < all.size(); ++i) {
      registries.push_back(random_groups("r" + std::to_string(i), random));
    }
    GroupsRun together(all.front());
    together.fields(2);
    together.details = true;
    for (std::size_t i = 0; i < all.size(); ++i) together.put(registries[i], &all[i]);
    together.feed(tuples);
    together.finish();
    std::vector<std::string> alone_lines;
    for (std::size_t i = 0; i < all.size(); ++i) {
      GroupsRun alone(all[i]);
      alone.fields(2);
      alone.details = true;
      alone.put(registries[i]);
      alone.feed(tuples);
      alone.finish();
      alone_lines.insert(alone_lines.end(), alone.lines.begin(), alone.lines.end());
      const auto a = alone.groups().counts().begin()->second;
      const auto b = together.groups().counts().at("r" + std::to_string(i));
      EXPECT_EQ(a.applied, b.applied);
      EXPECT_EQ(a.late, b.late);
      EXPECT_EQ(a.without_time, b.without_time);
      EXPECT_EQ(a.results, b.results);
      EXPECT_EQ(a.silent, b.silent);
    }
    std::sort(alone_lines.begin(), alone_lines.end());
    std::sort(together.lines.begin(), together.lines.end());
    EXPECT_EQ(alone_lines, together.lines);
  }
}

// Windows that follow each other are windows of mode tumbling.
TEST(GroupsLaws, SlidingByTheWholeWindowIsTumbling) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto tuples = random_tuples(random, 600, 1);
    const std::string first = random_groups("R", random), second = random_groups("R", random);
    std::vector<std::string> runs;
    for (const Spec& spec : {tumbling(5), sliding(10, 10, 10, 5)}) {
      GroupsRun run(spec);
      run.put(first);
      run.feed(tuples);
      run.put(second);
      run.feed({"s1@900=4", "s2@905=3", "s1@920=1"});
      run.finish();
      runs.push_back(run.all);
    }
    ASSERT_EQ(runs[0], runs[1]) << seed;
  }
}

// One sensor below 2'000 groups, of two fields and two specs: 512 tuples would make 3 million rows
// that wait for each other.
TEST(GroupsLaws, RowsThatWaitForThoseOfOthersAreBounded) {
  constexpr std::size_t kGroups = 2'000, kTuples = 600;
  Outline all = group_of("R", {}), again = group_of("S", {sensor("x")});
  for (std::size_t g = 1; g < kGroups; ++g) {
    all.children.push_back(group_of("g" + std::to_string(g), {sensor("x")}));
  }
  GroupOptions options;
  options.mode = GroupOptions::Mode::kChangelog;
  GroupsRun run(spec_of(options, {"v", "w"}));
  run.fields(2);
  run.put(registry_of(all));
  const Spec other = latest(1);
  run.put(registry_of(again), &other);
  std::vector<Given> tuples;
  for (std::size_t i = 0; i < kTuples; ++i) {
    tuples.push_back({"x", static_cast<std::int64_t>(i) * kS, {1.0, 2.0}, "D", 0});
  }
  run.feed(tuples);
  run.finish();
  EXPECT_GT(run.lines.size(), kTuples * kGroups * 2);
  EXPECT_GT(run.groups().most_rows_waiting(), kGroups * 2);
  EXPECT_LE(run.groups().most_rows_waiting(), 64u << 10);
}

// Values that come in any order of their times, some without: those that are good at the end are.
TEST(GroupsLaws, ValuesAreGoodForAsLongAsTheyAreYoungEnough) {
  std::size_t old = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Spec spec = latest(1, 5);
    spec.options.late = GroupOptions::Late::kArrival;
    GroupsRun run(spec);
    run.put(registry_of(leaf_group("R", 0, 5)));
    std::map<std::string, std::int64_t> times;
    std::vector<Given> tuples;
    for (std::size_t i = 0; i < 40; ++i) {
      const std::string stream = "s" + std::to_string(random() % 8);
      const auto now = static_cast<std::int64_t>(i) * kS / 3;
      const std::int64_t time =
          random() % 20 == 0 ? kNoTime.ns : now - static_cast<std::int64_t>(random() % 7) * kS;
      tuples.push_back({stream, time, {1.0}, "D", 0});
    }
    const std::size_t change = random() % tuples.size();
    run.feed({tuples.begin(), tuples.begin() + static_cast<std::ptrdiff_t>(change)}, seed);
    run.put(registry_of(leaf_group("R", 0, 6)));
    run.feed({tuples.begin() + static_cast<std::ptrdiff_t>(change), tuples.end()}, seed);
    run.finish();
    for (const Given& tuple : tuples) times[tuple.stream] = tuple.time;
    std::size_t good = 0;
    for (std::size_t s = 0; s < 6; ++s) {
      const auto at = times.find("s" + std::to_string(s));
      if (at == times.end()) continue;
      const bool young = at->second == kNoTime.ns || at->second >= run.stream_time() - 5 * kS;
      good += young;
      old += !young;
    }
    ASSERT_EQ(run.lines.back().substr(0, 4), fmt::format("R {0},", good)) << seed;
  }
  EXPECT_GT(old, 100u);
}

// A boundary every second, 1'000 sensors measured in turn every 10 s, values good for 20: a look at
// all of them is due once in 10 boundaries, not at each.
TEST(GroupsLaws, AgesAreLookedAtOnlyWhenOneMayBeTooOld) {
  constexpr std::size_t kMany = 1'000, kRounds = 50;
  GroupsRun run(latest(1, 20));
  run.put(registry_of(leaf_group("R", 0, kMany)));
  std::vector<Given> tuples;
  for (std::size_t i = 0; i < kMany * kRounds; ++i) {
    const auto time = static_cast<std::int64_t>(i * 10'000 / kMany) * (kS / 1000);
    tuples.push_back({"s" + std::to_string(i % kMany), time, {1.0}, "D", 0});
  }
  run.feed(tuples);
  EXPECT_GT(run.groups().ages_looked_at(), kMany);
  EXPECT_LE(run.groups().ages_looked_at(), kMany * (kRounds + 2));
  // Nobody but x is measured any more: the others are none from then on.
  run.take_lines();
  run.feed({"x@600=1", "x@602=1"});
  EXPECT_EQ(run.take_lines().back(), "R 0,0");
}

}  // namespace
}  // namespace weir::hierarchy
