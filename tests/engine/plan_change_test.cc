// Changes of several things take effect together or not at all, and what was changed is let go of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <fmt/format.h>

#include "engine/plan.h"
#include "tests/engine/requests.h"

namespace weir::engine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string of(const std::string& op, const std::string& stream, const std::string& more = "") {
  return fmt::format(R"({{"op":"{}","synopsis":"CountMin","dataset":"D","stream":"{}",)"
                     R"("field":"price"{}}})",
                     op, stream, more);
}
std::string build(const std::string& stream, double epsilon = 0.1) {
  return of("build", stream,
            fmt::format(R"(,"params":{{"epsilon":{},"confidence":0.9}})", epsilon));
}
std::string ask(const std::string& stream) {
  return of("query", stream, R"(,"query":5,"continuous":true)");
}
std::string registry(const std::string& root, const std::string& member) {
  return fmt::format(
      R"({{"registry":{{"identifier":"{}","children":[{{"identifier":"{}","children":[]}}]}}}})",
      root, member);
}
std::string change(const std::string& parts) { return R"({"change":[)" + parts + "]}"; }

core::Routes routes_to(unsigned workers) {
  core::Routes routes;
  routes.workers = workers;
  return routes;
}

class PlanChange : public testing::Test {
 protected:
  explicit PlanChange(unsigned workers = 1)
      : routes_(routes_to(workers)),
        plans_(names_, {.emit = {0, 10},
                        .state_directory = {},
                        .kinds = &kinds_,
                        .rescale = [this](unsigned count, unsigned ingest) {
                          return rescale(count, ingest);
                        }}) {}
  virtual Status rescale(unsigned count, unsigned ingest) {
    asked_.push_back(count * 1000 + ingest);
    return rescaled_;
  }
  // One cut with these requests.
  std::shared_ptr<const Crossing> cross(const std::string& requests, bool emission = false) {
    Cut cut;
    cut.ordinal = ordinal_++;
    cut.routes = &routes_;
    cut.emission = emission;
    std::uint64_t order = 0;
    for (Request& request : requests.empty() ? std::vector<Request>() : parse(requests)) {
      cut.requests.push_back({order++, std::make_shared<const Request>(std::move(request))});
    }
    std::shared_ptr<const Crossing> crossing;
    for (unsigned worker = 0; worker < routes_.workers; ++worker) {
      crossing = plans_.cross(cut, [](const auto&) {});
    }
    return crossing;
  }
  Answer answer(const std::string& request) {
    const auto crossing = cross(request);
    EXPECT_EQ(crossing->answers.size(), 1u);
    return crossing->answers.front();
  }
  std::string stands() { return answer(R"({"op":"list"})").estimate; }
  std::size_t asked_at_an_emission() { return cross("", true)->answers.size(); }
  std::uint64_t epoch() { return raw(plans_.current()->epoch); }

  core::KeyTable keys_;
  Names names_{keys_};
  core::Routes routes_;
  Kinds kinds_;
  std::vector<unsigned> asked_;
  Status rescaled_;
  PlanLog plans_;
  std::uint64_t ordinal_ = 0;
};

TEST_F(PlanChange, IsAcknowledgedOnceWithWhatItChanged) {
  cross(build("A") + build("B") + ask("B"));
  const auto crossing =
      cross(change(build("C") + "," + ask("C") + "," + of("delete", "B") + "," + build("A") + "," +
                   registry("plant", "hall") + "," + registry("mill", "room")));
  ASSERT_EQ(crossing->answers.size(), 1u);
  EXPECT_EQ(crossing->answers[0].kind, Answer::Kind::kAck);
  EXPECT_EQ(crossing->answers[0].estimate,
            R"({"added":["D/C/price CountMin"],"removed":["D/B/price CountMin"],)"
            R"("queries":{"added":1,"removed":1},"registries":["mill","plant"]})");
  EXPECT_EQ(crossing->answers[0].n, 6u);
  EXPECT_EQ(crossing->actions.size(), 4u);
  EXPECT_EQ(epoch(), 2u);
  EXPECT_EQ(raw(crossing->answers[0].epoch), 2u);
  EXPECT_EQ(plans_.current()->builds, 2u);
  EXPECT_EQ(plans_.current()->queries, 1u);
}

