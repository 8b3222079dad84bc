// Rules of docs/hierarchies.md that the cases do not show, each mode by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hierarchy/groups_run.h"

namespace weir::hierarchy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GroupsRun& with_details(GroupsRun& run) {
  run.details = true;
  return run;
}

TEST(GroupsChangelog, SaysTheStreamTimeAndTheRecordsUpToAndWithItsOwn) {
  GroupsRun run(changelog());
  with_details(run).put("R{x}");
  std::vector<Given> tuples = all_given({"other@9=1", "x@5=3"});
  tuples[1].rejects = 3;
  run.feed(tuples);
  EXPECT_THAT(run.lines, ElementsAre("R 1,3 @9 #5"));
}
TEST(GroupsChangelog, TakesTuplesWithoutTimes) {
  GroupsRun run(changelog());
  with_details(run).put("R{x}");
  run.feed({"x@-=1", "x@-=2", "x@4=3", "x@-=9"});
  EXPECT_THAT(run.lines, ElementsAre("R 1,1 @- #1", "R 1,2 @- #2", "R 1,3 @4 #3"));
  EXPECT_EQ(run.verdicts.back(), kLate);  // before every time
}
TEST(GroupsChangelog, IgnoresWhatIsNoNumber) {
  GroupsRun run(changelog());
  run.put("R{x}");
  std::vector<Given> tuples = all_given({"x@1=1", "x@2=2"});
  tuples[0].values[0].reset();
  run.feed(tuples);
  EXPECT_THAT(run.lines, ElementsAre("R 1,2"));
  EXPECT_THAT(run.verdicts, ElementsAre(kNobody, kTaken));
}
TEST(GroupsChangelog, BringsAKeptValueUnlessItIsTooOld) {
  Spec spec = changelog();
  spec.options.max_age = 10 * kS;
  GroupsRun run(spec);
  run.put("R{x}");
  run.feed({"y@5=5", "z@4=4", "x@15=1"});
  EXPECT_THAT(run.verdicts, ElementsAre(kNobody, kNobody, kTaken));
  run.lines.clear();
  run.put("R{x,y,z}");
  EXPECT_THAT(run.lines, ElementsAre("R 2,6"));
}
TEST(GroupsChangelog, KeepsAnOldValueOfASensorThatMoves) {
  Spec spec = changelog();
  spec.options.max_age = 10 * kS;
  GroupsRun run(spec);
  run.put("R{A{x},B{y}}");
  run.feed({"x@1=5", "y@100=1"});
  run.lines.clear();
  run.put("R{A{},B{x,y}}");
  EXPECT_THAT(run.lines, ElementsAre("A 0,0", "B 2,6", "R 1,6"));
}
TEST(GroupsChangelog, PublishesNewAndGoneGroupsOnceOnTheirOldLevels) {
  GroupsRun run(changelog());
  run.put("R{A{B{x}},C{y}}");
  run.feed({"x@1=1", "y@2=2"});
  run.lines.clear();
  run.put("R{C{y},D{z,x},E{}}");
  EXPECT_THAT(run.lines, ElementsAre("B 0,0 gone", "D 1,1", "A 0,0 gone", "R 2,3"));
  EXPECT_EQ(run.cut_rows.back(), 4u);
}
TEST(GroupsChangelog, PublishesNothingForARegistryThatStands) {
  GroupsRun run(changelog());
  run.put("R{A{x},y}");
  run.feed({"x@1=1"});
  run.lines.clear();
  run.put("R{y,A{x}}");
  EXPECT_THAT(run.lines, IsEmpty());
}
TEST(GroupsChangelog, KnowsASensorOfSeveralDatasetsUnlessOneIsAskedFor) {
  std::vector<Given> tuples = all_given({"x@1=1", "x@2=2"});
  tuples[1].dataset = "E";
  GroupsRun any(changelog());
  any.put("R{x}");
  any.feed(tuples);
  EXPECT_THAT(any.lines, ElementsAre("R 1,1", "R 1,2"));
  Spec spec = changelog();
  spec.options.dataset = "E";
  GroupsRun one(spec);
  one.put("R{x}");
  one.feed(tuples);
  EXPECT_THAT(one.lines, ElementsAre("R 1,2"));
  EXPECT_THAT(one.verdicts, ElementsAre(kNobody, kTaken));
}

