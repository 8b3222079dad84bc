// The oracle against the worked cases: it is trusted in the laws, so it is tested here.

#include "tests/oracle/hierarchy_oracle.h"

#include <gtest/gtest.h>

#include "tests/oracle/hierarchy_cases.h"

namespace weir::tests {
namespace {

TEST(HierarchyOracle, GivesTheWorkedCases) {
  for (const HierarchyCase& c : hierarchy_cases()) {
    const OracleOutcome outcome = HierarchyOracle::run(c.scenario);
    std::vector<std::string> published;
    for (const OracleResult& r : outcome.results) {
      if (r.final) continue;
      published.push_back(
          cases::short_text(r.identifier, r.window_start, r.state.count, r.state.sum));
    }
    EXPECT_EQ(published, c.published) << c.name;
    EXPECT_EQ(outcome.all.late, c.late) << c.name;
    for (const OracleAnswer& answer : outcome.answers) EXPECT_TRUE(answer.taken) << c.name;
  }
}

TEST(HierarchyOracle, ClosesPendingWindowsAtTheEnd) {
  for (const HierarchyCase& c : hierarchy_cases()) {
    if (c.name != "W1") continue;
    const OracleResult last = HierarchyOracle::run(c.scenario).results.back();
    EXPECT_TRUE(last.final);
    EXPECT_EQ(last.text().substr(0, 16), "R of R valueInW ");
    EXPECT_EQ(last.window_start.ns, 10 * kNanosPerSecond);
    EXPECT_EQ(last.seq, 3u);
  }
}

TEST(HierarchyOracle, CountsASensorOfADiamondOnce) {
  for (const HierarchyCase& c : hierarchy_cases()) {
    if (c.name != "U15") continue;
    const OracleResult root = HierarchyOracle::run(c.scenario).results.back();
    EXPECT_EQ(root.state.sensors, 1u);
    EXPECT_EQ(root.state.members, 2u);
    EXPECT_EQ(root.state.missing, 0u);
  }
}

TEST(FixedSum, AddsByHalvesInBlocksOfSixteen) {
  EXPECT_EQ(fixed_sum({}), 0);
  EXPECT_EQ(fixed_sum({1e16, 1, 0, 0, 0, 0, 0, 0, -1e16, 1}), 2);  // 0 + 8 first
  EXPECT_EQ(fixed_sum({1e16, 1, -1e16}), 1);                       // (0 + 2) + 1
  EXPECT_EQ(fixed_sum({1, 1e16, -1e16}), 0);                       // (0 + 2) + 1, where 1 is lost
  std::vector<double> seventeen(17, 0.0);
  seventeen[0] = 1e16;
  seventeen[1] = 1;
  seventeen[15] = 1;
  seventeen[16] = -1e16;
  EXPECT_EQ(fixed_sum(seventeen), 2);
}

}  // namespace
}  // namespace weir::tests
