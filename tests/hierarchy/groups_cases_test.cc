// The cases of the meaning of hierarchies: what is published for a few tuples, in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hierarchy/groups_run.h"

namespace weir::hierarchy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> published(const Spec& spec, const char* registry,
                                   std::initializer_list<const char*> tuples) {
  GroupsRun run(spec);
  run.put(registry);
  run.feed(tuples);
  return run.lines;
}

TEST(GroupsCases, W1PublishesAWindowOnceItsFirstUpdateIsAsOldAsThePeriod) {
  EXPECT_THAT(published(tumbling(), "R{x,y}", {"x@1=7", "y@6=5", "y@11=1"}),
              ElementsAre("R[0,10) 2,12"));
}
TEST(GroupsCases, W2TakesTheNewestMeasurementOfEachSensor) {
  EXPECT_THAT(published(tumbling(), "R{x,y}", {"x@2=7", "y@5=5", "x@8=20", "y@14=1"}),
              ElementsAre("R[0,10) 2,25"));
}
TEST(GroupsCases, W4PublishesAgainWhatALateRecordCorrects) {
  EXPECT_THAT(published(tumbling(), "R{x,y}", {"x@2=7", "y@5=5", "y@16=1", "x@8=20", "y@26=2"}),
              ElementsAre("R[0,10) 2,12", "R[0,10) 2,25", "R[10,20) 1,1"));
}
TEST(GroupsCases, W6PublishesFromTheBottomUp) {
  EXPECT_THAT(
      published(tumbling(), "R{G{a,b},H{c,d}}", {"a@1=3", "c@1=4", "b@6=5", "d@6=6", "d@11=9"}),
      ElementsAre("G[0,10) 2,8", "H[0,10) 2,10", "R[0,10) 2,18"));
}
TEST(GroupsCases, W8TakesTheLaterArrivalOnATie) {
  EXPECT_THAT(published(tumbling(), "R{x,y}", {"x@3=7", "x@3=8", "y@4=1", "y@13=0"}),
              ElementsAre("R[0,10) 2,9"));
}
TEST(GroupsCases, W10PublishesEveryWindowThatFallsDue) {
  EXPECT_THAT(published(tumbling(), "R{x,y}", {"x@3=7", "y@4=1", "x@13=9", "x@33=1"}),
              ElementsAre("R[0,10) 2,8", "R[10,20) 1,9"));
}
TEST(GroupsCases, W13RefusesWhatComesAfterTheGrace) {
  GroupsRun run(tumbling(0));
  run.put("R{x,y}");
  run.feed({"x@2=7", "y@5=5", "y@16=1", "x@8=20", "y@26=2"});
  EXPECT_THAT(run.lines, ElementsAre("R[0,10) 2,12", "R[10,20) 1,1"));
  EXPECT_THAT(run.verdicts, ElementsAre(kTaken, kTaken, kTaken, kLate, kTaken));
  EXPECT_EQ(run.groups().counts().at("R").late, 1u);
}
TEST(GroupsCases, WindowsLeftAtTheEndAreFinal) {
  GroupsRun run(tumbling());
  run.put("R{x,y}");
  run.feed({"x@3=7", "y@4=1", "x@13=9", "x@33=1"});
  run.lines.clear();
  run.finish();
  EXPECT_THAT(run.lines, ElementsAre("R[30,40) 1,1 final"));
}

TEST(GroupsCases, U1PublishesEveryMeasurement) {
  EXPECT_THAT(published(changelog(), "R{x,y}", {"x@1=7.5", "y@2=2.5", "x@3=9.5"}),
              ElementsAre("R 1,7.5", "R 2,10", "R 2,12"));
}
TEST(GroupsCases, U2PublishesLeafGroupsFirst) {
  EXPECT_THAT(published(changelog(), "R{G{x,y},z}", {"x@1=4", "y@2=6", "z@3=1", "x@4=0"}),
              ElementsAre("G 1,4", "R 1,4", "G 2,10", "R 1,10", "R 2,11", "G 2,6", "R 2,7"));
}
TEST(GroupsCases, U3PublishesEveryHierarchyOfASensor) {
  GroupsRun run(changelog());
  run.put("P{x,y}");
  run.put("Q{x}");
  run.feed({"x@1=3", "y@2=5"});
  EXPECT_THAT(run.lines, ElementsAre("P 1,3", "Q 1,3", "P 2,8"));
}
TEST(GroupsCases, U5MovesASensorWithoutTheAncestorSeeingIt) {
  GroupsRun run(changelog());
  run.put("R{A{x,y},B{z}}");
  run.feed({"x@1=1", "y@2=2", "z@3=4"});
  run.lines.clear();
  run.put("R{A{x},B{y,z}}");
  EXPECT_THAT(run.lines, ElementsAre("A 1,1", "B 2,6"));
}
TEST(GroupsCases, U7ANameAlonePublishesNothing) {
  GroupsRun run(changelog());
  Outline root = outline("R{x,y}");
  run.put(registry_of(root));
  run.feed({"x@1=1"});
  run.lines.clear();
  root.name = "Roof";
  root.children[0].name = "Thermometer";
  run.put(registry_of(root));
  EXPECT_THAT(run.lines, IsEmpty());
}
TEST(GroupsCases, U8RefusesOrTakesWhatIsOlderAsTold) {
  GroupsRun reject(changelog());
  reject.put("R{x,y}");
  reject.feed({"x@100=5", "x@90=9"});
  EXPECT_THAT(reject.lines, ElementsAre("R 1,5"));
  EXPECT_THAT(reject.verdicts, ElementsAre(kTaken, kLate));
  Spec spec = changelog();
  spec.options.late = GroupOptions::Late::kArrival;
  EXPECT_THAT(published(spec, "R{x,y}", {"x@100=5", "x@90=9"}), ElementsAre("R 1,5", "R 1,9"));
}
TEST(GroupsCases, U12AGroupThatEmptiesHasASumOfExactlyZero) {
  GroupsRun run(changelog());
  run.put("R{x}");
  run.feed({"x@1=0.1"});
  run.lines.clear();
  run.put("R{}");
  EXPECT_THAT(run.lines, ElementsAre("R 0,0"));
}
TEST(GroupsCases, U15CountsASensorOnceInADiamond) {
  EXPECT_THAT(published(changelog(), "R{G1{s},G2{s}}", {"s@1=5"}),
              ElementsAre("G1 1,5", "G2 1,5", "R 2,5"));
}

}  // namespace
}  // namespace weir::hierarchy
