#include "core/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace weir::core {
namespace {

// A root directory with just the files a test needs.
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-root-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot& with(const std::string& file, const std::string& text) {
    const std::filesystem::path at = path_ + file;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
    return *this;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Topology, ReadsASyntheticMachine) {
  const auto topology = Topology::synthetic("numa:2 core:8 pu:2");
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(topology->groups, 2u);
  EXPECT_EQ(topology->cores, 16u);
  EXPECT_EQ(topology->pus.size(), 32u);
  EXPECT_EQ(topology->allowed_pus(), 32u);
  EXPECT_EQ(topology->usable_cores(), 16u);
  for (std::size_t i = 0; i < topology->pus.size(); ++i) {
    EXPECT_EQ(topology->pus[i].core, i / 2);
    EXPECT_EQ(topology->pus[i].group, i / 16);
  }
}

TEST(Topology, KnowsPackagesAndCaches) {
  const auto topology = Topology::synthetic("package:2 l2:4(size=1310720) core:1 pu:1");
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(topology->packages, 2u);
  EXPECT_EQ(topology->cores, 8u);
  EXPECT_EQ(topology->l2_bytes, 1310720u);
  EXPECT_EQ(topology->pus.back().package, 1u);
}

TEST(Topology, CountsOnlyWhatIsAllowed) {
  const auto topology = Topology::synthetic("numa:2 core:4 pu:2", std::set<std::uint32_t>{3, 8, 9});
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->allowed_pus(), 3u);
  EXPECT_EQ(topology->allowed_cores(), 2u);
  EXPECT_EQ(topology->usable_cores(), 2u);
}

TEST(Topology, BoundsTheCoresByTheQuotaRoundedUp) {
  const auto usable = [](double quota) {
    return Topology::synthetic("core:8 pu:1", {}, quota)->usable_cores();
  };
  EXPECT_EQ(usable(0.25), 1u);
  EXPECT_EQ(usable(1.0), 1u);
  EXPECT_EQ(usable(1.5), 2u);
  EXPECT_EQ(usable(64.0), 8u);
}

TEST(Topology, RefusesWhatIsNoDescriptionAndSaysWhatOneLooksLike) {
  for (const char* text :
       {"", "bananas", "core:", "core:2 pu", "numa:2 core:8 pu:2 core:3", "core:0"}) {
    const auto topology = Topology::synthetic(text);
    ASSERT_FALSE(topology.ok()) << text;
    EXPECT_NE(topology.status().message().find("numa:2 core:8 pu:2"), std::string::npos);
  }
  EXPECT_FALSE(Topology::synthetic("core:2 pu:1", std::set<std::uint32_t>{7}).ok());
}

TEST(Topology, RefusesAMachineThatWouldNotFitInMemory) {
  for (const char* text :
       {"numa:1000 core:1000 pu:2", "core:99999999999999999999 pu:1", "9999 9999"}) {
    const auto topology = Topology::synthetic(text);
    ASSERT_FALSE(topology.ok()) << text;
    EXPECT_NE(topology.status().message().find("more than"), std::string::npos);
  }
}

TEST(Topology, ReadsThisMachine) {
  const auto topology = Topology::of_machine();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_GE(topology->allowed_pus(), 1u);
  EXPECT_GE(topology->usable_cores(), 1u);
  EXPECT_LE(topology->usable_cores(), topology->allowed_pus());
  for (const Pu& pu : topology->pus) {
    EXPECT_LT(pu.core, topology->cores);
    EXPECT_LT(pu.group, topology->groups);
    EXPECT_LT(pu.package, topology->packages);
  }
}

TEST(Topology, TakesTheQuotaThroughTheRootPath) {
  FakeRoot root;
  root.with("/proc/self/cgroup", "0::/\n").with("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  const auto topology = Topology::of_machine(root.path());
  ASSERT_TRUE(topology.ok());
  ASSERT_TRUE(topology->cpu_quota.has_value());
  EXPECT_EQ(*topology->cpu_quota, 0.5);
  EXPECT_EQ(topology->usable_cores(), 1u);
}

TEST(CpuQuota, IsTheLeastOfAGroupAndThoseAboveIt) {
  FakeRoot root;
  root.with("/proc/self/cgroup", "0::/work.slice/weir.service\n")
      .with("/sys/fs/cgroup/work.slice/weir.service/cpu.max", "400000 100000\n")
      .with("/sys/fs/cgroup/work.slice/cpu.max", "150000 100000\n");
  EXPECT_EQ(read_cpu_quota(root.path()), 1.5);
}

TEST(CpuQuota, IsAbsentWhereThereIsNone) {
  FakeRoot nothing;
  EXPECT_EQ(read_cpu_quota(nothing.path()), std::nullopt);
  FakeRoot max;
  max.with("/proc/self/cgroup", "0::/a\n").with("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_EQ(read_cpu_quota(max.path()), std::nullopt);
}

TEST(CpuQuota, IsFoundInsideAContainerThatSeesAPathOfItsHost) {
  FakeRoot root;
  root.with("/proc/self/cgroup", "0::/docker/0123abc\n")
      .with("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(read_cpu_quota(root.path()), 2.0);
}

TEST(CpuQuota, IsReadFromVersionOneToo) {
  FakeRoot root;
  root.with("/proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/x\n")
      .with("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n")
      .with("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n")
      .with("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .with("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cpu_quota(root.path()), 3.0);
}

TEST(CpuQuota, IgnoresFilesThatHoldSomethingElse) {
  for (const char* text :
       {"", "\n", "max", "12", "x y", "0 100000", "-5 100000", "5 0", "1e9 100000 "}) {
    FakeRoot root;
    root.with("/proc/self/cgroup", "garbage\n:\n0::/\n").with("/sys/fs/cgroup/cpu.max", text);
    if (std::string(text) == "1e9 100000 ") {
      read_cpu_quota(root.path());  // a prefix of a number: either reading is fine, no crash
      continue;
    }
    EXPECT_EQ(read_cpu_quota(root.path()), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace weir::core
