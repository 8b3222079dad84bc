#include "core/placement.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace weir::core {
namespace {

Topology machine(const char* description,
                 const std::optional<std::set<std::uint32_t>>& allowed = {},
                 std::optional<double> quota = {}) {
  auto topology = Topology::synthetic(description, allowed, quota);
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  return *std::move(topology);
}

Placement placed(const Topology& topology, const PlacementOptions& options) {
  auto placement = place(topology, options);
  EXPECT_TRUE(placement.ok()) << placement.status().message();
  return *std::move(placement);
}

std::vector<int> pus(const Placement& placement) {
  std::vector<int> found;
  for (const PlacedThread& thread : placement.threads) {
    found.push_back(thread.pu.has_value() ? static_cast<int>(*thread.pu) : -1);
  }
  return found;
}

// The invariants of placement.h.
void expect_sound(const Topology& topology, const Placement& placement) {
  std::map<std::uint32_t, const Pu*> known;
  for (const Pu& pu : topology.pus) known[pu.os] = &pu;
  std::set<std::uint32_t> used;
  std::map<std::uint32_t, unsigned> on_core;
  std::uint32_t shard = 0, ingest = 0;
  for (const PlacedThread& thread : placement.threads) {
    ASSERT_TRUE(thread.shard.has_value() || thread.ingest.has_value());
    if (thread.shard.has_value()) {
      ASSERT_EQ(*thread.shard, shard++);
    }
    if (thread.ingest.has_value()) {
      ASSERT_EQ(*thread.ingest, ingest++);
    }
    if (!thread.pu.has_value()) continue;
    ASSERT_TRUE(used.insert(*thread.pu).second) << "PU given twice";
    const Pu& pu = *known.at(*thread.pu);
    ASSERT_TRUE(pu.allowed);
    ASSERT_EQ(thread.core, pu.core);
    ASSERT_EQ(thread.group, pu.group);
    ASSERT_EQ(thread.memory_group.has_value(), topology.groups > 1);
    const unsigned before = on_core[pu.core]++;
    ASSERT_STREQ(thread.reason, before == 0 ? "core" : "smt");
    if (before == 1) {
      ASSERT_EQ(on_core.size(), topology.allowed_cores());
    }
  }
  ASSERT_EQ(placement.shard_workers(), shard);
  ASSERT_EQ(placement.ingest_agents(), ingest);
  ASSERT_GT(shard, 0u);
  ASSERT_GT(ingest, 0u);
}

TEST(Placement, IsSoundOnEveryMachineAndForEveryNumberOfThreads) {
  for (const char* description : {"core:1 pu:1", "core:2 pu:1", "core:1 pu:2", "core:8 pu:1",
                                  "numa:1 core:4 pu:2", "numa:2 core:4 pu:1", "numa:2 core:3 pu:2",
                                  "numa:4 core:2 pu:2", "package:2 numa:2 core:2 pu:4"}) {
    const Topology whole = machine(description);
    std::set<std::uint32_t> odd;
    for (const Pu& pu : whole.pus) {
      if (pu.os % 3 != 1) odd.insert(pu.os);
    }
    for (const Topology& topology : {whole, machine(description, odd)}) {
      for (const char* policy : {"auto", "spread", "none"}) {
        for (unsigned threads = 0; threads <= 20; ++threads) {
          expect_sound(topology, placed(topology, {.threads = threads, .policy = policy}));
          for (unsigned ingest = 1; ingest < threads; ++ingest) {
            expect_sound(topology, placed(topology, {.ingest_threads = ingest,
                                                     .shard_threads = threads - ingest,
                                                     .policy = policy}));
          }
          if (HasFatalFailure()) FAIL() << description << " " << policy << " " << threads;
        }
      }
    }
  }
}

TEST(Placement, TakesOneThreadForEachAllowedCoreByDefault) {
  EXPECT_EQ(placed(machine("core:6 pu:2"), {}).threads.size(), 6u);
  EXPECT_EQ(placed(machine("core:6 pu:2", std::set<std::uint32_t>{2, 3, 8}), {}).threads.size(),
            2u);
  EXPECT_EQ(placed(machine("core:6 pu:2", {}, 1.5), {}).threads.size(), 2u);
  EXPECT_EQ(placed(machine("core:1 pu:1"), {}).threads.size(), 1u);
}

TEST(Placement, FillsCoresGroupAfterGroupThenSiblingsThenShares) {
  const Topology topology = machine("numa:2 core:2 pu:2");
  const Placement placement = placed(topology, {.threads = 10});
  EXPECT_EQ(pus(placement), (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7, -1, -1}));
  EXPECT_STREQ(placement.threads[3].reason, "core");
  EXPECT_STREQ(placement.threads[4].reason, "smt");
  EXPECT_STREQ(placement.threads[9].reason, "shared");
}