TEST(GroupsLatest, PublishesWhatDiffersJustBeforeABoundaryIsReached) {
  GroupsRun run(latest(10));
  with_details(run).put("R{A{x},B{y}}");
  run.feed({"x@3=1", "x@4=2", "y@9=5", "x@10=7", "x@35=8", "y@36=5", "x@41=8"});
  EXPECT_THAT(run.lines, ElementsAre("A 1,2 @9 #3", "B 1,5 @9 #3", "R 2,7 @9 #3",  // 10
                                     "A 1,7 @10 #4", "R 2,12 @10 #4",              // 20 and 30
                                     "A 1,8 @36 #6", "R 2,13 @36 #6"));            // 40
  run.lines.clear();
  run.finish();
  EXPECT_THAT(run.lines, IsEmpty());
  run.feed({"x@42=9"});
  run.finish();
  EXPECT_THAT(run.lines, ElementsAre("A 1,9 @42 #8 final", "R 2,14 @42 #8 final"));
}
TEST(GroupsLatest, ReachesABoundaryOnce) {
  GroupsRun run(latest(10));
  run.put("R{x}");
  run.feed({"x@3=1"});
  run.groups().reach(12 * kS, RecordPosition{1});
  EXPECT_THAT(run.take_lines(), ElementsAre("R 1,1"));
  run.feed({"x@12=2", "x@20=3"});
  EXPECT_THAT(run.lines, ElementsAre("R 1,2"));
}
TEST(GroupsLatest, ANegativeTimeHasBoundariesToo) {
  GroupsRun run(latest(10));
  with_details(run).put("R{x}");
  run.feed({"x@-25=1", "x@-21=2", "x@-20=3", "x@0=4"});
  EXPECT_THAT(run.lines, ElementsAre("R 1,2 @-21 #2", "R 1,3 @-20 #3"));
}
TEST(GroupsLatest, APeriodOfRecordsIsToldByTheOwner) {
  Spec spec = latest(0);
  spec.options.emit.records = 2;
  GroupsRun run(spec);
  run.put("R{x}");
  run.feed({"x@3=1", "x@4=2"});
  run.groups().reach(kNoTime.ns, RecordPosition{2});
  EXPECT_THAT(run.lines, ElementsAre("R 1,2"));
  run.feed({"x@500=3"});
  run.groups().reach(kNoTime.ns, RecordPosition{3});  // somebody else's
  EXPECT_THAT(run.lines, ElementsAre("R 1,2"));
}
TEST(GroupsLatest, ASensorThatIsTooOldHasNoValueUntilItIsMeasuredAgain) {
  GroupsRun run(latest(10, 15));
  run.put("R{x,y}");
  run.feed({"x@4=1", "y@5=2", "x@10=1", "x@20=1"});
  EXPECT_THAT(run.take_lines(), ElementsAre("R 2,3"));  // at 20 y is as old as may be
  run.feed({"x@30=1"});
  EXPECT_THAT(run.take_lines(), ElementsAre("R 1,1"));
  run.feed({"y@4=9", "y@29=7", "x@40=1"});
  EXPECT_EQ(run.verdicts[5], kLate);
  EXPECT_THAT(run.take_lines(), ElementsAre("R 2,8"));
}
TEST(GroupsLatest, ValuesWithoutTimesDoNotAge) {
  GroupsRun run(latest(10, 15));
  run.put("R{x,y}");
  run.feed({"x@-=1", "y@5=2", "z@500=1"});
  EXPECT_THAT(run.lines, ElementsAre("R 1,1"));
}
TEST(GroupsLatest, ChangesKeepWhatIsToBePublished) {
  GroupsRun run(latest(10));
  run.put("R{A{x},B{y,z}}");
  run.feed({"x@1=1", "y@2=2", "z@3=3", "x@11=7"});
  run.lines.clear();
  run.put("R{A{x},B{y}}");
  // A waits for its boundary, R changes now and says all that it has.
  EXPECT_THAT(run.take_lines(), ElementsAre("B 1,2", "R 2,9"));
  run.feed({"z@20=1"});
  EXPECT_THAT(run.take_lines(), ElementsAre("A 1,7"));
  run.put("R{A{x},B{y,z}}");
  EXPECT_THAT(run.take_lines(), ElementsAre("B 2,3", "R 2,10"));
}

