// RandomHierarchies: a run of hierarchies made up from a seed: registries that are DAGs, options of
// all modes, records with all that an input may hold, and changes, legal and illegal.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/oracle/oracle_input.h"

namespace weir::tests {

class RandomHierarchies {
 public:
  static constexpr std::int64_t kSecond = kNanosPerSecond;

  RandomHierarchies(std::uint64_t seed, const std::string& layout, bool tuples)
      : random_(seed), titan_(layout == "titan"), tuples_(tuples) {
    const std::uint64_t size = pick(20);
    large_ = size == 0;
    const std::size_t sensors = large_     ? 300 + pick(4700)
                                : size < 4 ? 30 + pick(300)
                                           : 1 + pick(30);
    for (std::size_t i = 0; i < sensors; ++i) pool_.push_back(name(i));
    fields_ = titan_ && chance(2) ? std::vector<std::string>{"valueInW"}
              : chance(3)         ? std::vector<std::string>{"a", "b"}
                                  : std::vector<std::string>{"a"};
    if (chance(4)) scenario_.emit = {0, 1 + pick(40)};
    scenario_.defaults = options();
    if (chance(6) && !tuples_) {
      scenario_.max_jump = static_cast<std::int64_t>(20 + pick(100)) * kSecond;
    }
    const std::size_t hierarchies = chance(20) ? 0 : 1 + pick(3);
    for (std::size_t h = 0; h < hierarchies; ++h) {
      OracleScenario::Standing standing{tree(fmt::format("R{}", h)), std::nullopt};
      if (chance(3)) standing.options = options();
      views_.push_back(standing.registry);
      scenario_.standing.push_back(standing);
    }
    records(1 + (large_ ? pick(120) : chance(20) ? pick(3000) : pick(300)));
    changes(chance(4) ? 0 : pick(large_ ? 5 : 12));
  }

  const OracleScenario& scenario() const { return scenario_; }
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  bool chance(std::uint64_t one_in) { return pick(one_in) == 0; }

 private:
  std::string name(std::size_t i) {
    switch (pick(8)) {
      case 0:
        return fmt::format("S{}", i);
      case 1:
        return fmt::format("s-{:04}", i);
      case 2:
        return fmt::format("\u00fchler{}", i);
      default:
        return fmt::format("s{}", i);
    }
  }

  GroupOptions options() {
    GroupOptions o;
    o.mode = std::array{GroupOptions::Mode::kChangelog, GroupOptions::Mode::kTumbling,
                        GroupOptions::Mode::kSliding, GroupOptions::Mode::kLatest}[pick(4)];
    o.fields = fields_;
    if (chance(4)) o.fields.resize(1);
    o.emit = {static_cast<std::int64_t>(1 + pick(20)) * kSecond / (chance(3) ? 2 : 1), 0};
    const bool windowed =
        o.mode == GroupOptions::Mode::kTumbling || o.mode == GroupOptions::Mode::kSliding;
    if (windowed && !chance(3)) o.grace = static_cast<std::int64_t>(pick(40)) * kSecond / 2;
    if (o.mode == GroupOptions::Mode::kSliding) {
      o.advance = static_cast<std::int64_t>(1 + pick(10)) * kSecond / 2;
      o.window = o.advance * static_cast<std::int64_t>(1 + pick(6));
      if (chance(3)) o.window += static_cast<std::int64_t>(pick(4)) * kSecond / 4;
    }
    if (o.mode == GroupOptions::Mode::kLatest && scenario_.emit.records > 0 && !chance(4)) {
      o.emit = scenario_.emit;
    }
    if (!windowed) {
      if (chance(3)) o.late = GroupOptions::Late::kArrival;
      if (chance(3)) o.max_age = static_cast<std::int64_t>(1 + pick(60)) * kSecond / 2;
    }
    if (chance(5)) o.dataset = titan_ ? "titan" : "D1";
    return o;
  }

  // ---- registries

  std::string some_sensor() { return pool_[pick(pool_.size())]; }
  std::string new_group() { return fmt::format("{}{}", chance(2) ? "g" : "G", ++made_); }
  static std::vector<std::string> groups_of(const PlainRegistry& r) {
    std::vector<std::string> ids;
    for (const auto& [id, members] : r.groups) ids.push_back(id);
    return ids;
  }
  std::string some_group(const PlainRegistry& r) {
    const auto ids = groups_of(r);
    return ids[pick(ids.size())];
  }

