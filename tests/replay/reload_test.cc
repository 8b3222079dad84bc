// SIGHUP: what is read again becomes one change, or is refused whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/run_texts.h"
#include "tests/replay/running.h"

namespace weir::replay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::TemporaryFolder;

std::string build(const std::string& stream, const std::string& epsilon = "0.1",
                  const std::string& more = "") {
  return R"({"op":"build","synopsis":"CountMin","dataset":"D","stream":")" + stream +
         R"(","field":"price","params":{"epsilon":)" + epsilon + R"(,"confidence":0.9})" + more +
         "}\n";
}
std::string ask(const std::string& stream, const std::string& id,
                const std::string& more = R"(,"continuous":true)") {
  return R"({"requestID":")" + id + R"(","op":"query","synopsis":"CountMin","dataset":"D",)" +
         R"("stream":")" + stream + R"(","field":"price","query":5)" + more + "}\n";
}
std::string deletion(const std::string& stream, const std::string& more = "") {
  return R"({"op":"delete","synopsisID":1,"dataset":"D","stream":")" + stream +
         R"(","field":"price")" + more + "}";
}
const std::string kEnd = R"(,"continuous":true,"query":5)";

RunTexts texts(const std::string& requests, const std::vector<std::string>& registries = {}) {
  RunTexts texts;
  if (!requests.empty()) texts.requests.emplace_back("r.json", requests);
  for (std::size_t i = 0; i < registries.size(); ++i) {
    texts.hierarchies.push_back({registries[i], "h" + std::to_string(i), {}});
  }
  return texts;
}

class ReloadBetween : public testing::Test {
 protected:
  Reload good(const RunTexts& was, const RunTexts& now) {
    auto reload = reload_between(was, now, kinds_);
    EXPECT_TRUE(reload.ok()) << reload.status().message();
    return reload.ok() ? *std::move(reload) : Reload();
  }
  std::string error(const RunTexts& was, const RunTexts& now) {
    return reload_between(was, now, kinds_).status().message();
  }
  engine::Kinds kinds_;
};

TEST_F(ReloadBetween, FindsNothingWhereNothingStandsOtherwise) {
  const std::string requests = build("A") + ask("A", "q") + build("B", "0.1", R"(,"at":null)");
  const Reload reload =
      good(texts(requests), texts(ask("A", "q") + build("B") + " \n" + build("A") +
                                  ask("A", "adhoc", R"(,"at":{"record":5})") +
                                  build("C", "0.1", R"(,"at":{"record":7})")));
  EXPECT_THAT(reload.parts, IsEmpty());
  EXPECT_EQ(reload.summary(), "nothing has changed");
}

TEST_F(ReloadBetween, DeletesWhatIsAbsentAndBuildsWhatIsNew) {
  const Reload reload = good(texts(build("A") + build("B") + ask("B", "q")),
                             texts(build("A") + "[" + build("C", "0.1", R"(,"at":{"start":true})") +
                                   "," + ask("C", "q") + "]"));
  EXPECT_EQ(reload.summary(), "2 added, 2 removed");
  EXPECT_THAT(reload.parts,
              ElementsAre(deletion("B", kEnd), deletion("B"), StartsWith(R"({"op":"build")"),
                          StartsWith(R"({"requestID":"q","op":"query")")));
  EXPECT_THAT(reload.parts[2], Not(HasSubstr("\"at\"")));
}

TEST_F(ReloadBetween, ReplacesABuildThatDiffersAndAsksItAgain) {
  const Reload reload =
      good(texts(build("A") + ask("A", "q")), texts(build("A", "0.2") + ask("A", "q")));
  EXPECT_EQ(reload.summary(), "1 added, 1 removed");
  EXPECT_THAT(reload.parts, ElementsAre(deletion("A", kEnd), deletion("A"), HasSubstr("0.2"),
                                        HasSubstr("\"q\"")));
}

TEST_F(ReloadBetween, EndsAndBeginsContinuousQueriesAlone) {
  const Reload one =
      good(texts(build("A") + ask("A", "p") + ask("A", "q")), texts(build("A") + ask("A", "q")));
  EXPECT_EQ(one.summary(), "1 removed");
  EXPECT_THAT(one.parts, ElementsAre(deletion("A", kEnd), HasSubstr("\"q\"")));
}

