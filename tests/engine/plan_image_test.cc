// The plan and the cuts, saved and restored: whatever comes after is as if nothing had happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>
#include <random>

#include "engine/cuts.h"
#include "engine/plan.h"
#include "synopses/state_directory.h"
#include "synopses/state_file.h"
#include "tests/engine/images.h"
#include "tests/engine/requests.h"
#include "tests/support/temporary_folder.h"

namespace weir::engine {
namespace {

using testing::HasSubstr;

constexpr unsigned kWorkers = 2;

core::Routes two_workers() {
  core::Routes routes;
  routes.workers = kWorkers;
  for (std::size_t slot = 0; slot < routes.slot_owner.size(); ++slot) {
    routes.slot_owner[slot] = static_cast<std::uint16_t>(slot % kWorkers);
  }
  return routes;
}

// One engine's worth of what workers share, with a first worker and one that lags behind.
class Side {
 public:
  Side(const std::string& directory, Period emit)
      : directory_(directory),
        plans(names, {emit, directory, &kinds, start_hierarchies(), group_options(emit)}),
        cursor(emit) {}

  void cross(Cut cut) {
    cut.routes = &routes_;
    plans.cross(cut, [this](const std::shared_ptr<const Crossing>& crossing) {
      seen.push_back(show(*crossing));
      made_.push_back(crossing);
    });
    // What the owner of the first part does in the end.
    for (const Action& action : made_.back()->actions) {
      if (action.ask != nullptr && action.ask->kind == Ask::Kind::kSave) write(*action.ask);
    }
    late_.push_back(std::move(cut));
  }
  void catch_up() {
    for (; !late_.empty(); late_.pop_front()) {
      plans.cross(late_.front(), [](const auto&) { FAIL() << "it is not the first"; });
    }
  }
  std::string image() const {
    core::Writer out;
    names.save(out);
    plans.save(out);
    cursor.save(out);
    return out.take();
  }
  Status restore(std::string_view image) {
    core::Reader in(image);
    if (Status s = names.restore(in); !s.ok()) return s;
    if (Status s = plans.restore(in, kinds); !s.ok()) return s;
    if (Status s = cursor.restore(in, kinds); !s.ok()) return s;
    EXPECT_TRUE(in.rest().empty());
    if (plans.next_ordinal() == cursor.next_ordinal()) return {};
    return {Code::kInvalid, "plan and positions are not of one place"};
  }

 private:
  static GroupOptions group_options(Period emit) {
    GroupOptions options;
    options.emit = emit;
    return options;
  }
  std::vector<HierarchyChange> start_hierarchies() const {
    GroupOptions options;
    options.emit = {5'000'000, 0};
    options.mode = GroupOptions::Mode::kTumbling;
    options.fields = {"price"};
    return {{std::make_shared<const hierarchy::Registry>(registry_of("child,parent\ns1,first\n")),
             options}};
  }
  void write(const Ask& ask) {
    const Build& build = *ask.of.front().build;
    const Request& of = *build.request;
    const auto bytes =
        synopses::save(*build.prototype, {of.dataset, ask.stream, of.field, of.weight});
    EXPECT_TRUE(synopses::save_in(directory_, ask.path, bytes).ok());
    ask.done();
  }
  std::string show(const Build& build) {
    std::string text = std::to_string(build.number) + " " + identity_of(*build.request) + " " +
                       std::to_string(build.column) + " " +
                       std::to_string(static_cast<int>(build.scheme)) + " " +
                       std::to_string(build.parts) + " " + std::string(describe(*build.prototype)) +
                       " " + engine::show(*build.request);
    if (build.weight.has_value()) text += " w" + std::to_string(*build.weight);
    text += " " + std::string(names.keys().dataset_name(build.dataset));
    if (!build.whole_dataset()) text += "/" + std::string(keys.key(build.stream).stream);
    return text;
  }
  std::string show(const Crossing& crossing) {
    std::string text =
        std::to_string(crossing.ordinal) + " e" + std::to_string(raw(crossing.plan->epoch)) + " " +
        std::to_string(crossing.plan->builds) + "+" + std::to_string(crossing.plan->queries);
    for (const Action& action : crossing.actions) {
      text += "\n " + std::to_string(static_cast<int>(action.kind)) + " ";
      if (action.build != nullptr) text += show(*action.build);
      if (action.hierarchy != nullptr) {
        text += saved(*action.hierarchy->registry) +
                std::to_string(action.hierarchy->options.emit.ns) + " " +
                std::to_string(static_cast<int>(action.hierarchy->options.mode));
      }
      if (action.ask == nullptr) continue;
      const Ask& ask = *action.ask;
      text += std::to_string(static_cast<int>(ask.kind)) + " " + std::to_string(action.answer) +
              " " + describe(ask.query) + " " + std::to_string(ask.query.now) + " " +
              std::to_string(ask.since) + (ask.changes ? "c" : "") + (ask.query.ended ? "$" : "") +
              " " + ask.path;
      for (const Ask::Of& of : ask.of) text += " <" + show(*of.build) + ">";
    }
    for (std::size_t i = 0; i < crossing.answers.size(); ++i) {
      text +=
          "\n " + std::to_string(crossing.contributors[i]) + " " + crossing.answers[i].to_json();
    }
    // Messages name files; no two runs have the same.
    for (std::size_t at = 0; !directory_.empty() && (at = text.find(directory_)) < text.size();) {
      text.erase(at, directory_.size());
    }
    return text;
  }

