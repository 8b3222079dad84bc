// Requests, registries, names and the gate, saved and restored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gate.h"
#include "engine/plan.h"
#include "ingest/layout.h"
#include "tests/engine/images.h"
#include "tests/engine/requests.h"

namespace weir::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

}  // namespace
}  // namespace weir::engine
