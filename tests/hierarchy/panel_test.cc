#include "hierarchy/panel.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/hierarchy/naive.h"
#include "tests/hierarchy/trees.h"

namespace weir::hierarchy {

void PrintTo(const Aggregate& a, std::ostream* out) {
  *out << "{sum " << a.sum << ", min " << a.min << ", max " << a.max << ", present " << a.present
       << ", count " << a.count << "}";
}

namespace {

std::shared_ptr<const Tree> tree_of(std::shared_ptr<const Registry> registry) {
  return std::make_shared<const Tree>(std::move(registry));
}

// Values whose sums depend on the order, and cancel.
double mixed(std::mt19937_64& random) {
  const double magnitudes[] = {1e16, 1e-3, 1e9, 0, 1e-310};
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  return magnitudes[random() % 5] * (random() % 2 == 0 ? unit : -unit);
}

// One panel and its twin, driven by the same random calls.
class Twins {
 public:
  Twins(std::uint64_t seed, std::shared_ptr<const Registry> registry)
      : random_(seed),
        tree_(tree_of(std::move(registry))),
        panel_(tree_),
        naive_(tree_->registry()) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    for (std::uint32_t g = 0; g < tree_->groups(); ++g) expect_same(g);
  }

 private:
  void step() {
    const auto kind = random_() % 100;
    if (kind < 70 && tree_->leaves() > 0) {
      const auto leaf = static_cast<std::uint32_t>(random_() % tree_->leaves());
      const double value = mixed(random_);
      if (kind < 55) {
        if (kind < 20 && tree_->plain()) {
          panel_.set_through(leaf, value);
        } else {
          panel_.set(leaf, value);
        }
        naive_.values[leaf] = value + 0.0;
      } else {
        panel_.clear(leaf);
        naive_.values.erase(leaf);
      }
      const auto above = tree_->ancestors(leaf);
      touched_.insert(above.begin(), above.end());
      EXPECT_EQ(panel_.has(leaf), naive_.values.contains(leaf));
    } else if (kind < 94) {
      expect_same(static_cast<std::uint32_t>(random_() % tree_->groups()));
    } else if (kind < 96) {
      expect_same(tree_->groups() - 1);
    } else if (kind < 99) {
      std::vector<std::uint32_t> groups{77};
      panel_.take_touched(groups);
      EXPECT_EQ(groups, std::vector<std::uint32_t>(touched_.begin(), touched_.end()));
      touched_.clear();
    } else {
      panel_.reset();
      naive_.values.clear();
      touched_.clear();
    }
  }
  void expect_same(std::uint32_t group) {
    EXPECT_EQ(panel_.at(group), naive_.at(group)) << tree_->group(group).identifier;
  }

  std::mt19937_64 random_;
  std::shared_ptr<const Tree> tree_;
  Panel panel_;
  Naive naive_;
  std::set<std::uint32_t> touched_;
};

TEST(Panel, EqualsItsNaiveTwinBitForBit) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const auto registry = random_registry(seed);
    Twins(seed, registry).run(registry->sensors().size() > 1'000 ? 150 : 600);
    if (testing::Test::HasFailure()) break;
  }
}

// Blocks of every size, with sums that overflow and cancel: infinities meet, and make a NaN.
void expect_set_through_equals_set(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::uint32_t n = 1; n <= 18; ++n) {
    Outline root = group_of("root", {});
    for (std::uint32_t g = 0; g < n; ++g) {
      root.children.push_back(leaf_group("g" + std::to_string(g), g * n, n));
    }
    const auto tree = tree_of(registry_of(root));
    ASSERT_TRUE(tree->plain());
    Panel through(tree), plain(tree);
    for (int step = 0; step < 400; ++step) {
      const auto leaf = static_cast<std::uint32_t>(random() % tree->leaves());
      const double huge = random() % 2 == 0 ? 1.7e308 : -1.7e308;
      const double value = random() % 8 == 0 ? huge : mixed(random);
      through.set_through(leaf, value);
      plain.set(leaf, value);
      std::vector<std::uint32_t> visited;
      through.visit_above(leaf, [&](std::uint32_t group, const Aggregate& aggregate) {
        EXPECT_EQ(aggregate, plain.at(group)) << n << " members";
        visited.push_back(group);
      });
      const auto above = tree->ancestors(leaf);
      EXPECT_EQ(visited, std::vector<std::uint32_t>(above.begin(), above.end()));
    }
  }
}