  const std::string directory_;
  const core::Routes routes_ = two_workers();
  std::deque<std::shared_ptr<const Crossing>> made_;
  std::deque<Cut> late_;

 public:
  core::KeyTable keys;
  Names names{keys};
  Kinds kinds;
  PlanLog plans;
  CutCursor cursor;
  std::vector<std::string> seen;
};

class Scenario {
 public:
  explicit Scenario(unsigned seed) : random_(seed) {
    if (one_in(2)) {
      emit_.ns = 20;
    } else {
      emit_.records = 1 + random_() % 40;
    }
    for (std::uint64_t i = 0; i < 60; ++i) start_.push_back(request(position()));
    std::int64_t clock = 1000;
    for (int b = 0; b < 25; ++b) {
      core::Columns& columns = blocks_.emplace_back();
      columns.reset(0);
      for (std::uint64_t r = random_() % 12; r > 0; --r, ++columns.records) {
        if (one_in(5)) continue;
        clock += static_cast<std::int64_t>(random_() % 7);
        columns.record.push_back(columns.records);
        const std::int64_t behind = one_in(4) ? static_cast<std::int64_t>(random_() % 30) : 0;
        columns.time.push_back(clock - behind);
        columns.stream.push_back(StreamId{0});
        columns.max_time = std::max(columns.max_time, clock - behind);
      }
      live_.emplace_back();
      if (!one_in(3)) continue;
      for (std::uint64_t i = random_() % 6; i > 0; --i) {
        live_.back().push_back(request(one_in(2) ? "" : position()));
      }
    }
  }

