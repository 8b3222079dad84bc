// HierarchyOracle: docs/hierarchies.md, "The rules", record by record, clear and slow. Every
// aggregate is summed afresh from the values that stand.
//
// Where the rules leave something open, the reading that is taken is marked READING.
// Thread safety: thread-compatible.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tests/oracle/oracle_state.h"

namespace weir::tests {

class HierarchyOracle {
 public:
  static OracleOutcome run(const OracleScenario& scenario) {
    HierarchyOracle oracle(scenario);
    oracle.run_all();
    return std::move(oracle.outcome_);
  }

 private:
  using Mode = GroupOptions::Mode;
  using Kept = OracleKept;
  using Slice = OracleSlice;
  using Hierarchy = OracleHierarchy;
  using Family = OracleFamily;
  using Row = OracleRow;

  explicit HierarchyOracle(const OracleScenario& scenario) : scenario_(scenario) {}

  void run_all() {
    outcome_.answers.resize(scenario_.changes.size());
    done_.assign(scenario_.changes.size(), false);
    for (const OracleScenario::Standing& standing : scenario_.standing) {
      put(WorkedOutRegistry(standing.registry), standing.options.value_or(scenario_.defaults));
    }
    for (const OracleRecord& record : scenario_.records) {
      const bool future = is_future(record);
      const bool tuple = !record.broken && !future;
      before(tuple ? record.time : Time{});
      ++seq_;
      if (record.broken) ++outcome_.broken;
      if (future) ++outcome_.future;
      if (tuple) take(record);
      publish_due();
    }
    finish();
  }

  // ---- records

  bool is_future(const OracleRecord& record) {
    if (record.broken || !record.time.known() || scenario_.max_jump == 0) return false;
    if (time_.known() && record.time.ns - time_.ns > scenario_.max_jump && ahead_ < 63) {
      ++ahead_;
      return true;
    }
    ahead_ = 0;
    return false;
  }

  // The cut before a record: boundaries of `latest` first, then changes in the order of the text.
  void before(Time record_time) {
    const Time now = std::max(time_, record_time);
    std::vector<Row> rows;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const GroupOptions& options = families_[f].options;
      if (options.mode != Mode::kLatest) continue;
      const std::int64_t every = options.emit.ns;
      if (every > 0 && time_.known() && floored(now.ns, every) > floored(time_.ns, every)) {
        publish_latest(f, floored(now.ns, every) * every, rows);
      }
      if (options.emit.records > 0 && seq_ > 0 && seq_ % options.emit.records == 0) {
        publish_latest(f, time_.ns, rows);
      }
    }
    say(std::move(rows), false);
    for (std::size_t i = 0; i < scenario_.changes.size(); ++i) {
      const OracleChange& change = scenario_.changes[i];
      const bool here = (change.record.has_value() && *change.record == seq_) ||
                        (change.time.has_value() && now.known() && now >= *change.time);
      if (here && !done_[i]) meet(i);
    }
    time_ = now;
  }