TEST_F(PlanChange, ReplacesASynopsisThatItDeletesAndBuilds) {
  cross(build("A") + ask("A"));
  const auto crossing = cross(change(of("delete", "A") + "," + build("A", 0.2) + "," + ask("A")));
  EXPECT_EQ(crossing->answers[0].estimate,
            R"({"added":["D/A/price CountMin"],"removed":["D/A/price CountMin"],)"
            R"("queries":{"added":1,"removed":1},"registries":[]})");
  ASSERT_EQ(crossing->actions.size(), 2u);
  EXPECT_EQ(crossing->actions[0].kind, Action::Kind::kRemove);
  EXPECT_EQ(crossing->actions[1].kind, Action::Kind::kCreate);
  EXPECT_EQ(asked_at_an_emission(), 1u);
}

TEST_F(PlanChange, ThatChangesNothingLeavesTheEpoch) {
  cross(build("A") + registry("plant", "hall"));
  const Answer nothing = answer(change(build("A") + "," + registry("plant", "hall")));
  EXPECT_EQ(nothing.kind, Answer::Kind::kAck);
  EXPECT_EQ(nothing.estimate,
            R"({"added":[],"removed":[],"queries":{"added":0,"removed":0},"registries":[]})");
  EXPECT_EQ(epoch(), 1u);
}

TEST_F(PlanChange, IsRefusedWholeWhereverAPartFails) {
  cross(build("A") + build("B") + ask("A") + ask("B") + registry("plant", "hall"));
  const std::string stood = stands();
  const std::vector<std::string> parts = {build("C"),
                                          ask("C"),
                                          of("delete", "A"),
                                          build("A", 0.2),
                                          ask("A"),
                                          of("delete", "C"),
                                          build("C", 0.3),
                                          registry("plant", "room"),
                                          registry("mill", "hall"),
                                          registry("plant", "door"),
                                          of("delete", "B", R"(,"continuous":true,"query":5)")};
  for (std::size_t good = 0; good <= parts.size(); ++good) {
    std::string all;
    for (std::size_t i = 0; i < good; ++i) all += parts[i] + ",";
    const auto crossing = cross(change(all + of("delete", "nowhere")));
    ASSERT_EQ(crossing->answers.size(), 1u);
    const Answer& answer = crossing->answers[0];
    EXPECT_EQ(answer.kind, Answer::Kind::kError);
    EXPECT_THAT(answer.reason,
                StartsWith(fmt::format("change[{}]: no CountMin stands on D/nowhere/price", good)));
    EXPECT_TRUE(crossing->actions.empty());
    EXPECT_EQ(epoch(), 1u);
    EXPECT_EQ(stands(), stood);
    EXPECT_EQ(asked_at_an_emission(), 2u);
    EXPECT_EQ(plans_.current()->queries, 2u);
    // The hierarchies are those there were: this one has still the group, and no other has it.
    EXPECT_EQ(this->answer(registry("plant", "hall")).reason, "unchanged");
    EXPECT_EQ(this->answer(registry("other", "hall")).kind, Answer::Kind::kError);
  }
  // All of them without what was wrong.
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ",") + part;
  EXPECT_EQ(answer(change(all)).reason, "");
  EXPECT_EQ(epoch(), 2u);
}

TEST_F(PlanChange, TakesBackOnlyWhatItDidItself) {
  cross(build("A") + build("B") + ask("A") + ask("B"));
  // Before it, at the same cut, a synopsis goes; behind it another one comes.
  const auto crossing =
      cross(of("delete", "A") + change(of("delete", "B") + "," + of("delete", "A")) + build("C"));
  ASSERT_EQ(crossing->answers.size(), 3u);
  EXPECT_EQ(crossing->answers[1].kind, Answer::Kind::kError);
  EXPECT_EQ(crossing->actions.size(), 2u);
  EXPECT_EQ(asked_at_an_emission(), 1u);
  EXPECT_THAT(stands(), testing::AllOf(HasSubstr("\"B\""), HasSubstr("\"C\""),
                                       testing::Not(HasSubstr("\"A\""))));
}

