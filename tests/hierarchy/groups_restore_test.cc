// Groups that are saved and restored, anywhere and as often as one likes, are those that were never
// saved; and bytes that are none are refused.
#include <gtest/gtest.h>

#include "tests/hierarchy/groups_random.h"

namespace weir::hierarchy {
namespace {

std::vector<Spec> all_specs() {
  std::vector<Spec> all = specs();
  Spec ages = changelog();
  ages.options.max_age = 5 * kS;
  Spec arrival = latest(3, 9);
  arrival.options.late = GroupOptions::Late::kArrival;
  Spec last_field = sliding(12, 4, 20, 3);
  for (const Spec& spec : {ages, arrival}) all.push_back(spec_of(spec.options, {"a", "b"}));
  last_field.options.fields = {"b"};
  last_field.columns = {1};
  all.push_back(last_field);
  return all;
}

std::string text_of(const std::map<std::string, Groups::Counts>& counts) {
  std::string text;
  for (const auto& [root, c] : counts) {
    text += fmt::format("{}: {} {} {} {} of {} {} {} {}\n", root, c.applied, c.late, c.without_time,
                        c.results, c.groups, c.sensors, c.silent, c.met);
  }
  return text;
}

struct State {
  std::string serialized, counts;
  std::uint64_t memory = 0;
  friend bool operator==(const State&, const State&) = default;
};
State state_of(GroupsRun& run) {
  State state{{}, text_of(run.groups().counts()), run.groups().memory_bytes()};
  run.groups().serialize(state.serialized);
  return state;
}

// Saves and restores; nothing that can be seen is another then.
void resume(GroupsRun& run, std::uint64_t seed) {
  const State before = state_of(run);
  const std::string bytes = run.saved();
  const Status status = run.resume(bytes, seed);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(run.saved(), bytes);
  ASSERT_TRUE(state_of(run) == before);
}

// A run with changes; `resumes` seeds where it is resumed, 0 = nowhere.
struct Outcome {
  std::string all;
  State state;
  std::vector<std::uint8_t> verdicts;
};
Outcome outcome_of(std::uint64_t seed, std::span<const Spec> all, std::uint64_t resumes) {
  std::mt19937_64 random(seed), places(resumes);
  const auto maybe_resume = [&](GroupsRun& run) {
    if (resumes != 0 && places() % 2 == 0) resume(run, places());
  };
  GroupsRun run(all.front());
  run.fields(2);
  std::vector<std::string> roots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const char* twin : {"p", "q"}) roots.push_back(twin + std::to_string(i));
  }
  maybe_resume(run);
  for (std::size_t r = 0; r < roots.size(); ++r) {
    // Some come when values are there already.
    if (r % 4 != 3) run.put(random_groups(roots[r], random), &all[r / 2]);
  }
  for (int stretch = 0; stretch < 5; ++stretch) {
    maybe_resume(run);
    const auto tuples = random_tuples(random, 40 + random() % 400, 2);
    for (std::size_t at = 0; at < tuples.size();) {
      std::size_t n = tuples.size() - at;
      if (resumes != 0) n = std::min<std::size_t>(n, 1 + places() % 150);
      const auto begin = tuples.begin() + static_cast<std::ptrdiff_t>(at);
      run.feed({begin, begin + static_cast<std::ptrdiff_t>(n)});
      at += n;
      maybe_resume(run);
    }
    const std::size_t r = random() % roots.size();
    run.put(random_groups(roots[r], random), &all[r / 2]);
    maybe_resume(run);
  }
  run.finish();
  maybe_resume(run);
  const State state = state_of(run);
  return {std::move(run.all), state, run.verdicts};
}

TEST(GroupsRestore, ResumedRunsGiveWhatOthersGive) {
  const auto all = all_specs();
  std::vector<std::span<const Spec>> which{{all.data(), all.size()}};
  for (const Spec& spec : all) which.push_back({&spec, 1});
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (std::size_t w = 0; w < which.size(); ++w) {
      const Outcome whole = outcome_of(seed, which[w], 0);
      const Outcome resumed = outcome_of(seed, which[w], 1000 * seed + w + 1);
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " specs " << w;
      EXPECT_FALSE(whole.all.empty());
      ASSERT_EQ(whole.all == resumed.all, true) << "seed " << seed << " specs " << w;
      ASSERT_TRUE(whole.verdicts == resumed.verdicts) << "seed " << seed << " specs " << w;
      ASSERT_TRUE(whole.state == resumed.state) << "seed " << seed << " specs " << w;
    }
  }
}