TEST(Placement, SpreadLetsTheGroupsTakeTurns) {
  const Topology topology = machine("numa:4 core:2 pu:2");
  EXPECT_EQ(pus(placed(topology, {.threads = 10, .policy = "spread"})),
            (std::vector<int>{0, 4, 8, 12, 2, 6, 10, 14, 1, 5}));
}

TEST(Placement, PinsNothingWhenToldSo) {
  const Placement placement = placed(machine("core:4 pu:1"), {.threads = 2, .policy = "none"});
  EXPECT_EQ(pus(placement), (std::vector<int>{-1, -1}));
  EXPECT_STREQ(placement.threads[0].reason, "unpinned");
  EXPECT_EQ(placement.summary, "2 threads, unpinned");
}

TEST(Placement, UsesTheOnlyAllowedSiblingAsACoreOfItsOwn) {
  const Topology topology = machine("core:2 pu:2", std::set<std::uint32_t>{1, 2, 3});
  const Placement placement = placed(topology, {.threads = 3});
  EXPECT_EQ(pus(placement), (std::vector<int>{1, 2, 3}));
  EXPECT_STREQ(placement.threads[0].reason, "core");
  EXPECT_STREQ(placement.threads[2].reason, "smt");
}

TEST(Placement, GivesEachGroupItsShareOfWorkersWithIngestAgentsNear) {
  for (const char* description : {"numa:2 core:4 pu:1", "numa:4 core:2 pu:1"}) {
    const Topology topology = machine(description);
    for (unsigned ingest = 1; ingest < 8; ++ingest) {
      const Placement placement =
          placed(topology, {.ingest_threads = ingest, .shard_threads = 8 - ingest});
      std::map<std::uint32_t, std::pair<unsigned, unsigned>> roles;  // by group
      for (const PlacedThread& thread : placement.threads) {
        ++(thread.shard.has_value() ? roles[*thread.group].first : roles[*thread.group].second);
      }
      const double workers = static_cast<double>(8 - ingest) / topology.groups;
      for (const auto& [group, count] : roles) {
        EXPECT_LT(std::abs(count.first - workers), 1.0) << description << " " << ingest;
        EXPECT_EQ(count.first + count.second, 8 / topology.groups);
      }
    }
  }
}

TEST(Placement, SaysInOneLineWhatItDid) {
  EXPECT_EQ(placed(machine("core:2 pu:1"), {}).summary, "2 threads on 2 cores of 1 NUMA group");
  EXPECT_EQ(placed(machine("core:1 pu:1"), {.threads = 3}).summary,
            "3 threads on 1 core of 1 NUMA group, 2 of them unpinned");
  EXPECT_EQ(
      placed(machine("numa:2 core:2 pu:1"), {.ingest_threads = 1, .shard_threads = 2}).summary,
      "3 threads (1 ingest, 2 shard) on 3 cores of 2 NUMA groups");
  EXPECT_EQ(placed(machine("core:4 pu:1", {}, 1.5), {}).summary,
            "2 threads on 2 cores of 1 NUMA group, within a quota of 1.50 CPUs");
}

TEST(Placement, RefusesWithWhatWouldBeRight) {
  const Topology topology = machine("core:2 pu:1");
  const auto message = [&](const PlacementOptions& options) {
    const auto placement = place(topology, options);
    EXPECT_FALSE(placement.ok());
    return placement.status().message();
  };
  EXPECT_EQ(message({.policy = "fast"}), "placement is \"fast\"; expected auto, spread or none");
  EXPECT_EQ(
      message({.ingest_threads = 2}),
      "ingest-threads is 2 but shard-threads is 0; give both, or neither and threads instead");
  EXPECT_EQ(
      message({.shard_threads = 3}),
      "shard-threads is 3 but ingest-threads is 0; give both, or neither and threads instead");
  EXPECT_EQ(message({.threads = 5000}), "threads is 5000; at most 1024");
}

TEST(Placement, WritesJson) {
  const Placement placement =
      placed(machine("core:1 pu:1"), {.ingest_threads = 1, .shard_threads = 1});
  EXPECT_EQ(to_json(placement),
            "{\"summary\":\"2 threads (1 ingest, 1 shard) on 1 core of 1 NUMA group, 1 of them "
            "unpinned\",\"threads\":[{\"thread\":0,\"role\":\"ingest\",\"shard\":null,\"ingest\":0,"
            "\"pu\":0,\"core\":0,\"numa\":0,\"reason\":\"core\"},{\"thread\":1,\"role\":\"shard\","
            "\"shard\":0,\"ingest\":null,\"pu\":null,\"core\":null,\"numa\":null,"
            "\"reason\":\"shared\"}]}");
}

}  // namespace
}  // namespace weir::core