  // With `restarts`, goes on in a new Side before some blocks.
  std::vector<std::string> run(const std::string& directory, bool restarts, unsigned seed) const {
    std::mt19937 random(seed);
    auto side = std::make_unique<Side>(directory, emit_);
    side->names.column("price");
    side->cross(side->cursor.start(start_));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (random() % 3 == 0) side->catch_up();
      if (restarts && random() % 4 == 0) {
        auto next = std::make_unique<Side>(directory, emit_);
        next->names.column("price");
        const std::string image = side->image();
        const Status status = next->restore(image);
        EXPECT_TRUE(status.ok()) << status.message();
        if (!status.ok()) return {};
        EXPECT_TRUE(next->image() == image);
        next->seen = std::move(side->seen);
        side = std::move(next);
      }
      side->cursor.add_live(live_[b]);
      if (Cut cut; side->cursor.live(cut)) side->cross(std::move(cut));
      for (Cut cut; side->cursor.next(blocks_[b], cut); cut = {}) side->cross(cut);
      side->cursor.finish(blocks_[b]);
    }
    side->cross(side->cursor.end());
    return side->seen;
  }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }
  const char* pick(std::initializer_list<const char*> of) {
    return *(of.begin() + random_() % of.size());
  }
  std::string position() {
    const std::string n = std::to_string(random_() % 180);
    switch (random_() % 5) {
      case 0:
        return R"(,"at":{"record":)" + n + "}";
      case 1:
        // Below 1e11 an epoch is in seconds: positions of times are set as numbers below.
        return "@" + n;
      case 2:
        return R"(,"at":{"end":true})";
      case 3:
        return R"(,"at":{"record":)" + std::to_string(random_() % 60) + "}";
      default:
        return "";
    }
  }
  Scheduled request(std::string at) {
    std::optional<std::int64_t> time;
    if (at.starts_with('@')) time = 1000 + std::stoll(at.substr(1));
    if (time.has_value()) at.clear();
    Request made = one(text() + at + R"(,"requestID":)" + std::to_string(order_) + "}");
    if (time.has_value()) made.at = Position{Position::Kind::kTime, {}, Time{*time}};
    return {order_++, std::make_shared<const Request>(std::move(made))};
  }
  std::string text() {
    const char* const word = pick({"build", "build", "build", "query", "query", "query", "query",
                                   "delete", "list", "registry", "save", "load", "wrong"});
    const std::string op(word);
    if (op == "list") return R"({"op":"list")";
    if (op == "registry") {
      return std::string(R"({"registry":{"identifier":")") + pick({"first", "second", "s3"}) +
             R"(","name":"N","children":[{"identifier":")" + pick({"s1", "s2", "second"}) +
             R"("}]})";
    }
    const std::string kind = pick({"CountMin", "HyperLogLog", "LSH", "GKQuantiles"});
    std::string text = R"({"op":")" + op + R"(","synopsis":")" + kind + R"(","dataset":")" +
                       pick({"D", "E"}) + R"(","field":")" + pick({"price", "volume", "x"}) + "\"";
    if (!one_in(4)) text += std::string(R"(,"stream":")") + pick({"s1", "s2", "s3"}) + "\"";
    if (op == "build") {
      text += kind == "CountMin"      ? R"(,"params":{"epsilon":0.1,"confidence":0.9})"
              : kind == "HyperLogLog" ? R"(,"params":{"rsd":0.2})"
              : kind == "LSH"         ? R"(,"params":{"window":16,"bits":8,"seed":1})"
                                      : R"(,"params":{"epsilon":0.1})";
      if (one_in(3)) text += R"(,"parallelism":3)";
      if (one_in(3) && kind == "CountMin") text += R"(,"weight":"volume")";
      if (one_in(3) && kind != "LSH") text += R"(,"window":{"size":"40ns","slide":"20ns"})";
    }
    if (op == "query") {
      text += kind == "CountMin"      ? R"(,"query":5)"
              : kind == "GKQuantiles" ? R"(,"query":0.5)"
              : kind == "LSH"         ? R"(,"query":["correlated",0.5])"
                                      : "";
      if (one_in(2)) text += R"(,"continuous":true)";
    }
    if (op == "save" || op == "load") text += R"(,"path":")" + kind + "\"";
    return text;
  }

  std::mt19937 random_;
  Period emit_;
  std::uint64_t order_ = 0;
  std::vector<Scheduled> start_;
  std::deque<core::Columns> blocks_;
  std::vector<std::vector<Scheduled>> live_;
};

TEST(PlanImage, GoesOnAsIfNothingHadHappened) {
  std::map<std::string, int> kinds;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Scenario scenario(seed);
    const tests::TemporaryFolder straight, restarted;
    const std::vector<std::string> expected = scenario.run(straight.path(), false, seed);
    const std::vector<std::string> actual = scenario.run(restarted.path(), true, seed);
    for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
      ASSERT_EQ(actual[i], expected[i]) << seed;
    }
    ASSERT_EQ(actual.size(), expected.size()) << seed;
    // Every kind of thing happens.
    for (const std::string& crossing : expected) {
      for (const char* word : {"\"ack\"", "\"error\"", "\"ad-hoc\"", "\"continuous\"", "\n 3 ",
                               "stands with other parameters", R"("op":"load")", "slide"}) {
        kinds[word] += crossing.find(word) != std::string::npos ? 1 : 0;
      }
    }
  }
  for (const auto& [word, times] : kinds) EXPECT_GT(times, 10) << word;
}

