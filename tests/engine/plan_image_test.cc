// What all workers share, saved and restored: whatever comes after is as if nothing had happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <random>

#include "engine/cuts.h"
#include "engine/gate.h"
#include "engine/plan.h"
#include "engine/registry_text.h"
#include "engine/request_image.h"
#include "ingest/layout.h"
#include "synopses/state_directory.h"
#include "synopses/state_file.h"
#include "tests/engine/requests.h"
#include "tests/support/temporary_folder.h"

namespace weir::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string saved(const auto& what) {
  core::Writer out;
  what.save(out);
  return out.take();
}

// Requests.

std::string saved(const Request& request) {
  core::Writer out;
  save(request, out);
  return out.take();
}

// All that anybody reads of a request.
std::string show(const Request& r) {
  std::string text = std::to_string(static_cast<int>(r.op));
  for (const std::string& part : {r.text, r.request_id, r.uid, r.partition, r.dataset, r.stream,
                                  r.field, r.weight, r.query_json, r.path, r.error}) {
    text += "|" + part;
  }
  text += "|" + std::to_string(r.synopsis_id) + "|" + (r.type != nullptr ? r.type->name : "-");
  text += "|" + std::to_string(r.params.form);
  for (const double value : r.params.values) text += "," + std::to_string(value);
  text += "|" + std::to_string(r.parallelism) + "|" + std::to_string(r.window.size) + "," +
          std::to_string(r.window.slide) + "," + std::to_string(r.window.grace);
  text += "|" + describe(r.query) + (r.continuous ? "|continuous" : "");
  const Position at = r.position();
  text += "|" + std::to_string(static_cast<int>(at.kind)) + "," + std::to_string(raw(at.record)) +
          "," + std::to_string(at.time.ns);
  if (r.registry != nullptr) text += "|" + saved(*r.registry);
  return text;
}

Request restored(const Request& request) {
  const std::string bytes = saved(request);
  core::Reader in(bytes);
  Kinds kinds;
  const auto again = restore_request(in, kinds);
  EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << request.text;
  EXPECT_TRUE(in.rest().empty());
  return again.ok() ? **again : Request();
}

TEST(RequestImage, BehavesAsTheRequestDid) {
  const std::vector<std::string> texts = {
      named("build",
            R"(,"params":{"epsilon":0.002,"confidence":0.99},"parallelism":3,"weight":"v",)"
            R"("window":{"size":"5m","slide":60},"requestID":18446744073709551615)"),
      named("query",
            R"(,"query":[1,"a",null,true,2.5],"continuous":true,"uid":"u","at":{"record":7})"),
      named("query", R"(,"query":null)"),
      named("delete", R"(,"at":{"time":1546387201})"),
      named("save", R"(,"path":"a/b")"),
      named("load", R"(,"path":"a/b","at":{"end":true})"),
      R"({"op":"list"})",
      paper(R"(["CountMin","price","Construct",0.002,0.99,1])"),
      paper(R"([5,"price","Queryable","Continuous"])"),
      paper(R"(["LOAD_REQUEST","file"])"),
      R"({"registry":{"identifier":"r","name":"R","children":[{"identifier":"s","name":"S"}]}})",
      // Wrong ones, of each kind of wrong.
      named("build", R"(,"params":{"epsilon":-1})"),
      R"({"op":"build","synopsis":"Cuontmin","dataset":"D","stream":"S","field":"f"})",
      R"({"op":"plugin","path":"none.so","requestID":1})",
      R"({"neither":true})",
      R"([5, "text", [{"op":"list"}], {"op":"list","n":1e999}])",
  };
  for (const std::string& text : texts) {
    for (Request request : parse(text)) {
      EXPECT_FALSE(request.text.empty());
      EXPECT_EQ(show(restored(request)), show(request));
      // As the engine changes it when it is scheduled.
      request.at = Position{Position::Kind::kRecord, RecordPosition{99}, {}};
      EXPECT_EQ(show(restored(request)), show(request));
      request.error = "it does not fit";
      EXPECT_EQ(show(restored(request)), show(request));
    }
  }
}

