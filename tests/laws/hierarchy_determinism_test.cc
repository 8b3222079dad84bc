// The determinism law with hierarchies: results, and answers of synopses on sensors and on groups,
// are a function of records, registries and requests alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/gzip.h"
#include "tests/support/memory_source.h"
#include "tests/support/observed_run.h"
#include "tests/support/random_records.h"
#include "tests/support/temporary_folder.h"

namespace weir::tests {
namespace {

using Mode = GroupOptions::Mode;

struct OfMode {
  const char* prefix;  // of the identifiers of its groups
  GroupOptions options;
};

std::vector<OfMode> all_modes() {
  constexpr std::int64_t kS = kNanosPerSecond;
  const std::vector<std::string> fields{"price", "volume"};
  GroupOptions changelog;
  changelog.mode = Mode::kChangelog;
  changelog.emit = {60 * kS, 0};
  changelog.fields = fields;
  GroupOptions tumbling = changelog;
  tumbling.mode = Mode::kTumbling;
  tumbling.emit = {30 * kS, 0};
  tumbling.grace = 40 * kS;
  GroupOptions sliding = tumbling;
  sliding.mode = Mode::kSliding;
  sliding.window = 60 * kS;
  sliding.advance = 20 * kS;
  GroupOptions latest = changelog;
  latest.mode = Mode::kLatest;
  latest.emit = {5 * kS, 0};
  latest.max_age = 60 * kS;
  GroupOptions counted = changelog;
  counted.mode = Mode::kLatest;
  counted.emit = {0, 250};
  counted.late = GroupOptions::Late::kArrival;
  counted.dataset = "Stocks";
  return {{"c", changelog}, {"t", tumbling}, {"s", sliding}, {"l", latest}, {"n", counted}};
}

// {p} stands for the prefix. The second moves S1 and S5, and takes b away.
const char* const kFirst = R"({"identifier":"{p}_root","name":"all","children":[
  {"identifier":"{p}_a","children":[{"identifier":"S0"},{"identifier":"S1"},{"identifier":"S2"}]},
  {"identifier":"{p}_b","children":[{"identifier":"S3"},{"identifier":"{p}_c","children":[
    {"identifier":"S4"},{"identifier":"S5"},{"identifier":"S0"}]}]},
  {"identifier":"S6"},{"identifier":"absent"}]})";
const char* const kSecond = R"({"identifier":"{p}_root","name":"all","children":[
  {"identifier":"{p}_a","children":[{"identifier":"S0"},{"identifier":"S5"},{"identifier":"S2"}]},
  {"identifier":"{p}_c","children":[{"identifier":"S4"},{"identifier":"S1"},{"identifier":"S7"}]},
  {"identifier":"S6"}]})";

std::string with_prefix(std::string text, const std::string& prefix) {
  for (std::size_t at; (at = text.find("{p}")) != std::string::npos;) text.replace(at, 3, prefix);
  std::erase(text, '\n');
  return text;
}

std::string all_requests() {
  std::string text =
      R"({"op":"build","synopsis":"CountMin","dataset":"Stocks","stream":"S0","field":"price","params":{"epsilon":0.01,"confidence":0.99,"seed":1}}
{"op":"query","synopsis":"CountMin","dataset":"Stocks","stream":"S0","field":"price","query":105.5,"continuous":true}
{"op":"build","synopsis":"GKQuantiles","dataset":"groups","stream":"","field":"price.average","params":{"epsilon":0.01}}
{"op":"query","synopsis":"GKQuantiles","dataset":"groups","stream":"","field":"price.average","query":0.5,"continuous":true}
)";
  std::size_t place = 3000;
  for (const OfMode& of : all_modes()) {
    for (const char* field : {"price.sum", "price.average", "volume.count", "price.min",
                              "volume.max", "price.members", "price.sensors", "price.missing"}) {
      text += fmt::format(
          R"({{"op":"build","synopsis":"CountMin","dataset":"groups","stream":"{0}_root","field":"{1}","params":{{"epsilon":0.01,"confidence":0.99,"seed":1}}}}
{{"requestID":"{0} {1}","op":"query","synopsis":"CountMin","dataset":"groups","stream":"{0}_root","field":"{1}","query":3,"at":{{"end":true}}}}
)",
          of.prefix, field);
    }
    text += fmt::format(
        R"({{"op":"build","synopsis":"DFT","dataset":"groups","stream":"{0}_a","field":"price.sum","params":{{"window":32,"slide":8,"coefficients":3}}}}
{{"op":"query","synopsis":"DFT","dataset":"groups","stream":"{0}_a","field":"price.sum","continuous":true}}
{{"op":"build","synopsis":"HyperLogLog","dataset":"groups","stream":"{0}_c","field":"volume.sum","params":{{"rsd":0.02}},"window":{{"size":"60s","grace":"60s"}}}}
{{"op":"query","synopsis":"HyperLogLog","dataset":"groups","stream":"{0}_c","field":"volume.sum","continuous":true}}
{{"op":"query","synopsis":"CountMin","dataset":"groups","stream":"{0}_root","field":"price.sum","query":500,"at":{{"record":7000}}}}
)",
        of.prefix);
    text += fmt::format(R"({{"at":{{"record":{}}},"registry":{}}})"
                        "\n",
                        place, with_prefix(kSecond, of.prefix));
    text += fmt::format(R"({{"at":{{"time":"2019-01-02T00:31:0{}Z"}},"registry":{}}})"
                        "\n",
                        place % 9, with_prefix(kFirst, of.prefix));
    place += 777;
  }
  return text;
}

