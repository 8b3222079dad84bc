// A change of a hierarchy equals a fresh start: whatever the changes were, what stands is what a
// new engine with the last registry says of the last values; and at no cut is a sensor seen twice
// at a common ancestor, or not at all.

#include <gtest/gtest.h>

#include <map>

#include "tests/support/hierarchy_run.h"
#include "tests/support/random_hierarchies.h"

namespace weir::tests {
namespace {

using Mode = GroupOptions::Mode;
using Key = std::pair<std::string, std::string>;  // group, field

// Only one hierarchy and its registry changes, of a mode without windows and without ages, so that
// the values that stand are the newest of each sensor.
OracleScenario plain_scenario(std::uint64_t seed, Mode mode, GroupOptions::Late late) {
  const RandomHierarchies random(seed, "titan", false);
  OracleScenario scenario = random.scenario();
  scenario.max_jump = 0;
  scenario.defaults.mode = mode;
  scenario.defaults.late = late;
  scenario.defaults.emit = {3 * kNanosPerSecond, 0};
  scenario.defaults.grace = scenario.defaults.window = scenario.defaults.advance = 0;
  scenario.defaults.max_age = 0;
  for (auto& standing : scenario.standing) standing.options.reset();
  return scenario;
}

using LastValues = std::map<Key, double>;  // sensor, field

// The newest value of each stream after so many records.
LastValues last_values(const OracleScenario& scenario, std::uint64_t records) {
  LastValues last;
  std::map<Key, Time> times;
  const GroupOptions& o = scenario.defaults;
  for (std::uint64_t i = 0; i < records && i < scenario.records.size(); ++i) {
    const OracleRecord& record = scenario.records[i];
    if (record.broken) continue;
    if (!o.dataset.empty() && record.dataset != o.dataset) continue;
    for (const std::string& field : o.fields) {
      const auto value = record.number(field);
      if (!value.has_value()) continue;
      const Key key{record.stream, field};
      if (o.late == GroupOptions::Late::kReject && times.contains(key) &&
          record.time < times[key]) {
        continue;
      }
      last[key] = *value;
      times[key] = record.time;
    }
  }
  return last;
}

struct Published {
  std::uint64_t count = 0, members = 0, sensors = 0, missing = 0, seq = 0;
  double sum = 0;
  std::optional<double> min, max;
  std::string text() const {
    return fmt::format("count {} members {} sensors {} missing {} sum {:a} min {:a} max {:a}",
                       count, members, sensors, missing, sum, min.value_or(0), max.value_or(0));
  }
};

struct Seen {
  std::map<Key, Published> last;  // of each group
  std::vector<std::pair<Key, Published>> all;
  std::vector<bool> taken;  // changes
};

Seen watch(const OracleScenario& scenario, unsigned threads) {
  Seen seen;
  seen.taken.resize(scenario.changes.size());
  Config config;
  config.layout = "titan";
  config.placement = "none";
  config.threads = threads;
  config.block_size = 4096;
  config.groups = scenario.defaults;
  for (const auto& standing : scenario.standing) {
    config.hierarchies.push_back({standing.registry.json(), "registry", standing.options});
  }
  auto engine = Engine::create(config);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  if (!engine.ok()) return seen;
  engine->on_result([&](const GroupResult& r) {
    const Published p{r.count, r.members, r.sensors, r.missing, raw(r.seq), r.sum, r.min, r.max};
    const Key key{std::string(r.identifier), std::string(r.field)};
    seen.last[key] = p;
    seen.all.emplace_back(key, p);
  });
  engine->on_answer([&](const Answer& answer) {
    const std::size_t id = std::strtoull(answer.request_id.c_str(), nullptr, 10);
    if (id < seen.taken.size()) seen.taken[id] = answer.kind == Answer::Kind::kAck;
  });
  engine->add_source(std::make_unique<MemorySource>(lines_of(scenario, "titan")));
  const std::string changes = changes_of(scenario);
  if (!changes.empty()) {
    EXPECT_TRUE(engine->request(changes).ok());
  }
  EXPECT_TRUE(engine->start().ok());
  const auto summary = engine->finish();
  EXPECT_TRUE(summary.ok());
  return seen;
}

// One record a sensor with the values that stand.
OracleScenario fresh_start(const OracleScenario& of, const PlainRegistry& registry) {
  OracleScenario fresh;
  fresh.defaults = of.defaults;
  fresh.standing.push_back({registry, std::nullopt});
  for (const auto& [key, value] : last_values(of, of.records.size())) {
    OracleRecord record;
    record.stream = key.first;
    record.dataset = "titan";
    record.time = {1'574'000'000 * kNanosPerSecond};
    record.fields = {{key.second, value}};
    fresh.records.push_back(record);
  }
  return fresh;
}

TEST(HierarchyChange, EqualsAFreshStartWithTheLastRegistry) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const OracleScenario scenario =
        plain_scenario(seed, seed % 2 == 0 ? Mode::kLatest : Mode::kChangelog,
                       seed % 3 == 0 ? GroupOptions::Late::kArrival : GroupOptions::Late::kReject);
    // Values are kept from the first hierarchy on; here, from the start.
    if (scenario.standing.empty()) continue;
    const Seen seen = watch(scenario, 1 + seed % 4);
    std::map<std::string, PlainRegistry> last;  // by root
    for (const auto& standing : scenario.standing) last[standing.registry.root] = standing.registry;
    // In the order in which they were met; the oracle alone knows that of changes by time.
    const OracleOutcome outcome = HierarchyOracle::run(scenario);
    std::vector<std::size_t> met;
    for (std::size_t i = 0; i < scenario.changes.size(); ++i) {
      if (seen.taken[i]) met.push_back(i);
    }
    std::stable_sort(met.begin(), met.end(), [&](std::size_t a, std::size_t b) {
      return outcome.answers[a].seq < outcome.answers[b].seq;
    });
    for (const std::size_t i : met)
      last[scenario.changes[i].registry.root] = scenario.changes[i].registry;
    for (const auto& [root, registry] : last) {
      // In latest the last of a fresh run is the whole state; changelog publishes it bit by bit.
      const Seen fresh = watch(fresh_start(scenario, registry), 1);
      for (const auto& [key, published] : fresh.last) {
        const auto old = seen.last.find(key);
        ASSERT_NE(old, seen.last.end()) << "seed " << seed << ": " << key.first;
        EXPECT_EQ(old->second.text(), published.text()) << "seed " << seed << ": " << key.first;
        ++compared;
      }
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(compared, 500u);
}

// At every cut at which a root of a plain tree is published, its sum is that of the values that
// stand, each once; groups that are published together beside it agree with it.
TEST(HierarchyChange, NeverCountsASensorTwiceOrNotAtAll) {
  std::size_t checked = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    OracleScenario scenario;
    scenario.defaults.mode = seed % 2 == 0 ? Mode::kChangelog : Mode::kLatest;
    scenario.defaults.emit = {kNanosPerSecond, 0};
    scenario.defaults.fields = {"valueInW"};
    // root -> hall h -> line l -> sensors; a sensor is a power of two, so a sum says who is in it.
    const std::size_t sensors = 40;
    std::vector<std::size_t> line_of_sensor(sensors);
    for (auto& line : line_of_sensor) line = random() % 10;  // 9: nowhere
    const auto registry = [&] {
      PlainRegistry r;
      r.root = "root";
      r.groups["root"] = {"hall0", "hall1", "hall2"};
      for (std::size_t l = 0; l < 9; ++l) {
        r.groups[fmt::format("hall{}", l / 3)].push_back(fmt::format("line{}", l));
        r.groups[fmt::format("line{}", l)];
      }
      for (std::size_t s = 0; s < sensors; ++s) {
        if (line_of_sensor[s] < 9) {
          r.groups[fmt::format("line{}", line_of_sensor[s])].push_back(fmt::format("s{}", s));
        }
      }
      return r;
    };
    scenario.standing.push_back({registry(), std::nullopt});
    const std::size_t records = 600;
    for (std::size_t i = 0; i < records; ++i) {
      OracleRecord record;
      const std::size_t s = random() % sensors;
      record.stream = fmt::format("s{}", s);
      record.dataset = "titan";
      record.time = {static_cast<std::int64_t>(i) * kNanosPerSecond / 7};
      record.fields = {{"valueInW", std::ldexp(1.0, static_cast<int>(s))}};
      scenario.records.push_back(record);
    }
    // Who is where after each change.
    std::vector<std::pair<std::uint64_t, std::vector<std::size_t>>> places{{0, line_of_sensor}};
    for (std::size_t c = 1; c <= 30; ++c) {
      for (std::size_t moves = 1 + random() % 5; moves > 0; --moves) {
        line_of_sensor[random() % sensors] = random() % 10;
      }
      OracleChange change;
      change.record = c * records / 31;
      change.registry = registry();
      scenario.changes.push_back(change);
      places.emplace_back(*change.record, line_of_sensor);
    }
    const Seen seen = watch(scenario, 1 + seed % 4);
    // What stands at a cut; at one with a change, results of the record before it come first.
    std::uint64_t values_of = 0;
    LastValues values;
    const auto bits = [&](std::uint64_t seq, const std::string& group,
                          const std::vector<std::size_t>& where) {
      if (values_of != seq) values = last_values(scenario, values_of = seq);
      double sum = 0;
      for (std::size_t s = 0; s < sensors; ++s) {
        const std::size_t line = where[s];
        const bool in = line < 9 && (group == "root" || group == fmt::format("line{}", line) ||
                                     group == fmt::format("hall{}", line / 3));
        if (in && values.contains({fmt::format("s{}", s), "valueInW"})) {
          sum += std::ldexp(1.0, static_cast<int>(s));
        }
      }
      return sum;
    };
    std::uint64_t at = 0;
    for (const auto& [key, published] : seen.all) {
      at = published.seq;
      const std::vector<std::size_t>*old = nullptr, *now = nullptr;
      for (const auto& [place, where] : places) {
        if (place < at || place == 0) old = &where;
        if (place <= at) now = &where;
      }
      const double by_old = bits(at, key.first, *old), by_new = bits(at, key.first, *now);
      ++checked;
      // The last that a group publishes at a cut is by the new registry, unless the move left it
      // alone, and then both are alike.
      EXPECT_TRUE(published.sum == by_new || published.sum == by_old)
          << "seed " << seed << ": " << key.first << " at " << at << " is " << published.sum
          << ", not " << by_old << " or " << by_new;
      if (published.sum != by_old || old == now) {
        EXPECT_EQ(published.sum, by_new) << "seed " << seed << ": " << key.first << " at " << at;
      }
    }
    // At the cut of a change, every group that the change touches has been published right.
    for (std::size_t c = 1; c < places.size(); ++c) {
      const std::uint64_t seq = places[c].first;
      std::map<std::string, double> last;
      for (const auto& [key, published] : seen.all) {
        if (published.seq <= seq) last[key.first] = published.sum;
      }
      for (const auto& [group, members] : scenario.changes[c - 1].registry.groups) {
        const double was = bits(seq, group, places[c - 1].second);
        const double is = bits(seq, group, places[c].second);
        if (was != is) {
          EXPECT_EQ(last[group], is) << "seed " << seed << ": " << group << " at " << seq;
        }
      }
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(checked, 5000u);
}

TEST(HierarchyChange, TakesARemovedSensorOutAtOnceAndBringsItsValueBack) {
  for (const Mode mode : {Mode::kChangelog, Mode::kLatest}) {
    OracleScenario scenario;
    scenario.defaults.mode = mode;
    scenario.defaults.emit = {3600 * kNanosPerSecond, 0};
    scenario.defaults.fields = {"valueInW"};
    PlainRegistry with, without;
    with.root = without.root = "root";
    with.groups = {{"root", {"g", "z"}}, {"g", {"x", "y"}}};
    without.groups = {{"root", {"g", "z"}}, {"g", {"y"}}};
    scenario.standing.push_back({with, std::nullopt});
    for (const auto& [stream, value] :
         {std::pair("x", 1e16), std::pair("y", 0.1), std::pair("z", 1.0), std::pair("x", -1e16)}) {
      OracleRecord record;
      record.stream = stream;
      record.dataset = "titan";
      record.time = {static_cast<std::int64_t>(scenario.records.size() + 1) * kNanosPerSecond};
      record.fields = {{"valueInW", value}};
      scenario.records.push_back(record);
    }
    OracleChange out, back;
    out.record = 3;
    out.registry = without;
    back.record = 4;
    back.registry = with;
    scenario.changes = {out, back};
    // A record after the last change, so that it lies before the end.
    scenario.records.push_back(scenario.records[1]);
    scenario.records.back().time = {9 * kNanosPerSecond};
    const Seen seen = watch(scenario, 2);
    double root_out = -1, root_back = -1;
    for (const auto& [key, published] : seen.all) {
      if (key.first != "root") continue;
      if (published.seq == 3) root_out = published.sum;
      if (published.seq == 4) root_back = published.sum;
    }
    EXPECT_EQ(root_out, 1.1);  // exactly: nothing of 1e16 is left
    EXPECT_EQ(root_back, (-1e16 + 0.1) + 1.0);
  }
}

}  // namespace
}  // namespace weir::tests