TEST(RequestImage, KeepsWhatALoadMadeOfIt) {
  Request build = good(R"({"param":["LOAD_REQUEST","file"],"dataSetKey":"D","streamID":"s",)"
                       R"("synopsisID":1,"requestID":5})");
  build.op = Op::kBuild;
  build.field = "price";
  build.weight = "volume";
  build.parallelism = 4;
  build.window = {600, 60, 6};
  build.params = good(named("build", kParams)).params;
  EXPECT_EQ(show(restored(build)), show(build));
}

TEST(RequestImage, RefusesWhatNoRequestCouldBe) {
  Kinds kinds;
  const auto refused = [&](const Request& request) {
    const std::string bytes = saved(request);
    core::Reader in(bytes);
    return restore_request(in, kinds).status().message();
  };
  Request build = good(named("build", kParams));
  build.parallelism = 0;
  EXPECT_THAT(refused(build), HasSubstr("no build can be like this"));
  build = good(named("build", kParams));
  build.params.values[0] = -1;
  EXPECT_THAT(refused(build), HasSubstr("no build can be like this"));
  Request list = good(R"({"op":"list"})");
  list.text = "[]";
  EXPECT_THAT(refused(list), HasSubstr("it says nothing"));
  list.text = R"({"op":"lsit"})";
  EXPECT_THAT(refused(list), HasSubstr("cannot be read again: op is"));
  list.text = named("query");
  EXPECT_THAT(refused(list), HasSubstr("another kind of synopsis"));
}

// A request that named no kind when it was read is answered so, though there is such a kind now.
TEST(RequestImage, OfAKindThatHasComeSinceStaysWrong) {
  Request request = good(named("query"));
  request.type = nullptr;
  request.synopsis_id = 0;
  request.error = "no such kind";
  EXPECT_EQ(show(restored(request)), show(request));
}

// Registries.

hierarchy::Registry registry_of(std::string_view text) {
  auto read = parse_registries(text, "test");
  EXPECT_TRUE(read.ok()) << read.status().message();
  return std::move(read->front());
}

TEST(RegistryImage, ComesBackWithItsNamesAndRefusesDamage) {
  const hierarchy::Registry before = registry_of(
      R"({"identifier":"root","name":"Root","children":[
          {"identifier":"b","children":[{"identifier":"s1","name":"S"},{"identifier":"s2"}]},
          {"identifier":"a","name":"A","children":[
              {"identifier":"b","children":[{"identifier":"s2"},{"identifier":"s1"}]},
              {"identifier":"none","children":[]}]}]})");
  const std::string bytes = saved(before);
  core::Reader in(bytes);
  const auto after = hierarchy::Registry::restore(in);
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_TRUE(in.rest().empty());
  EXPECT_TRUE(after->same_as(before));
  EXPECT_EQ(saved(*after), bytes);
  EXPECT_EQ(after->root().name, "Root");
  EXPECT_EQ(after->find("s1"), before.find("s1"));

  for (std::size_t end = 0; end < bytes.size(); ++end) {
    core::Reader cut(std::string_view(bytes).substr(0, end));
    EXPECT_FALSE(hierarchy::Registry::restore(cut).ok()) << end;
  }
  // No change of a byte breaks an invariant; some give another registry that is right.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] ^ (1 << bit));
      core::Reader damaged(wrong);
      const auto read = hierarchy::Registry::restore(damaged);
      if (!read.ok()) continue;
      const std::string again = saved(*read);
      core::Reader once_more(again);
      const auto same = hierarchy::Registry::restore(once_more);
      ASSERT_TRUE(same.ok());
      EXPECT_TRUE(same->same_as(*read));
    }
  }
}

// Names, and the gate.