Config config_of(unsigned threads, std::size_t block = 512 << 10) {
  Config config;
  config.threads = threads;
  config.block_size = block;
  config.layout = "saams";
  config.placement = "none";
  config.emit = {0, 250};
  for (const OfMode& of : all_modes()) {
    config.hierarchies.push_back({with_prefix(kFirst, of.prefix), of.prefix, of.options});
  }
  return config;
}

ObservedRun replay(const std::string& lines, const Config& config, std::size_t max_piece = 0,
                   std::uint32_t seed = 1) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<MemorySource>(lines, max_piece, seed));
  return observe(config, all_requests(), std::move(sources));
}

void expect_same(const ObservedRun& run, const ObservedRun& expected, const std::string& what) {
  EXPECT_EQ(run.fingerprint(), expected.fingerprint()) << what;
  EXPECT_EQ(run.answers, expected.answers) << what;
  ASSERT_EQ(run.results.size(), expected.results.size()) << what;
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    ASSERT_EQ(run.results[i], expected.results[i]) << what << ", result " << i;
  }
}

std::string lines_of_seed(std::uint64_t seed, std::size_t n = 12000) {
  return as_lines(random_records(seed, n));
}

TEST(HierarchyDeterminism, TheSameAtEveryNumberOfThreadsAndSplitOfRoles) {
  const std::string lines = lines_of_seed(1);
  const ObservedRun expected = replay(lines, config_of(1));
  for (const OfMode& of : all_modes()) {
    const auto& h = expected.summary.hierarchies.at(std::string(of.prefix) + "_root");
    EXPECT_GT(h.results, 100u) << of.prefix;
    EXPECT_GT(h.applied, 1000u) << of.prefix;
    EXPECT_GT(h.unrouted, 100u) << of.prefix;
  }
  for (const std::string& answer : expected.answers) {
    EXPECT_EQ(answer.find(R"("kind":"error")"), std::string::npos) << answer;
  }
  for (const unsigned threads : {2u, 4u, 8u}) {
    expect_same(replay(lines, config_of(threads, 16 << 10)), expected,
                fmt::format("{} threads", threads));
  }
  for (const auto& [ingest, shard] : {std::pair(1u, 3u), std::pair(3u, 2u)}) {
    Config config = config_of(0, 16 << 10);
    config.ingest_threads = ingest;
    config.shard_threads = shard;
    expect_same(replay(lines, config), expected, fmt::format("{} + {} threads", ingest, shard));
  }
}

TEST(HierarchyDeterminism, TheSameForEveryBlockSizeAndChunking) {
  const std::string lines = lines_of_seed(2);
  const ObservedRun expected = replay(lines, config_of(1));
  std::uint32_t seed = 0;
  for (const std::size_t block : {4 << 10, 5001, 64 << 10, 8 << 20}) {
    for (const std::size_t piece : {0, 100, 9000}) {
      expect_same(replay(lines, config_of(2, block), piece, ++seed), expected,
                  fmt::format("blocks of {}, pieces of {}", block, piece));
    }
  }
}

TEST(HierarchyDeterminism, TheSameFromCompressedFiles) {
  const std::string lines = lines_of_seed(3);
  const ObservedRun expected = replay(lines, config_of(1));
  const TemporaryFolder folder;
  const std::string half = lines.substr(0, lines.find('\n', lines.size() / 2) + 1);
  for (const auto& inputs : std::vector<std::vector<std::string>>{
           {folder.write("whole.gz", gzip(lines))},
           {folder.write("a.gz", gzip(half)), folder.write("b", lines.substr(half.size()))}}) {
    auto sources = open_sources(inputs);
    ASSERT_TRUE(sources.ok()) << sources.status().message();
    expect_same(observe(config_of(4, 8 << 10), all_requests(), *std::move(sources)), expected,
                inputs.front());
  }
}