  // A group's parents stand before it in `order`, so there is no cycle.
  PlainRegistry tree(const std::string& root) {
    PlainRegistry r;
    r.root = root;
    std::vector<std::string> order{root};
    std::vector<int> depth{1};
    r.groups[root];
    const std::size_t groups = pick(large_ ? 60 : 14);
    for (std::size_t g = 0; g < groups; ++g) {
      // Deep ones are rare unless the newest is a favourite.
      const std::size_t parent = chance(3) ? order.size() - 1 : pick(order.size());
      if (depth[parent] >= 8) continue;
      const std::string id = new_group();
      r.groups[order[parent]].push_back(id);
      r.groups[id];
      order.push_back(id);
      depth.push_back(depth[parent] + 1);
    }
    const std::size_t diamonds = chance(2) ? 0 : pick(4);
    for (std::size_t d = 0; d < diamonds && order.size() > 2; ++d) {
      const std::size_t child = 1 + pick(order.size() - 1);
      add(r, order[pick(child)], order[child]);
    }
    const bool plain = chance(2);
    for (const std::string& sensor : pool_) {
      if (chance(6)) continue;
      const std::size_t parents = plain || !chance(5) ? 1 : 1 + pick(3);
      for (std::size_t p = 0; p < parents; ++p) add(r, order[pick(order.size())], sensor);
    }
    for (auto& [id, members] : r.groups) std::shuffle(members.begin(), members.end(), random_);
    return r;
  }

  static void add(PlainRegistry& r, const std::string& group, const std::string& member) {
    auto& members = r.groups[group];
    if (std::find(members.begin(), members.end(), member) == members.end()) {
      members.push_back(member);
    }
  }
  static void remove(PlainRegistry& r, const std::string& member) {
    for (auto& [id, members] : r.groups) std::erase(members, member);
  }
  // Groups that nothing holds any more go.
  static void prune(PlainRegistry& r) {
    std::set<std::string> held{r.root};
    for (bool more = true; more;) {
      more = false;
      for (const auto& [id, members] : r.groups) {
        if (!held.contains(id)) continue;
        for (const std::string& m : members) {
          if (r.groups.contains(m) && held.insert(m).second) more = true;
        }
      }
    }
    std::erase_if(r.groups, [&](const auto& item) { return !held.contains(item.first); });
  }
  static bool below(const PlainRegistry& r, const std::string& id, const std::string& above) {
    if (id == above) return true;
    const auto group = r.groups.find(above);
    if (group == r.groups.end()) return false;
    return std::any_of(group->second.begin(), group->second.end(),
                       [&](const std::string& m) { return below(r, id, m); });
  }

  // ---- changes

  void mutate(PlainRegistry& r) {
    const std::string group = some_group(r);
    const std::string sensor = some_sensor();
    switch (pick(9)) {
      case 0:  // a sensor comes
        add(r, group, sensor);
        break;
      case 1:  // one goes
        remove(r, sensor);
        break;
      case 2:
      case 3:  // one moves
        remove(r, sensor);
        add(r, group, sensor);
        break;
      case 4: {  // a group comes, some sensors with it
        const std::string id = new_group();
        r.groups[id];
        add(r, group, id);
        for (std::size_t i = pick(4); i > 0; --i) add(r, id, some_sensor());
        break;
      }
      case 5:  // a group goes with all below
        if (group != r.root) {
          remove(r, group);
          prune(r);
        }
        break;
      case 6: {  // a group moves, to another hierarchy at times
        const std::string to = some_group(r);
        if (group == r.root || below(r, to, group)) break;
        remove(r, group);
        add(r, to, group);
        break;
      }
      case 7: {  // a group under a new identifier
        if (group == r.root) break;
        const std::string id = new_group();
        for (auto& [parent, members] : r.groups) {
          std::replace(members.begin(), members.end(), group, id);
        }
        r.groups[id] = r.groups[group];
        r.groups.erase(group);
        break;
      }
      default: {  // one sensor in several groups
        add(r, some_group(r), sensor);
        add(r, group, sensor);
        break;
      }
    }
  }

  void changes(std::size_t n) {
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < n; ++i) places.push_back(pick(scenario_.records.size() + 3));
    std::sort(places.begin(), places.end());
    for (const std::uint64_t place : places) {
      OracleChange change = some_change();
      if (chance(3) && !scenario_.records.empty()) {
        Time time = scenario_.records[std::min(place, scenario_.records.size() - 1)].time;
        if (!time.known()) time = {start_};
        change.time = Time{time.ns + (chance(2) ? 0 : std::int64_t(pick(9)) * kSecond / 4)};
      } else if (!chance(30)) {
        change.record =
            chance(4) && !scenario_.changes.empty() && scenario_.changes.back().record.has_value()
                ? *scenario_.changes.back().record
                : place;
      }
      scenario_.changes.push_back(std::move(change));
    }
  }