TEST(GroupsTumbling, DoesNotPublishAgainWhatIsAsItWas) {
  GroupsRun run(tumbling());
  run.put("R{x,y}");
  run.feed({"x@2=7", "y@16=1", "x@8=7", "y@18=3"});
  EXPECT_THAT(run.take_lines(), ElementsAre("R[0,10) 1,7"));
  EXPECT_EQ(run.verdicts[2], kTaken);
}
TEST(GroupsTumbling, AnUpdateThatIsDueAlreadyIsPublishedAtOnce) {
  GroupsRun run(tumbling(25));
  with_details(run).put("R{x,y}");
  run.feed({"other@30=0", "x@5=7"});
  EXPECT_THAT(run.lines, ElementsAre("R[0,10) 1,7 @30 #2"));
}
TEST(GroupsTumbling, AcceptsWhatIsOlderThanTheSensorsValueWithoutAnUpdate) {
  GroupsRun run(tumbling());
  run.put("R{x}");
  run.feed({"x@5=7", "x@2=1", "z@15=0"});
  EXPECT_THAT(run.lines, ElementsAre("R[0,10) 1,7"));
  EXPECT_THAT(run.verdicts, ElementsAre(kTaken, kTaken, kNobody));
}
TEST(GroupsTumbling, CountsFromTheFirstUpdateInRecordOrder) {
  GroupsRun run(tumbling());
  with_details(run).put("R{x,y}");
  run.feed({"x@8=7", "y@2=1", "z@17=0", "z@18=0"});
  EXPECT_THAT(run.lines, ElementsAre("R[0,10) 2,8 @18 #4"));
}
TEST(GroupsTumbling, NeedsTimes) {
  GroupsRun run(tumbling());
  run.put("R{x}");
  run.feed({"x@-=1", "y@-=1"});
  EXPECT_THAT(run.verdicts, ElementsAre(kNobody, kNobody));
  EXPECT_EQ(run.groups().counts().at("R").without_time, 1u);
  EXPECT_EQ(run.groups().counts().at("R").silent, 1u);
}
// Whatever the tuple held: who has no value may still have been there.
TEST(GroupsTumbling, TellsOfWhichSensorsATupleWas) {
  GroupsRun run(tumbling());
  run.put("R{x,y,w}");
  run.put("Q{w}");
  run.feed({"z@100=1", "x@1=1", "y@-=1"});
  const auto counts = run.groups().counts();
  EXPECT_EQ(counts.at("R").silent, 3u);
  EXPECT_EQ(counts.at("R").met, 2u);
  EXPECT_EQ(counts.at("Q").met, 0u);
}
TEST(GroupsTumbling, WindowsOfNegativeTimesBeginBelow) {
  GroupsRun run(tumbling());
  run.put("R{x}");
  run.feed({"x@-13=1", "x@-10=2", "x@-1=3", "x@30=4"});
  EXPECT_THAT(run.lines, ElementsAre("R[-20,-10) 1,1", "R[-10,0) 1,3"));
}
TEST(GroupsTumbling, WindowsFarApartCostNothingBetween) {
  GroupsRun run(tumbling());
  run.put("R{x}");
  run.feed({"x@1=1", "x@4000000000=2", "x@9000000000=3"});
  EXPECT_THAT(run.lines, ElementsAre("R[0,10) 1,1", "R[4000000000,4000000010) 1,2"));
}
TEST(GroupsTumbling, TimesAtTheEndsOfTheWorldDoNotWrap) {
  GroupsRun run(tumbling());
  run.put("R{x}");
  std::vector<Given> tuples;
  for (const std::int64_t time :
       {kFirstTime, kFirstTime + 1, std::int64_t{0}, kLastTime - 1, kLastTime}) {
    tuples.push_back({"x", time, {1.0}, "D", 0});
  }
  run.feed(tuples);
  EXPECT_THAT(run.verdicts, ElementsAre(kTaken, kTaken, kTaken, kTaken, kTaken));
  EXPECT_EQ(run.lines.size(), 2u);
  run.finish();
  EXPECT_EQ(run.lines.size(), 3u);
  for (const Spec& spec : {latest(10, 20), sliding(20, 10, 10, 5)}) {
    GroupsRun other(spec);
    other.put("R{x}");
    other.feed(tuples);
    other.put("R{x,y}");
    other.finish();
    EXPECT_FALSE(other.lines.empty());
  }
}
TEST(GroupsTumbling, AChangeTellsOfEveryWindowThatIsHeld) {
  GroupsRun run(tumbling(20));
  run.put("R{A{x},B{y}}");
  run.feed({"x@5=1", "y@6=2", "z@7=4", "x@15=10", "z@18=40"});
  EXPECT_THAT(run.take_lines(), ElementsAre("A[0,10) 1,1", "R[0,10) 2,3", "B[0,10) 1,2"));
  run.put("R{A{x},B{z}}");
  EXPECT_THAT(run.take_lines(),
              ElementsAre("B[0,10) 1,4", "R[0,10) 2,5", "B[10,20) 1,40", "R[10,20) 2,50"));
  // A's update waits still; what was published has none.
  run.feed({"z@29=41"});
  EXPECT_THAT(run.take_lines(), ElementsAre("A[10,20) 1,10"));
  run.feed({"z@30=41"});
  run.put("R{A{x}}");
  // [0, 10) is over.
  EXPECT_THAT(run.take_lines(),
              ElementsAre("B[10,20) 0,0 gone", "R[10,20) 1,10", "B[20,30) 0,0 gone", "R[20,30) 0,0",
                          "B[30,40) 0,0 gone", "R[30,40) 0,0"));
}
TEST(GroupsTumbling, AWindowIsHeldWhileAnUpdateWaits) {
  GroupsRun run(tumbling(0));
  run.put("R{x}");
  run.feed({"x@9=1", "y@9=2", "z@12=0"});
  run.put("R{x,y}");
  EXPECT_THAT(run.take_lines(), ElementsAre("R[0,10) 2,3"));
  run.put("R{x}");  // no update waits any more, and the window is over
  EXPECT_THAT(run.lines, IsEmpty());
}
TEST(GroupsTumbling, ASensorThatComesIsMarkedAgain) {
  GroupsRun run(tumbling());
  run.put("R{A{x},y}");
  run.feed({"x@1=1"});
  run.put("R{A{x,y}}");
  EXPECT_THAT(run.take_lines(), ElementsAre("A[0,10) 1,1", "R[0,10) 1,1"));
  run.feed({"x@2=5", "z@12=0"});
  EXPECT_THAT(run.take_lines(), ElementsAre("A[0,10) 1,5", "R[0,10) 1,5"));
}