std::vector<Scheduled> scheduled(std::string_view texts) {
  std::vector<Scheduled> all;
  for (Request& request : parse(texts)) {
    all.push_back({all.size(), std::make_shared<const Request>(std::move(request))});
  }
  return all;
}

TEST(PlanImage, SharesTheTablesOfEqualBuildsAgain) {
  const std::string build = R"({"op":"build","synopsis":"LSH","dataset":"D","field":"f",)"
                            R"("params":{"window":64,"bits":32,"seed":1},"stream":)";
  Side before("", {0, 10}), after("", {0, 10});
  before.cross(before.cursor.start(scheduled("[" + build + "\"a\"}," + build + "\"b\"}]")));
  ASSERT_TRUE(after.restore(before.image()).ok());
  const auto builds = after.plans.builds();
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(builds.at(0)->prototype, builds.at(1)->prototype);
  EXPECT_EQ(builds.at(1)->request->stream, "b");
  EXPECT_EQ(after.plans.current()->builds, 2u);
  const auto hierarchies = after.plans.hierarchies();
  ASSERT_EQ(hierarchies.size(), 1u);
  EXPECT_EQ(hierarchies[0].registry->root().identifier, "first");
  EXPECT_EQ(hierarchies[0].options.mode, GroupOptions::Mode::kTumbling);
}

TEST(PlanImage, KnowsOfSavesThatAreUnderWay) {
  const tests::TemporaryFolder folder;
  core::KeyTable keys;
  Names names(keys);
  Kinds kinds;
  const core::Routes routes;
  PlanLog plans(names, {{0, 10}, folder.path(), &kinds});
  CutCursor cursor({0, 10});
  std::function<void()> done;
  Cut cut = cursor.start(scheduled("[" + named("build", kParams) + "," +
                                   named("save", R"(,"path":"a","at":{"start":true})") + "]"));
  cut.routes = &routes;
  plans.cross(cut, [&](const std::shared_ptr<const Crossing>& crossing) {
    done = crossing->actions.back().ask->done;
  });
  EXPECT_TRUE(plans.saves_done(0));
  EXPECT_FALSE(plans.saves_done(cursor.next_ordinal()));
  done();
  EXPECT_TRUE(plans.saves_done(cursor.next_ordinal()));
}

TEST(PlanImage, RefusesDamage) {
  const std::string queries =
      R"([{"op":"build","synopsis":"HyperLogLog","dataset":"D","field":"f","stream":"s"},
          {"op":"query","synopsis":"HyperLogLog","dataset":"D","field":"f","stream":"s",
           "continuous":true},
          {"op":"list","at":{"record":5}},{"op":"list","at":{"time":1546387201}}])";
  Side before("", {0, 10});
  before.cross(before.cursor.start(scheduled(queries)));
  const std::string image = before.image();
  for (std::size_t end = 0; end < image.size(); ++end) {
    Side damaged("", {0, 10});
    EXPECT_FALSE(damaged.restore(std::string_view(image).substr(0, end)).ok()) << end;
  }
  // The file's checksums come first, so this is for hostile bytes: nothing worse than an error.
  int refused = 0;
  for (std::size_t at = 0; at < image.size(); ++at) {
    std::string wrong = image;
    wrong[at] = static_cast<char>(wrong[at] ^ (1 << (at % 8)));
    Side damaged("", {0, 10});
    const Status status = damaged.restore(wrong);
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
  EXPECT_GT(refused, 100);
  Side other("", {0, 11});
  EXPECT_THAT(other.restore(image).message(), HasSubstr("another period"));
}

}  // namespace
}  // namespace weir::engine