  void take(const OracleRecord& record) {
    ++outcome_.tuples;
    // By hierarchy: 0 nobody, 1 late, 2 applied.
    std::map<std::string, int> verdicts;
    std::map<std::string, bool> without_time;
    std::vector<Row> rows;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      Family& family = families_[f];
      if (!family.options.dataset.empty() && family.options.dataset != record.dataset) continue;
      for (const std::string& field : family.options.fields) {
        const std::optional<double> value = record.number(field);
        if (!value.has_value()) continue;
        int verdict = 0;
        if (family.windowed() && !record.time.known()) {
          for_each_holder(f, record.stream,
                          [&](const std::string& root, Hierarchy&) { without_time[root] = true; });
          continue;
        }
        verdict = family.windowed() ? take_in_windows(f, field, record, *value)
                                    : take_alone(f, field, record, *value, rows);
        if (verdict == 2) family.heard.insert(record.stream);
        for_each_holder(f, record.stream, [&](const std::string& root, Hierarchy&) {
          verdicts[root] = std::max(verdicts[root], verdict);
        });
      }
    }
    int of_all = 0;
    for (const auto& [root, hierarchy] : hierarchies_) {
      OracleCounts& counts = outcome_.hierarchies[root];
      const int verdict = verdicts[root];
      of_all = std::max(of_all, verdict);
      if (verdict == 2) ++counts.applied;
      if (verdict == 1) ++counts.late;
      if (verdict == 0 && without_time[root]) ++counts.without_time;
    }
    if (of_all == 2) ++outcome_.all.applied;
    if (of_all == 1) ++outcome_.all.late;
    if (of_all == 0) ++outcome_.all.unrouted;
    // Rows of changelog wait for those of windows: one cut.
    waiting_ = std::move(rows);
  }

  int take_alone(std::size_t f, const std::string& field, const OracleRecord& record, double value,
                 std::vector<Row>& rows) {
    Family& family = families_[f];
    Slice& slice = family.slices[field][0];
    const auto kept = slice.values.find(record.stream);
    // READING: no time is before every time.
    if (kept != slice.values.end() && family.options.late == GroupOptions::Late::kReject &&
        record.time < kept->second.time) {
      return 1;
    }
    slice.values[record.stream] = {value, record.time};
    for_each_holder(f, record.stream, [&](const std::string& root, Hierarchy& hierarchy) {
      hierarchy.aged[field].erase(record.stream);
      if (family.options.mode != Mode::kChangelog) return;
      for (const std::string& group : hierarchy.registry->above().at(record.stream)) {
        publish(root, group, field, slice, rows);
      }
    });
    return 2;
  }

  int take_in_windows(std::size_t f, const std::string& field, const OracleRecord& record,
                      double value) {
    Family& family = families_[f];
    const bool sliding = family.options.mode == Mode::kSliding;
    const std::int64_t step = sliding ? family.options.advance : family.options.emit.ns;
    const std::int64_t size = sliding ? family.options.window : family.options.emit.ns;
    int verdict = 1;
    for (std::int64_t k = floored(record.time.ns, step); k * step + size > record.time.ns; --k) {
      const std::int64_t start = k * step, end = start + size;
      if (end <= time_.ns - family.options.grace) continue;
      verdict = 2;
      Slice& slice = family.slices[field][start];
      slice.start = {start};
      slice.end = {end};
      const auto kept = slice.values.find(record.stream);
      if (kept != slice.values.end() && record.time < kept->second.time) continue;
      slice.values[record.stream] = {value, record.time};
      for_each_holder(f, record.stream, [&](const std::string&, Hierarchy& hierarchy) {
        for (const std::string& group : hierarchy.registry->above().at(record.stream)) {
          slice.unpublished.emplace(group, record.time.ns);
        }
      });
    }
    return verdict;
  }

  // ---- what is published

  // After a record: what waits, and every update that is old enough.
  void publish_due() {
    std::vector<Row> rows = std::move(waiting_);
    waiting_.clear();
    for (Family& family : families_) {
      if (family.windowed()) publish_updates(family, false, rows);
    }
    say(std::move(rows), false);
    for (Family& family : families_) forget_windows(family);
  }

  void publish_updates(Family& family, bool all, std::vector<Row>& rows) {
    for (auto& [field, slices] : family.slices) {
      for (auto& [start, slice] : slices) {
        for (auto at = slice.unpublished.begin(); at != slice.unpublished.end();) {
          if (!all && at->second + family.options.emit.ns > time_.ns) {
            ++at;
            continue;
          }
          const auto root = root_of(at->first);
          if (differs(root, at->first, field, slice)) {
            publish(root, at->first, field, slice, rows);
          }
          at = slice.unpublished.erase(at);
        }
      }
    }
  }

  void publish_latest(std::size_t f, std::int64_t boundary, std::vector<Row>& rows) {
    Family& family = families_[f];
    for (const std::string& field : family.options.fields) {
      Slice& slice = family.slices[field][0];
      for (auto& [root, hierarchy] : hierarchies_) {
        if (hierarchy.family != f) continue;
        age(hierarchy, field, slice, boundary);
        for (const auto& [id, group] : hierarchy.registry->groups()) {
          if (differs(root, id, field, slice)) publish(root, id, field, slice, rows);
        }
      }
    }
  }

  bool too_old(const Hierarchy& hierarchy, const Kept& kept, std::int64_t now) const {
    const std::int64_t most = families_[hierarchy.family].options.max_age;
    return most > 0 && kept.time.known() && now - kept.time.ns > most;
  }

  void age(Hierarchy& hierarchy, const std::string& field, const Slice& slice, std::int64_t now) {
    for (const auto& [sensor, groups] : hierarchy.registry->above()) {
      const auto kept = slice.values.find(sensor);
      if (kept != slice.values.end() && too_old(hierarchy, kept->second, now)) {
        hierarchy.aged[field].insert(sensor);
      }
    }
  }

  GroupState state(const Hierarchy& hierarchy, const std::string& group, const std::string& field,
                   const Slice& slice) const {
    const auto aged = hierarchy.aged.find(field);
    return state_of(*hierarchy.registry, group,
                    [&](const std::string& sensor) -> std::optional<double> {
                      const auto kept = slice.values.find(sensor);
                      if (kept == slice.values.end()) return std::nullopt;
                      if (aged != hierarchy.aged.end() && aged->second.contains(sensor)) {
                        return std::nullopt;
                      }
                      return kept->second.value;
                    });
  }

  // From what it published last; from no value, if it has not.
  bool differs(const std::string& root, const std::string& group, const std::string& field,
               const Slice& slice) const {
    const GroupState now = state(hierarchies_.at(root), group, field, slice);
    const auto last = slice.published.find(group);
    if (last != slice.published.end()) return !last->second.publishes_alike(now);
    return now.count > 0;
  }

  void publish(const std::string& root, const std::string& group, const std::string& field,
               Slice& slice, std::vector<Row>& rows) {
    const Hierarchy& hierarchy = hierarchies_.at(root);
    const GroupState now = state(hierarchy, group, field, slice);
    slice.published[group] = now;
    rows.push_back(row(root, group, field, slice, now));
    rows.back().level = hierarchy.registry->groups().at(group).level;
  }

  static Row row(const std::string& root, const std::string& group, const std::string& field,
                 const Slice& slice, const GroupState& state) {
    Row row;
    row.result.identifier = group;
    row.result.hierarchy = root;
    row.result.field = field;
    row.result.window_start = slice.start;
    row.result.window_end = slice.end;
    row.result.state = state;
    return row;
  }

  // The results of one cut, in their order.
  void say(std::vector<Row> rows, bool final) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      const auto key = [](const Row& r) {
        return std::tie(r.result.window_start, r.result.window_end, r.level, r.result.hierarchy,
                        r.result.identifier, r.result.field);
      };
      return key(a) < key(b);
    });
    for (Row& row : rows) {
      row.result.time = time_;
      row.result.final = final;
      row.result.seq = seq_;
      ++outcome_.hierarchies[row.result.hierarchy].results;
      ++outcome_.all.results;
      outcome_.results.push_back(std::move(row.result));
    }
  }

  // Held are windows that are not over or in which a group has an unpublished update.
  void forget_windows(Family& family) {
    if (!family.windowed()) return;
    for (auto& [field, slices] : family.slices) {
      std::erase_if(slices, [&](const auto& item) {
        return item.second.end.ns <= time_.ns - family.options.grace &&
               item.second.unpublished.empty();
      });
    }
  }

  // ---- changes

  void meet(std::size_t i) {
    done_[i] = true;
    const OracleChange& change = scenario_.changes[i];
    outcome_.answers[i] = {change.malformed.empty() && is_legal(change.registry), seq_};
    if (outcome_.answers[i].taken) take_change(WorkedOutRegistry(change.registry));
  }

  bool is_legal(const PlainRegistry& registry) const {
    const std::set<std::string> sensors = registry.sensors();
    for (const auto& [root, other] : hierarchies_) {
      if (root == registry.root) continue;
      for (const auto& [id, members] : registry.groups) {
        if (other.registry->is_group(id) || other.registry->has_sensor(id)) return false;
      }
      for (const std::string& sensor : sensors) {
        if (other.registry->is_group(sensor)) return false;
      }
    }
    return true;
  }

  void take_change(WorkedOutRegistry changed) {
    const std::string root = changed.root();
    const auto old = hierarchies_.find(root);
    if (old != hierarchies_.end() && old->second.registry->same_as(changed)) return;
    std::set<std::string> ids;
    for (const auto& [id, group] : changed.groups()) ids.insert(id);
    Hierarchy before;
    before.registry = std::make_unique<WorkedOutRegistry>(PlainRegistry{root, {{root, {}}}, 0});
    if (old != hierarchies_.end()) {
      before = std::move(old->second);
      for (const auto& [id, group] : before.registry->groups()) ids.insert(id);
      hierarchies_.erase(old);
      put_in_family(std::move(changed), before.family);
    } else {
      put(std::move(changed), scenario_.defaults);
      before.family = hierarchies_.at(root).family;
      before.registry.reset();
    }
    Hierarchy& after = hierarchies_.at(root);
    std::vector<Row> rows;
    Family& family = families_[after.family];
    for (const std::string& field : family.options.fields) {
      if (!family.windowed()) family.slices[field][0];
      for (auto& [start, slice] : family.slices[field]) {
        carry_ages(before, after, field, slice);
        compare(before, after, ids, field, slice, rows);
      }
    }
    // What was published has no unpublished update that would hold its window.
    forget_windows(family);
    say(std::move(rows), false);
  }

  // A sensor that the hierarchy had keeps its state; one that it gains brings its value unless that
  // is too old at stream time.
  void carry_ages(const Hierarchy& before, Hierarchy& after, const std::string& field,
                  const Slice& slice) const {
    if (families_[after.family].windowed()) return;
    for (const auto& [sensor, groups] : after.registry->above()) {
      const auto kept = slice.values.find(sensor);
      if (kept == slice.values.end()) continue;
      if (before.registry != nullptr && before.registry->has_sensor(sensor)) {
        const auto aged = before.aged.find(field);
        if (aged != before.aged.end() && aged->second.contains(sensor)) {
          after.aged[field].insert(sensor);
        }
      } else if (too_old(after, kept->second, time_.ns)) {
        after.aged[field].insert(sensor);
      }
    }
  }

  void compare(const Hierarchy& before, const Hierarchy& after, const std::set<std::string>& ids,
               const std::string& field, Slice& slice, std::vector<Row>& rows) const {
    for (const std::string& id : ids) {
      GroupState was;
      if (before.registry != nullptr) was = state(before, id, field, slice);
      const GroupState is = state(after, id, field, slice);
      if (was.same_as(is)) continue;
      if (slice.start.known() && was.count == 0 && is.count == 0) continue;
      if (seq_ == 0) continue;  // nothing is published before the first record
      rows.push_back(row(after.registry->root(), id, field, slice, is));
      const bool gone = !after.registry->is_group(id);
      rows.back().level = (gone ? before : after).registry->groups().at(id).level;
      slice.published[id] = is;
      slice.unpublished.erase(id);
    }
  }

  void put(WorkedOutRegistry registry, const GroupOptions& options) {
    std::size_t f = 0;
    while (f < families_.size() && !(families_[f].options == options)) ++f;
    if (f == families_.size()) {
      families_.emplace_back();
      families_.back().options = options;
    }
    put_in_family(std::move(registry), f);
  }
  void put_in_family(WorkedOutRegistry registry, std::size_t f) {
    const std::string root = registry.root();
    Hierarchy hierarchy;
    hierarchy.family = f;
    hierarchy.registry = std::make_unique<WorkedOutRegistry>(std::move(registry));
    hierarchies_[root] = std::move(hierarchy);
    outcome_.hierarchies[root];
  }

  // ---- the end

  void finish() {
    std::vector<Row> rows;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      if (families_[f].windowed()) publish_updates(families_[f], true, rows);
      if (families_[f].options.mode == Mode::kLatest) publish_latest(f, time_.ns, rows);
    }
    say(std::move(rows), true);
    for (Family& family : families_) forget_windows(family);
    for (const bool reached : {true, false}) {
      for (std::size_t i = 0; i < scenario_.changes.size(); ++i) {
        if (done_[i]) continue;
        const OracleChange& change = scenario_.changes[i];
        const bool at_end = !change.record.has_value() && !change.time.has_value();
        const bool here = at_end || change.record == std::optional(seq_);
        if (reached && here) meet(i);
        if (!reached) outcome_.answers[i] = {false, seq_};
      }
    }
    for (const auto& [root, hierarchy] : hierarchies_) {
      OracleCounts& counts = outcome_.hierarchies[root];
      counts.unrouted = outcome_.tuples - counts.applied - counts.late;
      counts.groups = hierarchy.registry->groups().size();
      counts.sensors = hierarchy.registry->above().size();
      for (const auto& [sensor, groups] : hierarchy.registry->above()) {
        if (!families_[hierarchy.family].heard.contains(sensor)) ++counts.silent;
      }
    }
  }

  // ---- small things

  template <class Do>
  void for_each_holder(std::size_t f, const std::string& stream, const Do& act) {
    for (auto& [root, hierarchy] : hierarchies_) {
      if (hierarchy.family == f && hierarchy.registry->has_sensor(stream)) act(root, hierarchy);
    }
  }
  std::string root_of(const std::string& group) const {
    for (const auto& [root, hierarchy] : hierarchies_) {
      if (hierarchy.registry->is_group(group)) return root;
    }
    return {};
  }
  static std::int64_t floored(std::int64_t a, std::int64_t b) {
    const std::int64_t k = a / b;
    return k * b > a ? k - 1 : k;
  }

  const OracleScenario& scenario_;
  std::vector<Family> families_;
  std::map<std::string, Hierarchy> hierarchies_;
  std::vector<bool> done_;
  std::vector<Row> waiting_;
  Time time_;
  std::uint64_t seq_ = 0;
  unsigned ahead_ = 0;
  OracleOutcome outcome_;
};

}  // namespace weir::tests