  OracleChange some_change() {
    OracleChange change;
    if (views_.empty() || (chance(12) && views_.size() < 5)) {
      change.registry = tree(fmt::format("N{}", ++made_));
      views_.push_back(change.registry);
      return change;
    }
    PlainRegistry& view = views_[pick(views_.size())];
    change.registry = view;
    switch (pick(14)) {
      case 0:  // only names
        change.registry.labels = ++made_;
        break;
      case 1:  // nothing
        break;
      case 2:  // a cycle
        add(change.registry, some_group(view), view.root);
        change.malformed = change.registry.json();
        break;
      case 3: {  // a sensor or group of another hierarchy
        const PlainRegistry& other = views_[pick(views_.size())];
        const std::string theirs = some_group(other);
        if (other.root == view.root) break;
        const std::string parent = some_group(change.registry);
        if (chance(2)) change.registry.groups[theirs];
        add(change.registry, parent, theirs);
        break;
      }
      case 4:
        change.malformed =
            std::array{R"({"identifier":7,"children":[]})", R"({"name":"R0","children":[]})",
                       R"({"identifier":"R0","children":[{"name":"x"}]})", R"(17)",
                       R"({"identifier":"R0","children":[{"identifier":"q","children":[]},)"
                       R"({"identifier":"q"}]})"}[pick(5)];
        break;
      default:
        for (std::size_t i = 1 + pick(4); i > 0; --i) mutate(change.registry);
        view = change.registry;
        break;
    }
    return change;
  }

  // ---- records

  void records(std::size_t n) {
    start_ = (chance(3) && titan_ ? -20 + std::int64_t(pick(40)) : 1'574'000'000) * kSecond;
    std::int64_t now = start_;
    for (std::size_t i = 0; i < n; ++i) {
      OracleRecord r;
      if (chance(150))
        now += std::int64_t(100 + pick(100)) * kSecond;
      else if (!chance(8))
        now += std::int64_t(pick(8)) * kSecond / 8;
      if (chance(6)) now = (now / kSecond) * kSecond;
      r.time = {now};
      if (chance(7)) r.time.ns -= std::int64_t(pick(80)) * kSecond / 4;
      if (chance(200)) r.time.ns += std::int64_t(pick(200)) * kSecond;
      if (tuples_ && chance(10)) r.time = {};
      r.stream = chance(12) ? fmt::format("unknown{}", pick(4)) : pool_[skewed(pool_.size())];
      r.dataset = titan_ ? "titan" : chance(4) ? "D2" : "D1";
      for (const std::string& field :
           {std::string("a"), std::string("b"), std::string("valueInW")}) {
        const bool read = std::find(fields_.begin(), fields_.end(), field) != fields_.end();
        if (read ? !chance(15) : chance(10)) r.fields.emplace_back(field, value());
      }
      if (r.fields.empty()) r.fields.emplace_back("other", OracleValue(1.5));
      r.broken = !tuples_ && scenario_.max_jump == 0 && chance(40);
      scenario_.records.push_back(std::move(r));
    }
  }

  std::size_t skewed(std::size_t n) { return std::min(pick(n), pick(n)); }

  OracleValue value() {
    switch (pick(14)) {
      case 0:
        return 1e16;
      case 1:
        return 1e-3 * static_cast<double>(pick(100));
      case 2:
        return 1e9 + static_cast<double>(pick(1000)) / 7;
      case 3:
        return -1e16;
      case 4:
        return 0.0;
      case 5:
        return tuples_ ? 0.0 : -0.0;
      case 6:
        return std::int64_t{9'007'199'254'740'993};
      case 7:
        return std::numeric_limits<std::uint64_t>::max();
      case 8:
        return std::string("n/a");
      case 9:
        return static_cast<std::int64_t>(pick(20)) - 10;
      case 10:
        return std::int64_t{-9'223'372'036'854'775'807};
      default:
        return static_cast<double>(static_cast<std::int64_t>(random_())) /
               static_cast<double>(1 + pick(1'000'000'000'000));
    }
  }

  std::mt19937_64 random_;
  bool titan_, tuples_, large_ = false;
  std::vector<std::string> pool_, fields_;
  std::vector<PlainRegistry> views_;  // as the changes would leave them
  OracleScenario scenario_;
  std::uint64_t made_ = 0;
  std::int64_t start_ = 0;
};

}  // namespace weir::tests