TEST(Panel, SetsThroughAlikeOnEveryTarget) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    expect_set_through_equals_set(static_cast<std::uint64_t>(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Many values between questions: the root is folded where dirty blocks lie.
TEST(Panel, EqualsItsNaiveTwinAfterManyValues) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto tree = tree_of(random_registry(seed));
    if (tree->leaves() == 0) continue;
    Panel panel(tree);
    Naive naive(tree->registry());
    for (int round = 0; round < 3; ++round) {
      for (std::uint32_t i = 0; i < tree->leaves(); ++i) {
        const auto leaf = static_cast<std::uint32_t>(random() % tree->leaves());
        const double value = mixed(random);
        panel.set(leaf, value);
        naive.values[leaf] = value + 0.0;
      }
      const std::uint32_t root = tree->groups() - 1;
      EXPECT_EQ(panel.at(root), naive.at(root)) << seed;
      for (std::uint32_t g = 0; g < tree->groups(); ++g) {
        EXPECT_EQ(panel.at(g), naive.at(g)) << seed;
      }
    }
  }
}

TEST(Panel, SumsWithinTheBoundOfItsTree) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto tree = tree_of(random_registry(seed));
    Panel panel(tree);
    Naive naive(tree->registry());
    std::vector<double> values;
    for (std::uint32_t leaf = 0; leaf < tree->leaves(); ++leaf) {
      values.push_back(mixed(random));
      panel.set(leaf, values.back());
    }
    for (std::uint32_t g = 0; g < tree->groups(); ++g) {
      // 64 bits of mantissa: its own error is 2^-11 of the bound.
      long double exact = 0, absolute = 0;
      const auto below = naive.sensors_below(g);
      for (const std::uint32_t leaf : below) {
        exact += values[leaf];
        absolute += std::fabs(values[leaf]);
      }
      const long double bound = static_cast<long double>(below.size()) * 0x1p-53L * absolute;
      EXPECT_LE(std::fabs(panel.at(g).sum - exact), bound) << seed;
    }
  }
}

TEST(Panel, DoesNotDriftOverAMillionUpdates) {
  std::mt19937_64 random(1);
  Outline root = group_of("root", {});
  for (std::size_t g = 0; g < 40; ++g) {
    root.children.push_back(leaf_group("g" + std::to_string(g), g * 20, 20));
  }
  const auto tree = tree_of(registry_of(root));
  Panel panel(tree);
  std::vector<double> last(tree->leaves());
  for (int i = 0; i < 1'000'000; ++i) {
    const auto leaf = static_cast<std::uint32_t>(random() % tree->leaves());
    panel.set(leaf, last[leaf] = mixed(random));
    if (i % 100 == 0) panel.at(static_cast<std::uint32_t>(random() % tree->groups()));
  }
  Panel fresh(tree);
  for (std::uint32_t leaf = 0; leaf < tree->leaves(); ++leaf) {
    if (panel.has(leaf)) fresh.set(leaf, last[leaf]);
  }
  for (std::uint32_t g = 0; g < tree->groups(); ++g) EXPECT_EQ(panel.at(g), fresh.at(g));
}