TEST_F(ReloadBetween, LeavesAloneWhatHasAPlaceInTheInput) {
  const std::string later = build("A", "0.1", R"(,"at":{"record":5})");
  const Reload reload = good(texts(later + ask("A", "q")), texts(build("B")));
  EXPECT_EQ(reload.summary(), "1 added");
}

TEST_F(ReloadBetween, LooksIntoChangesThatHaveNoPlace) {
  const Reload reload =
      good(texts(build("A")), texts(build("A") + R"({"change":[)" + build("B") + "]}"));
  EXPECT_EQ(reload.summary(), "1 added");
  EXPECT_THAT(reload.parts, ElementsAre(HasSubstr(R"("stream":"B")")));
}

TEST_F(ReloadBetween, RefusesRequestsThatAreWrong) {
  EXPECT_THAT(error(texts(build("A")), texts(build("A", "2"))), StartsWith("r.json: request 1 "));
  EXPECT_THAT(error(texts(build("A")), texts("{")), StartsWith("r.json: "));
  EXPECT_THAT(error(texts(build("A")), texts(build("B") + ask("A", "q"))),
              HasSubstr("no request builds this synopsis"));
}

std::string plant(const std::string& members) {
  return R"({"identifier":"plant","children":[)" + members + "]}";
}
constexpr const char* kHall = R"({"identifier":"hall","children":[{"identifier":"s1"}]})";
constexpr const char* kRoom = R"({"identifier":"room","children":[]})";
std::string mill(const std::string& members) {
  return R"({"identifier":"mill","children":[)" + members + "]}";
}

TEST_F(ReloadBetween, PutsHierarchiesThatDifferWhereTheyStand) {
  const Reload reload =
      good(texts("", {plant(kHall), mill("")}), texts("", {plant(kRoom), mill("")}));
  EXPECT_EQ(reload.summary(), "1 registry");
  EXPECT_THAT(reload.parts, ElementsAre(R"({"registry":)" + plant(kRoom) + "}"));
  EXPECT_THAT(
      good(texts("", {"child,parent\ns1,hall\nhall,plant\n"}), texts("", {plant(kHall)})).parts,
      IsEmpty());
  EXPECT_THAT(good(texts("", {plant("")}), texts("", {"s1,hall\nhall,plant\n"})).parts,
              ElementsAre(R"({"registry":)" + plant(kHall) + "}"));
}

TEST_F(ReloadBetween, LetsAGroupLeaveOneHierarchyBeforeItComesToAnother) {
  const Reload reload =
      good(texts("", {mill(""), plant(kHall)}), texts("", {mill(kHall), plant("")}));
  EXPECT_THAT(reload.parts, ElementsAre(R"({"registry":)" + plant("") + "}",
                                        R"({"registry":)" + mill(kHall) + "}"));
  EXPECT_EQ(reload.summary(), "2 registries");
  EXPECT_THAT(error(texts("", {mill(kRoom), plant(kHall)}), texts("", {mill(kHall), plant(kRoom)})),
              HasSubstr("cannot be changed in one step"));
}

TEST_F(ReloadBetween, TakesNoHierarchyAwayAndKeepsHowItIsAggregated) {
  EXPECT_THAT(error(texts("", {plant(kHall)}), texts("")),
              StartsWith("hierarchy plant cannot be taken away while it runs"));
  RunTexts other = texts("", {plant(kHall)});
  other.hierarchies[0].options = GroupOptions{};
  other.hierarchies[0].options->fields = {"price"};
  EXPECT_THAT(error(texts("", {plant(kHall)}), other),
              StartsWith("how hierarchy plant is aggregated cannot be changed"));
  EXPECT_THAT(error(texts(""), other), StartsWith("hierarchy plant is new, so"));
  EXPECT_THAT(error(texts("", {plant(kHall)}), texts("", {"{}"})), StartsWith("h0: "));
}