// Trees of every kind: deep ones, diamonds, groups without members, blocks of blocks.
TEST(GroupsRestore, EveryTreeComesBack) {
  std::vector<Spec> modes{changelog(), latest(2), tumbling(5, 3)};
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto registry = random_registry(seed);
    const auto& sensors = registry->sensors();
    if (sensors.empty()) continue;
    const Spec& spec = modes[seed % modes.size()];
    std::vector<std::string> runs;
    for (const bool resumed : {false, true}) {
      std::mt19937_64 random(seed);
      GroupsRun run(spec);
      run.put(registry);
      for (int stretch = 0; stretch < 3; ++stretch) {
        std::vector<Given> tuples;
        for (std::int64_t i = 0; i < 60; ++i) {
          tuples.push_back({sensors[random() % sensors.size()].identifier,
                            (60 * stretch + i) * kS / 9,
                            {static_cast<double>(random() % 1000) / 3}});
        }
        run.feed(tuples);
        if (resumed) resume(run, seed);
      }
      run.finish();
      runs.push_back(run.all);
    }
    ASSERT_FALSE(HasFatalFailure()) << seed;
    ASSERT_TRUE(runs[0] == runs[1]) << seed;
  }
}

TEST(GroupsRestore, SensorsWereMetThoughTheirStreamsDoNotComeAgain) {
  GroupsRun run(changelog());
  run.put("R{x,y,z}");
  run.feed({"x@1=1", "y@2=2"});
  resume(run, 1);
  run.feed({"y@3=2"});
  EXPECT_EQ(run.groups().counts().at("R").met, 2u);
  EXPECT_EQ(run.groups().counts().at("R").silent, 1u);
}

// A small one, in which everything occurs.
std::unique_ptr<GroupsRun> small_run(std::span<const Spec> all, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto run = std::make_unique<GroupsRun>(all.front());
  run->fields(2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    run->put(random_groups("p" + std::to_string(i), random), &all[i]);
  }
  run->feed(random_tuples(random, 60, 2));
  return run;
}

TEST(GroupsRestore, WhatIsCutOffIsRefused) {
  const auto all = all_specs();
  const auto run = small_run(all, 1);
  const std::string bytes = run->saved();
  for (std::size_t n = 0; n < bytes.size(); n += n < 1'000 ? 1 : 211) {
    ASSERT_EQ(run->resume(std::string_view(bytes).substr(0, n), 1).code(), Code::kInvalid) << n;
  }
  EXPECT_TRUE(run->resume(bytes, 1).ok());
}

// Whatever comes of them: a status, or groups that go on.
TEST(GroupsRestore, ChangedBytesDoNoHarm) {
  const auto all = all_specs();
  std::mt19937_64 random(7);
  std::size_t refused = 0, taken = 0;
  for (std::uint64_t round = 0; round < 1500; ++round) {
    const std::size_t which = random() % all.size();
    const std::span<const Spec> spec{&all[which], 1};
    const auto run = small_run(spec, round % 5);
    std::string bytes = run->saved();
    for (std::size_t flips = 1 + random() % 4; flips > 0; --flips) {
      char& byte = bytes[random() % bytes.size()];
      byte = random() % 4 == 0 ? static_cast<char>(0xff) : byte;
      byte ^= static_cast<char>(1u << random() % 8);
    }
    if (!run->resume(bytes, round).ok()) {
      ++refused;
      continue;
    }
    ++taken;
    run->feed(random_tuples(random, 60, 2));
    run->put(random_groups("p" + std::to_string(random() % 3), random));
    run->feed(random_tuples(random, 60, 2));
    std::string state;
    run->groups().serialize(state);
    run->finish();
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(taken, 100u);
}

}  // namespace
}  // namespace weir::hierarchy