TEST_F(PlanChange, EndsContinuousQueriesAlone) {
  cross(build("A") + ask("A") + ask("A") + of("query", "A", R"(,"query":6,"continuous":true)"));
  EXPECT_EQ(asked_at_an_emission(), 3u);
  const std::string end = of("delete", "A", R"(,"continuous":true,"query":5)");
  EXPECT_EQ(answer(end).kind, Answer::Kind::kAck);
  EXPECT_EQ(asked_at_an_emission(), 1u);
  const Answer again = answer(end);
  EXPECT_EQ(again.kind, Answer::Kind::kError);
  EXPECT_EQ(again.reason, "no continuous query asks 5 of CountMin on D/A/price at this position");
}

TEST_F(PlanChange, AsksForWorkersLastAndOnlyIfTheRestGoesWell) {
  EXPECT_EQ(answer(R"({"workers":3,"ingest":1})").kind, Answer::Kind::kAck);
  EXPECT_EQ(asked_, std::vector{3001u});
  EXPECT_EQ(answer(change(R"({"workers":4},)" + of("delete", "A"))).kind, Answer::Kind::kError);
  EXPECT_EQ(asked_.size(), 1u);
  const Answer both = answer(change(R"({"workers":4},)" + build("A")));
  EXPECT_THAT(both.estimate, HasSubstr(R"("registries":[],"workers":4})"));
  EXPECT_EQ(asked_, (std::vector{3001u, 4000u}));
  rescaled_ = Status(Code::kInvalid, "no more than 2");
  EXPECT_EQ(answer(R"({"workers":5})").reason, "no more than 2");
  EXPECT_EQ(answer(change(R"({"workers":5},)" + build("B"))).reason, "change[0]: no more than 2");
  EXPECT_THAT(stands(), testing::Not(HasSubstr("\"B\"")));
  EXPECT_EQ(epoch(), 1u);
}

TEST(PlanChangeWithoutRescale, SaysThatWorkersCannotBeChanged) {
  core::KeyTable keys;
  Names names(keys);
  const core::Routes routes;
  const Kinds kinds;
  PlanLog plans(names, {.emit = {0, 10}, .state_directory = {}, .kinds = &kinds});
  Cut cut;
  cut.routes = &routes;
  cut.requests.push_back({0, std::make_shared<const Request>(one(R"({"workers":2})"))});
  EXPECT_EQ(plans.cross(cut, [](const auto&) {})->answers.front().reason,
            "the number of workers cannot be changed here");
}

class TwoWorkers : public PlanChange {
 protected:
  TwoWorkers() : PlanChange(2) {}
};

// Each change replaces everything, with parameters that no other had; every other one fails.
TEST_F(TwoWorkers, KeepNothingOfPlansThatWereChanged) {
  const auto once = [this](int i) {
    const std::string epsilon = fmt::format("{}", 0.1 + i * 1e-5);
    std::string parts;
    for (const char* stream : {"A", "B", "C"}) {
      parts += of("delete", stream) + "," + build(stream, 0.1 + i * 1e-5) + "," + ask(stream) + ",";
    }
    parts += registry("plant", fmt::format("hall {}", i % 7));
    cross(change(parts + (i % 2 == 0 ? "" : "," + of("delete", "nowhere"))));
  };
  cross(build("A") + build("B") + build("C"));
  for (int i = 0; i < 1000; ++i) once(i);
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 1000; i < 6000; ++i) once(i);
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_EQ(plans_.pending(), 0u);
  EXPECT_LT(after, before + (std::size_t{256} << 10));
  EXPECT_EQ(plans_.current()->builds, 3u);
  EXPECT_EQ(plans_.current()->queries, 3u);
}

}  // namespace
}  // namespace weir::engine