TEST(GroupsSliding, AMeasurementIsInEveryWindowThatHoldsItsTime) {
  GroupsRun run(sliding(20, 10, 10, 0));
  run.put("R{x,y}");
  run.feed({"x@5=1", "y@12=2", "x@22=4", "y@32=8"});
  EXPECT_THAT(run.lines,
              ElementsAre("R[-10,10) 1,1", "R[0,20) 2,3", "R[10,30) 2,6", "R[20,40) 2,12"));
  run.finish();
  EXPECT_THAT(run.lines.back(), "R[30,50) 1,8 final");
}
TEST(GroupsSliding, IsLateOnlyWhenNoWindowTakesIt) {
  GroupsRun run(sliding(20, 10, 10, 0));
  run.put("R{x,y}");
  run.feed({"y@21=1", "x@5=1", "x@12=2"});
  EXPECT_THAT(run.verdicts, ElementsAre(kTaken, kLate, kTaken));
  run.finish();
  EXPECT_THAT(run.lines, ElementsAre("R[10,30) 2,3 final", "R[20,40) 1,1 final"));
}

TEST(GroupsOrder, OfOneCutIsByWindowLevelHierarchyIdentifierAndField) {
  Spec spec = changelog();
  GroupsRun run(spec_of(spec.options, {"a", "b"}));
  run.put("Q{G{x},H{x}}");
  run.put("P{K{x}}");
  const Spec windows = [] {
    Spec of = tumbling();
    return spec_of(of.options, {"a"});
  }();
  run.put("W{x}", &windows);
  run.feed({{"x", 1 * kS, {1.0, 2.0}, "D", 0}, {"x", 11 * kS, {3.0, 4.0}, "D", 0}});
  EXPECT_THAT(run.lines, ElementsAre("K 1,1", "K 1,2", "G 1,1", "G 1,2", "H 1,1", "H 1,2", "P 1,1",
                                     "P 1,2", "Q 2,1", "Q 2,2",  //
                                     "K 1,3", "K 1,4", "G 1,3", "G 1,4", "H 1,3", "H 1,4", "P 1,3",
                                     "P 1,4", "Q 2,3", "Q 2,4", "W[0,10) 1,1"));
  EXPECT_THAT(run.cut_rows, ElementsAre(10u, 11u));
  const auto counts = run.groups().counts();
  EXPECT_EQ(counts.at("P").applied, 2u);
  EXPECT_EQ(counts.at("W").applied, 2u);
  EXPECT_EQ(counts.at("W").results, 1u);
  EXPECT_EQ(counts.at("Q").results, 12u);
}
TEST(GroupsOrder, AKnownRootKeepsItsSpec) {
  GroupsRun run(changelog());
  run.put("R{x}");
  const Spec other = tumbling();
  run.put("R{x,y}", &other);
  run.feed({"y@1=1"});
  EXPECT_THAT(run.lines, ElementsAre("R 1,1"));
}

}  // namespace
}  // namespace weir::hierarchy