TEST(HierarchyDeterminism, TheSameWhenPushedByTheHost) {
  const std::string lines = lines_of_seed(4, 6000);
  const ObservedRun expected = replay(lines, config_of(1));
  for (const std::size_t piece : {777, 70'000}) {
    Config config = config_of(3, 8 << 10);
    config.digest = true;
    auto engine = Engine::create(config);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    ObservedRun run;
    engine->on_answer([&](const Answer& answer) {
      run.answers.push_back(answer.to_json());
      run.answers_hash = XXH3_64bits_withSeed(run.answers.back().data(), run.answers.back().size(),
                                              run.answers_hash);
    });
    engine->on_result([&](const GroupResult& result) {
      run.results.emplace_back();
      result.append_json(run.results.back());
    });
    ASSERT_TRUE(engine->request(all_requests()).ok());
    ASSERT_TRUE(engine->start().ok());
    for (std::size_t at = 0; at < lines.size();) {
      const auto chunk = std::string_view(lines).substr(at, piece);
      if (engine->push(chunk) == Push::kAccepted) at += chunk.size();
    }
    auto summary = engine->finish();
    ASSERT_TRUE(summary.ok()) << summary.status().message();
    run.summary = *std::move(summary);
    expect_same(run, expected, fmt::format("pushes of {}", piece));
  }
}

// What a synopsis on a group is given are the group's results, each once.
TEST(HierarchyDeterminism, GivesSynopsesOnGroupsEveryResult) {
  const ObservedRun run = replay(lines_of_seed(5), config_of(4, 8 << 10));
  std::map<std::string, std::uint64_t> values;  // "c price.sum" -> results that have it
  for (const std::string& result : run.results) {
    const std::string prefix = result.substr(result.find(R"("identifier":")") + 14, 1);
    if (result.find(prefix + R"(_root","hierarchy")") == std::string::npos) continue;
    const std::string field =
        result.find(R"("field":"price")") == std::string::npos ? "volume" : "price";
    for (const char* name :
         {"sum", "average", "count", "min", "max", "members", "sensors", "missing"}) {
      const bool none = result.find(fmt::format(R"("{}":null)", name)) != std::string::npos;
      if (!none) ++values[prefix + " " + field + "." + name];
    }
  }
  std::size_t asked = 0;
  for (const std::string& answer : run.answers) {
    const std::size_t id = answer.find(R"("requestID":")");
    if (id == std::string::npos) continue;
    const std::string what = answer.substr(id + 13, answer.find('"', id + 13) - id - 13);
    EXPECT_NE(answer.find(fmt::format(R"("n":{},)", values[what])), std::string::npos)
        << values[what] << " of " << what << "\n"
        << answer;
    ++asked;
  }
  EXPECT_EQ(asked, 8 * all_modes().size());
}

// Controls: what must be seen to differ, or the law would hold for an engine that does nothing.
TEST(HierarchyDeterminism, SeesTwoSwappedRecordsOfASensor) {
  std::vector<std::string> records = random_records(6, 12000);
  const ObservedRun expected = replay(as_lines(records), config_of(2));
  const auto is_good = [](const std::string& r) {
    return r.find(R"("S0","dataSetKey":"Stocks")") != std::string::npos &&
           r.find(R"("price":1)") != std::string::npos && r.ends_with("}") && !r.ends_with("}}") &&
           r.find(R"("date":"01/)") != std::string::npos;
  };
  const auto first = std::find_if(records.begin() + 4000, records.end(), is_good);
  const auto second = std::find_if(first + 500, records.end(), [&](const std::string& r) {
    return is_good(r) && r.substr(r.find("\"price")) != first->substr(first->find("\"price"));
  });
  ASSERT_NE(second, records.end());
  // Only the values change places, so that times and counts stay.
  const std::string a = first->substr(first->find("\"price"));
  const std::string b = second->substr(second->find("\"price"));
  first->replace(first->find("\"price"), std::string::npos, b);
  second->replace(second->find("\"price"), std::string::npos, a);
  const ObservedRun run = replay(as_lines(records), config_of(2));
  EXPECT_EQ(run.summary.applied, expected.summary.applied);
  EXPECT_NE(run.results, expected.results);
  EXPECT_NE(run.summary.digest, expected.summary.digest);  // synopses of sums have seen it
}

TEST(HierarchyDeterminism, SeesOneRecordLost) {
  std::vector<std::string> records = random_records(7, 12000);
  const ObservedRun expected = replay(as_lines(records), config_of(2));
  const auto victim = std::find_if(records.begin() + 6000, records.end(), [](const auto& r) {
    return r.find(R"("S0","dataSetKey":"Stocks")") != std::string::npos && r.ends_with("}");
  });
  ASSERT_NE(victim, records.end());
  records.erase(victim);
  const ObservedRun run = replay(as_lines(records), config_of(2));
  EXPECT_NE(run.results, expected.results);
  EXPECT_NE(run.summary.digest, expected.summary.digest);
}

}  // namespace
}  // namespace weir::tests