TEST(Panel, OfAnEmptiedGroupIsExactlyZero) {
  const auto tree = tree_of(registry_of(leaf_group("root", 0, 100)));
  Panel panel(tree);
  std::mt19937_64 random(1);
  for (std::uint32_t leaf = 0; leaf < 100; ++leaf) panel.set(leaf, mixed(random));
  EXPECT_EQ(panel.at(0).present, 100u);
  for (std::uint32_t leaf = 0; leaf < 100; ++leaf) panel.clear(leaf);
  EXPECT_EQ(panel.at(0), Aggregate{});
  EXPECT_FALSE(std::signbit(panel.at(0).sum));
}

TEST(Panel, TakesMinusZeroAsZero) {
  const auto tree = tree_of(registry_of(leaf_group("root", 0, 1)));
  Panel panel(tree);
  panel.set(0, -0.0);
  EXPECT_EQ(panel.at(0), (Aggregate{0, 0, 0, 1, 1}));
}

TEST(Panel, ForgetsALeafThatIsCleared) {
  const auto tree = tree_of(registry_of(leaf_group("root", 0, 2)));
  Panel panel(tree);
  panel.set(0, 3);
  panel.set(1, 5);
  EXPECT_EQ(panel.at(0), (Aggregate{8, 3, 5, 2, 2}));
  panel.clear(0);
  EXPECT_FALSE(panel.has(0));
  EXPECT_EQ(panel.value(1), 5);
  EXPECT_EQ(panel.at(0), (Aggregate{5, 5, 5, 1, 1}));
}

TEST(Panel, CountsMembersOfADiamondAndNotItsSensors) {
  const auto tree = tree_of(registry_of(
      group_of("root", {group_of("a", {sensor("x"), sensor("y")}), group_of("b", {sensor("y")}),
                        group_of("c", {sensor("z")}), group_of("d", {}), sensor("x")})));
  Panel panel(tree);
  const std::uint32_t root = tree->groups() - 1;
  ASSERT_TRUE(tree->overlaps(root));
  panel.set(1, 5);  // y
  EXPECT_EQ(panel.at(root), (Aggregate{5, 5, 5, 1, 2}));
  panel.set(0, 2);  // x
  EXPECT_EQ(panel.at(root), (Aggregate{7, 2, 5, 2, 3}));
}

TEST(Panel, NamesTouchedGroupsWhetherOrNotTheyWereAskedFor) {
  const auto tree = tree_of(registry_of(
      group_of("root", {leaf_group("a", 0, 2), leaf_group("b", 2, 2), leaf_group("c", 4, 2)})));
  Panel panel(tree);
  std::vector<std::uint32_t> groups;
  panel.set(0, 1);
  panel.at(3);
  panel.set(5, 1);
  panel.take_touched(groups);
  EXPECT_EQ(groups, (std::vector<std::uint32_t>{0, 2, 3}));
  panel.take_touched(groups);
  EXPECT_TRUE(groups.empty());
  panel.set(5, 2);  // dirty still, and not touched any more
  panel.take_touched(groups);
  EXPECT_EQ(groups, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(panel.at(3), (Aggregate{3, 1, 2, 2, 2}));
}

TEST(Panel, ComesBackFromAResetAsNew) {
  const auto tree = tree_of(random_registry(20));
  Panel panel(tree), fresh(tree);
  for (std::uint32_t leaf = 0; leaf < tree->leaves(); leaf += 3) panel.set(leaf, 7);
  panel.at(tree->groups() / 2);
  panel.reset();
  std::vector<std::uint32_t> groups;
  panel.take_touched(groups);
  EXPECT_TRUE(groups.empty());
  for (std::uint32_t g = 0; g < tree->groups(); ++g) EXPECT_EQ(panel.at(g), Aggregate{});
  panel.set(1, 3);
  fresh.set(1, 3);
  for (std::uint32_t g = 0; g < tree->groups(); ++g) EXPECT_EQ(panel.at(g), fresh.at(g));
  EXPECT_EQ(panel.memory_bytes(), fresh.memory_bytes());
}

}  // namespace
}  // namespace weir::hierarchy