TEST(Names, KeepTheirNumbers) {
  core::KeyTable keys;
  Names before(keys);
  for (const char* field : {"price", "volume", "temperature"}) before.column(field);
  before.set_default_field("volume");
  const std::string bytes = saved(before);

  core::KeyTable other_keys;
  Names after(other_keys);
  // What the configuration names comes in another order, and a field has come to it.
  after.column("volume");
  after.column("new");
  core::Reader in(bytes);
  ASSERT_TRUE(after.restore(in).ok());
  EXPECT_TRUE(in.rest().empty());
  EXPECT_THAT(after.fields()->names, ElementsAre("price", "volume", "temperature", "new"));
  EXPECT_EQ(after.default_field(), "volume");
  EXPECT_EQ(after.known_column("temperature"), 2u);
  EXPECT_EQ(after.column("new"), 3u);
  EXPECT_EQ(after.column("newer"), 4u);
  for (std::size_t end = 0; end < bytes.size(); ++end) {
    Names damaged(other_keys);
    core::Reader cut(std::string_view(bytes).substr(0, end));
    EXPECT_FALSE(damaged.restore(cut).ok());
  }
}

TEST(Gate, GoesOnInTheMiddleOfARow) {
  constexpr std::int64_t kHour = 3600 * kNanosPerSecond;
  core::KeyTable keys;
  const StreamId stream = keys.find_or_add(keys.dataset("D"), "s");
  const ingest::Layout layout = *ingest::layout_by_name("titan");
  const auto routes = std::make_shared<core::Routes>();
  // One record an entry: few enough that none is looked for in its block until a row is complete.
  const auto passes = [&](Gate& gate, std::uint64_t seq, std::int64_t time) {
    Entry entry;
    entry.columns.reset(0);
    entry.columns.records = 1;
    entry.columns.record.push_back(0);
    entry.columns.time.push_back(time);
    entry.columns.stream.push_back(stream);
    entry.columns.max_time = time;
    const std::string line = "record\n";
    entry.block.bytes.append(line.data(), line.size());
    entry.layout = &layout;
    entry.batches.resize(1);
    entry.routes = routes;
    gate.pass(entry, Seq{seq});
    return entry.columns.tuples() == 1;
  };
  Gate before(kHour, keys);
  EXPECT_TRUE(passes(before, 0, kHour));
  for (std::uint64_t i = 1; i < 40; ++i) EXPECT_FALSE(passes(before, i, 9 * kHour));
  const std::string bytes = saved(before);
  Gate after(kHour, keys);
  core::Reader in(bytes);
  ASSERT_TRUE(after.restore(in).ok());
  for (std::uint64_t i = 0; i < 24; ++i) EXPECT_FALSE(passes(after, i, 9 * kHour)) << i;
  EXPECT_TRUE(passes(after, 24, 9 * kHour));
  Gate damaged(kHour, keys);
  core::Reader cut(std::string_view(bytes).substr(1));
  EXPECT_FALSE(damaged.restore(cut).ok());
}

// The plan and the cuts.

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

  void cross(const Cut& cut) {
    plans.cross(cut, [this](const std::shared_ptr<const Crossing>& crossing) {
      seen.push_back(show(*crossing));
      made_.push_back(crossing);
    });
    // What the owner of the first part does in the end.
    for (const Action& action : made_.back()->actions) {
      if (action.ask != nullptr && action.ask->kind == Ask::Kind::kSave) write(*action.ask);
    }
    late_.push_back(cut);
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
      if (!live_[b].empty()) side->cross(side->cursor.live(live_[b]));
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
    if (op == "save" || op == "load") text += std::string(R"(,"path":")") + pick({"a", "b"}) + "\"";
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
                               "stands with other parameters", "load", "slide"}) {
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
  PlanLog plans(names, routes, {{0, 10}, folder.path(), &kinds});
  CutCursor cursor({0, 10});
  std::function<void()> done;
  const Cut cut =
      cursor.start(scheduled("[" + named("build", kParams) + "," +
                             named("save", R"(,"path":"a","at":{"start":true})") + "]"));
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