TEST_F(ReloadBetween, ChangesThreadsAndNamesWhatCannotBeChanged) {
  RunTexts was = texts(build("A")), now = was;
  was.options.engine.threads = 1;
  now.options.engine.threads = 3;
  EXPECT_THAT(good(was, now).parts, ElementsAre(R"({"workers":3,"ingest":0})"));
  EXPECT_EQ(good(was, now).summary(), "3 workers");
  now.options.engine.threads = 0;
  now.options.engine.ingest_threads = 2;
  now.options.engine.shard_threads = 1;
  EXPECT_THAT(good(was, now).parts, ElementsAre(R"({"workers":1,"ingest":2})"));
  now.options.inputs = {"other"};
  EXPECT_EQ(error(was, now), "inputs cannot be changed while it runs");
  now.options.inputs.clear();
  now.options.engine.emit = {5, 0};
  EXPECT_EQ(error(was, now), "emit cannot be changed while it runs");
}

class Reloading : public testing::Test {
 protected:
  void write_config(const std::string& more = "") const {
    folder_.write("run.toml", "inputs = [\"" + records_.path() + "\"]\nlayout = \"saams\"\n" +
                                  "requests = [\"" + folder_.at("r.json") + "\"]\n" + more);
  }
  std::vector<std::string> arguments() const {
    return {"replay", "--config", folder_.at("run.toml"), "--emit", "1 records"};
  }
  TemporaryFolder folder_;
  NamedPipe records_{folder_};
};

TEST_F(Reloading, TakesWhatHasChangedAndKeepsWhatHasNot) {
  folder_.write("r.json", build("A") + ask("A", "q"));
  write_config();
  Subprocess weir(arguments());
  records_.send(saams_records(4));
  answer_with(weir, "continuous");  // it runs
  folder_.write("r.json", build("A") + ask("A", "q") + build("B") + ask("B", "p"));
  weir.signal(SIGHUP);
  EXPECT_THAT(answer_with(weir, "reload 1"),
              AllOf(HasSubstr(R"("kind":"ack")"),
                    HasSubstr(R"("added":["D/B/price CountMin"],"removed":[])")));
  // A file that is wrong, and a setting that stays: the run goes on as it was.
  folder_.write("r.json", build("A", "7"));
  weir.signal(SIGHUP);
  const auto said = [&](const std::string& what) {
    std::string err;
    while (err.find(what) == std::string::npos && weir.read_error_line(err)) {
    }
    return err;
  };
  EXPECT_THAT(said("reload"), HasSubstr("weir: reload: 2 added"));
  EXPECT_THAT(said("r.json"), AllOf(HasSubstr("r.json: request 1 (build CountMin of D/A price): "),
                                    HasSubstr("; nothing was changed")));
  write_config("digest = true\n");
  weir.signal(SIGHUP);
  EXPECT_EQ(said("digest"),
            "weir: reload: digest cannot be changed while it runs; nothing was changed");
  write_config();
  folder_.write("r.json", build("B") + ask("B", "p"));
  weir.signal(SIGHUP);
  EXPECT_EQ(said("reload"), "weir: reload: 2 removed");
  weir.signal(SIGHUP);
  EXPECT_EQ(said("reload"), "weir: reload: nothing has changed");
  records_.send(saams_records(4));
  EXPECT_THAT(answer_with(weir, R"("seq":7)"), HasSubstr(R"("requestID":"p")"));
  records_.end();
  const Finished ran = weir.finish();
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(Reloading, ReadsFilesOfTheCommandLineToo) {
  folder_.write("r.json", build("A"));
  Subprocess weir(
      {"replay", "--requests", folder_.at("r.json"), "--layout", "saams", records_.path()});
  std::string line;
  ASSERT_TRUE(weir.read_line(line));  // that of the build: the run has begun
  folder_.write("r.json", build("A") + build("B"));
  weir.signal(SIGHUP);
  EXPECT_THAT(answer_with(weir, "reload 1"), HasSubstr("D/B/price CountMin"));
  records_.send(saams_records(4));
  records_.end();
  EXPECT_EQ(weir.finish().status, 0);
}

}  // namespace
}  // namespace weir::replay
